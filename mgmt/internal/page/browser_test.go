package page_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A real browser: LEVERET_BROWSER is the path of a Chromium. It is spoken to over a pipe, in the DevTools protocol.

// browserPatience is how long a browser may take for one thing, on a machine that is busy.
const browserPatience = 2 * time.Minute

// A browser is one tab without a window. What pages did that they should not is collected.
type browser struct {
	t       *testing.T
	in      io.Writer
	session string
	host    string // the only one that pages may ask

	mu      sync.Mutex
	last    int
	answers map[int]chan devtoolsMessage
	wrong   []string // requests to other hosts, errors, violations of the policy, dialogs that nobody expected
	asked   []string // texts of dialogs that were accepted
}

type devtoolsMessage struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params devtoolsEvent   `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// A devtoolsEvent has what of all kinds of events is looked at.
type devtoolsEvent struct {
	Type, Message    string
	Request          struct{ URL string }
	Entry            struct{ Level, Source, Text, URL string }
	ExceptionDetails struct{ Text string }
}

// newBrowser starts a browser for a server. Without one the test is skipped.
func newBrowser(t *testing.T, server string) *browser {
	path := os.Getenv("LEVERET_BROWSER")
	if path == "" {
		t.Skip("LEVERET_BROWSER is the path of a Chromium")
	}
	u, err := url.Parse(server)
	require.NoError(t, err)
	commands, in, err := os.Pipe()
	require.NoError(t, err)
	out, events, err := os.Pipe()
	require.NoError(t, err)
	profile, err := os.MkdirTemp("", "leveret-browser-")
	require.NoError(t, err)
	run := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--remote-debugging-pipe", "--user-data-dir="+profile)
	run.ExtraFiles = []*os.File{commands, events}
	require.NoError(t, run.Start())
	commands.Close()
	events.Close()
	b := &browser{t: t, in: in, host: u.Host, answers: map[int]chan devtoolsMessage{}}
	var reader sync.WaitGroup
	reader.Go(func() { b.read(out) })
	t.Cleanup(func() {
		in.Close() // ends the browser
		reader.Wait()
		run.Wait()
		out.Close()
		os.RemoveAll(profile)
	})
	b.open()
	return b
}

// open opens the tab.
func (b *browser) open() {
	var tab struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &tab)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": tab.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
}

// read takes answers and events until the browser ends.
func (b *browser) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		data, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m devtoolsMessage
		if json.Unmarshal(data[:len(data)-1], &m) != nil {
			continue // an event with other fields
		}
		b.take(m)
	}
}

func (b *browser) take(m devtoolsMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := m.Params
	switch m.Method {
	case "":
		if answer, ok := b.answers[m.ID]; ok {
			answer <- m
			delete(b.answers, m.ID)
		}
	case "Network.requestWillBeSent":
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != b.host && u.Scheme != "data" {
			b.wrong = append(b.wrong, "request to "+e.Request.URL)
		}
	case "Log.entryAdded":
		if e.Entry.Level == "error" && e.Entry.Source != "network" {
			b.wrong = append(b.wrong, e.Entry.Source+": "+e.Entry.Text)
		}
	case "Runtime.exceptionThrown":
		b.wrong = append(b.wrong, "exception: "+e.ExceptionDetails.Text)
	case "Page.javascriptDialogOpening":
		if e.Type == "confirm" {
			b.asked = append(b.asked, e.Message)
		} else {
			b.wrong = append(b.wrong, e.Type+": "+e.Message)
		}
		b.send("Page.handleJavaScriptDialog", map[string]any{"accept": true})
	}
}

// send sends a command. The lock must be held.
func (b *browser) send(method string, params any) (answer chan devtoolsMessage) {
	b.last++
	answer = make(chan devtoolsMessage, 1)
	b.answers[b.last] = answer
	command := map[string]any{"id": b.last, "method": method}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	if params != nil {
		command["params"] = params
	}
	data, _ := json.Marshal(command) // plain values
	b.in.Write(append(data, 0))
	return answer
}

// try runs a command.
func (b *browser) try(method string, params, result any) error {
	b.mu.Lock()
	answer := b.send(method, params)
	b.mu.Unlock()
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-time.After(browserPatience):
		return fmt.Errorf("%s takes more than %v", method, browserPatience)
	}
}

// call runs a command that must succeed.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	require.NoError(b.t, b.try(method, params, result))
}

// value is what a JavaScript expression is in the page.
func (b *browser) value(expression string) (any, error) {
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if err == nil && answer.ExceptionDetails != nil {
		err = fmt.Errorf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	return answer.Result.Value, err
}

// eval is value of an expression that must succeed.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	v, err := b.value(expression)
	require.NoError(b.t, err)
	return v
}

// until waits for an expression to be true. While a page is left there is none to ask.
func (b *browser) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(browserPatience); ; time.Sleep(20 * time.Millisecond) {
		v, err := b.value(expression)
		if v == true {
			return
		}
		if time.Now().After(end) {
			text, _ := b.value("document.body.innerText")
			require.Fail(b.t, "this does not become true", "%s: %v, %v\n%v", expression, v, err, text)
		}
	}
}

// visit loads a page and waits for its scripts.
func (b *browser) visit(u string) {
	b.t.Helper()
	b.eval("window.left = true")
	b.call("Page.navigate", map[string]any{"url": u}, nil)
	b.until("!window.left && document.readyState == 'complete' && location.href != 'about:blank' && !!window.htmx")
}

// see waits for a text in the page.
func (b *browser) see(text string) {
	b.t.Helper()
	b.until("document.body.innerText.replace(/\\s+/g, ' ').includes(" + quoted(text) + ")")
}

// press clicks on what a selector finds, once htmx has taken over what it has put into the page. Before that, for some 20 ms, a
// form is sent as one without scripts.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.until("(() => { if (document.querySelector('.htmx-added, .htmx-swapping, .htmx-settling')) return false; " +
		"document.querySelector(" + quoted(selector) + ").click(); return true })()")
}

// fill sets a field.
func (b *browser) fill(selector, value string) {
	b.t.Helper()
	b.eval("document.querySelector(" + quoted(selector) + ").value = " + quoted(value))
}

// key presses a key of the keyboard.
func (b *browser) key(name, text string, code int) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		press := map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
		if kind == "keyDown" && text != "" {
			press["text"] = text
		}
		b.call("Input.dispatchKeyEvent", press, nil)
	}
}

// quoted is a JavaScript string.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string
	return string(data)
}

// look sets the size of the window and the colour scheme.
func (b *browser) look(width, height int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// shoot keeps a picture of the window, if LEVERET_SCREENSHOTS names a directory.
func (b *browser) shoot(name string) {
	dir := os.Getenv("LEVERET_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644))
}

// clean fails if pages did what they should not.
func (b *browser) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, strings.Join(b.wrong, "\n"))
}

// questions are the texts of the dialogs that were accepted since the last call.
func (b *browser) questions() (asked []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, b.asked = b.asked, nil
	return asked
}
