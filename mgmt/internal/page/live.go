package page

import (
	"bytes"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"
)

// A view that is open is told once a second what has changed. Each time the user is looked at anew, so that somebody who
// is no longer allowed to see something does not see it.

const (
	eventStream = "text/event-stream"
	between     = time.Second      // two looks
	patience    = 10 * time.Second // how long a browser may take to read an event
	paused      = "paused"         // the parameter of a view that is to stand still
)

// stream sends the live part, first at once, and then whenever it has changed, until the browser goes away or the user
// is refused.
func (v *visit) stream(w http.ResponseWriter) {
	if v.still {
		http.Error(w, "This page does not change by itself.", http.StatusNotAcceptable)
		return
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{}) // there is nothing more to read
	w.Header().Set("Content-Type", eventStream)
	tick := time.NewTicker(between)
	defer tick.Stop()
	for last := ""; ; {
		now, err := v.live()
		if err != nil {
			return
		}
		if now != last {
			control.SetWriteDeadline(time.Now().Add(patience))
			if writeEvent(w, now) != nil || control.Flush() != nil {
				return
			}
			last = now
		}
		select {
		case <-v.request.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// live returns the HTML of the live part. When what it is about is gone, it says so, and goes on: the next look may find it
// again.
func (v *visit) live() (string, error) {
	if err := v.login(); err != nil {
		return "", err
	}
	s := v.sheet(nil)
	data, err := v.load(v)
	if err != nil {
		return `<p class="bad" role="alert">` + template.HTMLEscapeString(textOf(err)) + "</p>", nil
	}
	s.Data = data
	var out bytes.Buffer
	err = v.templates().ExecuteTemplate(&out, "live", s)
	return out.String(), err
}

// lineEnds are all that end a line of an event. A carriage return in a name must not.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func writeEvent(w io.Writer, html string) error {
	var out strings.Builder
	out.WriteString("event: live\n")
	for line := range strings.SplitSeq(lineEnds.Replace(html), "\n") {
		out.WriteString("data: " + line + "\n")
	}
	_, err := io.WriteString(w, out.String()+"\n")
	return err
}
