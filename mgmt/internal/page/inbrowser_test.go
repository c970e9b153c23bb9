package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inBrowser serves the page of a broker on virtual time, with a browser that is logged in.
func inBrowser(t *testing.T) (*leveret.Broker, *browser, string) {
	clock := leveret.NewManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	t.Cleanup(func() { b.Close() })
	server := httptest.NewServer(mgmt.Handler(b, mgmt.Config{Clock: clock}))
	t.Cleanup(server.Close)
	br := newBrowser(t, server.URL)
	br.call("Page.navigate", map[string]any{"url": strings.Replace(server.URL, "//", "//guest:guest@", 1)}, nil)
	br.until("document.readyState == 'complete' && !!window.htmx && !document.baseURI.includes('@')")
	return b, br, server.URL
}

// overflow is how much wider than the window a page is.
const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

// pale lists texts whose contrast to what is behind them is below 4.5, as WCAG reckons it. Pictures have their own test.
const pale = `(() => {
  const parts = c => (c.match(/[\d.]+/g) || []).map(Number)
  const light = c => parts(c).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (parts(c)[3] !== 0) return c } return 'rgb(255,255,255)' }
  const out = []
  for (const e of document.body.querySelectorAll('*:not(svg *)')) {
    if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) || !e.checkVisibility()) continue
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x)
    if ((a + 0.05) / (b + 0.05) < 4.5) out.push(e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 30))
  }
  return out.join('; ')
})()`

// Each view is whole in a browser: on a phone, in both schemes, without an error and without a request to another host.
func TestViewsInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	feed(t, b)(3)
	br.visit(server + "/journeys")
	br.press("button[value=record]")
	br.see("recorded from now on")
	_, err := b.Publish("in", "", leveret.Message{Body: []byte("job")})
	require.NoError(t, err)
	br.see("2 in a queue")
	journey := br.eval("document.querySelector('main td.name a').href").(string)
	for _, path := range append([]string{"/clock", queue("work"), queue("parked"), messages("parked"), "/exchange?vhost=%2F&name=in",
		strings.TrimPrefix(journey, server)}, views...) {
		for _, scheme := range []string{"light", "dark"} {
			br.look(360, 740, scheme)
			br.visit(server + path)
			assert.LessOrEqual(t, br.eval(overflow), 0.0, "%s is wider than a phone", path)
			assert.Empty(t, br.eval(pale), "%s in the %s scheme", path, scheme)
			assert.Empty(t, br.eval("[...document.querySelectorAll('[role=alert]')].map(e => e.innerText).join()"), path)
			assert.Equal(t, 1.0, br.eval("document.querySelectorAll('h1').length"), path)
			assert.Empty(t, br.eval("[...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter(e => !e.labels.length).length || ''"),
				"%s has fields without a label", path)
		}
	}
	br.clean()
}

// What a view does is done by its buttons, and its figures follow without a reload.
func TestActsInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	work, parked := killed(t, b, "first", "second", "third")
	declare(t, vhost(t, b, "/"), nil, "shelf")
	form := func(do string) string { return "form:has(button[value=" + do + "]) " }
	submit := func(do, told string) {
		t.Helper()
		br.press(form(do) + "button[value=" + do + "]")
		br.see(told)
	}

	br.look(1000, 560, "light")
	br.visit(server + queue("parked"))
	br.eval("window.stays = true")
	submit("sendback", "1 message was sent back.")
	assert.Equal(t, 1, work.Info().Ready)
	br.fill(form("move")+"[name=to]", "shelf")
	br.eval("document.querySelector('.acts').scrollIntoView()")
	br.shoot("move")
	submit("move", "1 message was moved.")
	assert.Equal(t, []string{"second"}, bodies(t, b, "shelf"))
	br.fill(form("move")+"[name=to]", "nowhere")
	submit("move", "There is no queue 'nowhere'")
	assert.Equal(t, true, br.eval("document.activeElement.id == 'notice'"), "what came of it is read out")
	br.fill(form("publish")+"textarea[name=body]", "new")
	submit("publish", "published and routed")
	submit("get", "1 message was taken.")
	br.see("Ready 2")
	require.NoError(t, b.Check())
	br.press(form("purge") + "button[value=purge]")
	br.see("The ready messages are gone.")
	assert.Equal(t, 0, parked.Info().Ready)
	_, err := b.Publish("", "parked", leveret.Message{})
	require.NoError(t, err)
	br.see("Ready 1") // an event of the open view
	assert.Equal(t, true, br.eval("window.stays"), "the page was not loaded anew")
	br.press(form("delete") + "button[value=delete]")
	br.until("location.pathname == '/queues'")
	assert.Len(t, b.Queues(), 2)
	assert.Equal(t, []string{"Remove all ready messages of this queue?", "Delete this queue with its messages?"}, br.questions())
	br.clean()
}

