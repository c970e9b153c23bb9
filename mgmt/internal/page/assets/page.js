// A browser does not let scripts work on a page whose URL has a password in it. It has kept the password.
var here = new URL(document.baseURI)
if (here.username || here.password) {
  here.username = here.password = ''
  location.replace(here)
}
// Tells that the figures are old while the server cannot be reached.
document.addEventListener('htmx:sseError', function () { document.body.classList.add('stale') })
document.addEventListener('htmx:sseOpen', function () { document.body.classList.remove('stale') })
// A swap takes what is pressed away from under the reader: a click that began on a link is none on the one that takes its place, and htmx
// forgets that the link was its own, so that the address stays the old one. So the live part stands still while something is pressed, and
// while a link or a form in it is asked for. Then the last event is shown.
var pressed = false, held = null
function busy (part) { return pressed || part.querySelector('.htmx-request') }
function show () {
  if (!held || busy(held.part)) return
  var last = held
  held = null
  if (last.part.isConnected) htmx.swap(last.part, last.data, { swapStyle: 'innerHTML' }, { contextElement: last.part })
}
function press () { pressed = true }
function release () { pressed = false; setTimeout(show) } // after the click
document.addEventListener('htmx:sseBeforeMessage', function (e) {
  held = null
  if (!busy(e.target)) return
  held = { part: e.target, data: e.detail.data }
  e.preventDefault()
})
document.addEventListener('htmx:afterRequest', function () { setTimeout(show) })
document.addEventListener('pointerdown', function (e) { if (e.button === 0) press() }, true)
document.addEventListener('keydown', function (e) { if (e.key === ' ') press() }, true)
for (var end of ['pointerup', 'pointercancel', 'dragend', 'keyup']) document.addEventListener(end, release, true)
window.addEventListener('blur', release)
