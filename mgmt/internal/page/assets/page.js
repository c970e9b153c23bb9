// A browser does not let scripts work on a page whose URL has a password in it. It has kept the password.
var here = new URL(document.baseURI)
if (here.username || here.password) {
  here.username = here.password = ''
  location.replace(here)
}
// Tells that the figures are old while the server cannot be reached.
document.addEventListener('htmx:sseError', function () { document.body.classList.add('stale') })
document.addEventListener('htmx:sseOpen', function () { document.body.classList.remove('stale') })