// Policies are previewed, set and cleared, and the clock is moved.
func TestPoliciesAndClockInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	declare(t, vhost(t, b, "/"), nil, "work")
	br.look(900, 720, "light")
	br.visit(server + "/policy")
	br.fill("[name=policy]", "ttl")
	br.fill("[name=pattern]", "^work$")
	br.fill("[name=definition]", `{"message-ttl": 60000}`)
	br.press("button[value=preview]")
	br.see("This would change")
	br.see("queue work")
	br.shoot("policy")
	assert.Empty(t, b.Policies())
	assert.Equal(t, "^work$", br.eval("document.querySelector('[name=pattern]').value"))
	br.press("button[value=set]")
	br.until("location.pathname == '/policies'")
	assert.Len(t, b.Policies(), 1)
	_, err := b.Publish("", "work", leveret.Message{})
	require.NoError(t, err)
	br.visit(server + "/clock")
	br.see("in 1m0s")
	br.press("button[value=next]")
	br.see("1m0s have passed.")
	br.see("2030-01-02 03:05:05 UTC")
	br.look(900, 400, "dark")
	br.shoot("clock")
	br.press("button[value='10m']")
	br.see("2030-01-02 03:15:05 UTC")
	q, err := b.Queue("work")
	require.NoError(t, err)
	assert.Equal(t, 0, q.Info().Ready)
	br.visit(server + "/policies")
	br.press("td.name a")
	br.until("location.pathname == '/policy'")
	br.press("button[value=clear]")
	br.until("location.pathname == '/policies'")
	assert.Empty(t, b.Policies())
	br.clean()
}

// eventsSeen counts the events of the open view. The count is of those that came, shown or not.
const eventsSeen = "window.events = 0; document.addEventListener('htmx:sseBeforeMessage', () => events++)"

// mouse moves, presses or releases the mouse over what a selector finds.
func (b *browser) mouse(kind, selector string) {
	b.t.Helper()
	at := b.eval("(() => { const r = document.querySelector(" + quoted(selector) + ").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()").([]any)
	b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
}

// An event of the open view takes no click away: not one that has begun, and not the answer to one.
func TestClickDuringEventInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	declare(t, vhost(t, b, "/"), nil, "work")
	count := 0
	event := func() { // the view changes, and the browser is told
		t.Helper()
		seen := br.eval("events").(float64)
		count++
		declare(t, vhost(t, b, "/"), nil, fmt.Sprintf("other%d", count))
		br.until(fmt.Sprintf("events > %v", seen))
	}
	open := func() {
		t.Helper()
		br.visit(server + "/queues")
		br.eval(eventsSeen)
		br.until("document.querySelector('#live').getBoundingClientRect().y > 0 && !document.querySelector('.htmx-added, .htmx-settling')")
		event()
		br.see(fmt.Sprintf("other%d", count))
	}
	link := "td.name a[href*=work]"

	open()
	br.mouse("mousePressed", link)
	event()
	assert.NotContains(t, br.eval("document.body.innerText"), fmt.Sprintf("other%d", count), "what is pressed stands still")
	br.mouse("mouseReleased", link)
	br.until("location.pathname == '/queue'")

	open()
	br.mouse("mousePressed", "h1")
	event()
	br.mouse("mouseReleased", "h1")
	br.see(fmt.Sprintf("other%d", count)) // what came meanwhile is shown

	open()
	br.eval(`window.answer = () => {}
		const send = XMLHttpRequest.prototype.send
		XMLHttpRequest.prototype.send = function (...body) { answer = () => send.apply(this, body) }`)
	br.press(link)
	event()
	br.eval("answer()")
	br.until("location.pathname == '/queue'")
	br.clean()
}

// All that can be done is reached by the keyboard, and the page shows what has the focus.
func TestKeyboardInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	declare(t, vhost(t, b, "/"), nil, "work")
	br.visit(server + queue("work") + "&paused=1") // else what was reached may be swapped for the same with other figures
	br.eval("window.seen = new Set()")
	count := "document.querySelectorAll('a, button, summary, input:not([type=hidden]), select, textarea').length"
	for i := range int(br.eval(count).(float64)) + 20 {
		br.key("Tab", "", 9)
		if i == 0 {
			assert.Equal(t, "To the content", br.eval("document.activeElement.innerText"))
		}
		br.eval("document.activeElement != document.body && seen.add(document.activeElement)")
		assert.Equal(t, true, br.eval("document.activeElement == document.body || getComputedStyle(document.activeElement).outlineStyle != 'none'"))
	}
	assert.Empty(t, br.eval(`[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')].filter(e => !seen.has(e) && !e.isContentEditable)
		.map(e => e.outerHTML).join('; ')`))
	br.eval("document.querySelector('textarea[name=body]').focus()")
	br.call("Input.insertText", map[string]any{"text": "typed"}, nil)
	for range 3 { // base64, properties, the button
		br.key("Tab", "", 9)
	}
	br.key("Enter", "\r", 13)
	br.see("published and routed")
	assert.Equal(t, []string{"typed"}, bodies(t, b, "work"))

	br.visit(server + queue("work"))
	br.eval("document.querySelector('td.name a').focus()")
	here := br.eval("document.activeElement.id")
	_, err := b.Publish("", "work", leveret.Message{})
	require.NoError(t, err)
	br.see("Ready 2")
	assert.Equal(t, here, br.eval("document.activeElement.id"), "an event leaves the focus where it is")
	br.clean()
}

// Names that clients have chosen do nothing in a browser, wherever they are shown.
func TestHostileNamesInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	for _, name := range hostile {
		q, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgDeadLetterExchange: name}})
		require.NoError(t, err)
		_, err = b.DeclareExchange(name, leveret.Topic, leveret.ExchangeConfig{})
		require.NoError(t, err)
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: name, Pattern: "^$", Definition: leveret.Table{"dead-letter-routing-key": name}}))
		_, err = b.Publish("", q.Name(), leveret.Message{Body: []byte(name), Properties: &leveret.Properties{MessageID: name, Headers: leveret.Table{name: name}}})
		require.NoError(t, err)
	}
	br.visit(server + "/journeys")
	br.press("button[value=record]")
	br.see("recorded from now on")
	paths := append([]string{}, views...)
	for _, q := range b.Queues() {
		_, err := b.Publish("", q.Name, leveret.Message{Body: []byte(q.Name)})
		require.NoError(t, err)
		paths = append(paths, queue(q.Name), messages(q.Name))
	}
	for _, path := range paths {
		br.visit(server + path)
		assert.Empty(t, br.eval("[...document.querySelectorAll('img, main script, [onclick], [onerror]')].map(e => e.outerHTML).join()"), path)
		assert.Equal(t, 1.0, br.eval("document.querySelectorAll('main').length"), path)
	}
	br.visit(server + queue(hostile[0]))
	br.fill("[name=to]", hostile[1])
	br.press("button[value=move]")
	br.see("1 message was moved.")
	br.clean()
}

// A page of another site can neither send forms with the user's login nor show the page in a frame.
func TestOtherSitesInBrowser(t *testing.T) {
	b, br, server := inBrowser(t)
	declare(t, vhost(t, b, "/"), nil, "work")
	_, err := b.Publish("", "work", leveret.Message{})
	require.NoError(t, err)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<iframe src="%s"></iframe><form method="post" action="%s"><input name="do" value="purge"></form>`, server, server+queue("work"))
	}))
	defer other.Close()
	u, err := url.Parse(other.URL)
	require.NoError(t, err)
	br.call("Page.navigate", map[string]any{"url": "http://localhost:" + u.Port()}, nil)
	br.until("document.readyState == 'complete' && document.forms.length == 1 && location.hostname == 'localhost'")
	br.mu.Lock()
	assert.Contains(t, strings.Join(br.wrong, "\n"), "frame-ancestors", "the frame stays empty")
	br.mu.Unlock()
	br.eval("document.forms[0].submit()")
	br.until("document.readyState == 'complete' && location.origin == " + quoted(server))
	assert.Contains(t, br.eval("document.body.innerText"), "cross-origin")
	q, err := b.Queue("work")
	require.NoError(t, err)
	assert.Equal(t, 1, q.Info().Ready, "nothing was purged")
}
