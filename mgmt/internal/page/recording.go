package page

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/journey"
)

// Journeys are recorded when an administrator says so, because a recorder watches every message, and keeps bodies. The
// recording ends when it is told to, or when nobody has looked at it for some time.

const (
	journeysKept  = 200
	recordingLeft = 10 * time.Minute // without a look
)

// A recording is the one recorder that all who look at the page share.
type recording struct {
	broker *leveret.Broker

	mu       sync.Mutex
	recorder *journey.Recorder // nil: nothing was ever recorded
	running  bool
	timer    *time.Timer
}

var recordingActs = map[string]func(*visit) act{"record": (*visit).record, "stop": (*visit).stopRecording}

// checkAdministrator lets administrators see what every message has, in every virtual host.
func (v *visit) checkAdministrator() error {
	if slices.Contains(v.user.Tags, "administrator") {
		return nil
	}
	return &Refusal{http.StatusForbidden, "Journeys are for administrators: they have the messages of all queues."}
}

// record begins a new recording.
func (v *visit) record() act {
	if err := v.checkAdministrator(); err != nil {
		return failed(err)
	}
	v.recording.start()
	return did("What happens to messages is recorded from now on.")
}

func (v *visit) stopRecording() act {
	if err := v.checkAdministrator(); err != nil {
		return failed(err)
	}
	v.recording.stop()
	return did("The recording has ended. What was recorded stays.")
}

func (r *recording) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		return
	}
	r.recorder = journey.Record(r.broker, journey.Config{Last: journeysKept})
	r.running = true
	r.timer = time.AfterFunc(recordingLeft, r.stop)
}

func (r *recording) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.running = false
		r.timer.Stop()
		r.recorder.Stop()
	}
}

// look returns what was recorded, newest first, and keeps the recording on.
func (r *recording) look() (all []*journey.Journey, lost []leveret.DroppedEvent, running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.timer.Reset(recordingLeft)
	}
	if r.recorder != nil {
		all, lost = r.recorder.Journeys(), r.recorder.Dropped()
	}
	slices.Reverse(all)
	slices.Reverse(lost)
	return all, lost, r.running
}

// A journeysData is what the view of all journeys shows.
type journeysData struct {
	Running  bool
	Journeys []journeyLine
	Some     bool // there are more than those
	Losses   []lossLine
	More     bool // losses than those
}

// A lossLine is one loss in the list: Where is its queue, or the exchange that had no queue for it. Href leads to the
// message's journey; empty: that is not recorded.
type lossLine struct {
	Time, VHost, Where, Key, Cause, Reason, Href string
	Message, Copy                                uint64
}

// clockTime is how times of events are written.
const clockTime = "15:04:05.000"

// A journeyLine is one journey in the list.
type journeyLine struct {
	Href, Title, Time, VHost, Exchange, Ends string
	Bad                                      bool
}

func (v *visit) journeys() (any, error) {
	if err := v.checkAdministrator(); err != nil {
		return nil, err
	}
	all, lost, running := v.recording.look()
	d := journeysData{Running: running}
	recorded := map[string]bool{}
	for _, j := range all {
		recorded[hrefOf(j.VHost, j.Message)] = true
	}
	for _, e := range lost[:min(len(lost), perPage)] {
		line := lossLine{Time: e.Time.UTC().Format(clockTime), VHost: e.VHost, Where: cmp.Or(shorten(e.Queue), nameOf(e.Exchange)),
			Key: cmp.Or(shorten(e.RoutingKey), "(empty key)"), Cause: string(e.Cause), Reason: string(e.Reason), Message: e.Message, Copy: e.Copy}
		if href := hrefOf(e.VHost, e.Message); recorded[href] {
			line.Href = href
		}
		d.Losses = append(d.Losses, line)
	}
	for _, j := range all[:min(len(all), perPage)] {
		d.Journeys = append(d.Journeys, lineOf(j))
	}
	d.Some, d.More = len(all) > perPage, len(lost) > perPage
	return d, nil
}

// hrefOf is the view of a message's journey.
func hrefOf(vhost string, message uint64) string {
	return link("/journey", url.Values{"vhost": {vhost}, "message": {strconv.FormatUint(message, 10)}})
}

func lineOf(j *journey.Journey) journeyLine {
	published, ends := j.Published(), j.Ends()
	l := journeyLine{Title: shorten(cmp.Or(published.RoutingKey, "(empty key)")), VHost: j.VHost, Exchange: nameOf(published.Exchange),
		Ends: ends.String(), Bad: !ends.Well(), Href: hrefOf(j.VHost, j.Message)}
	if first, ok := j.Events[0].(leveret.PublishedEvent); ok {
		l.Time = first.Time.UTC().Format(clockTime)
	}
	return l
}

// A journeyData is what the view of one journey shows.
type journeyData struct {
	journeyLine
	Message message
	Picture template.HTML
	Story   string
}

func (v *visit) journey() (any, error) {
	if err := v.checkAdministrator(); err != nil {
		return nil, err
	}
	number, _ := strconv.ParseUint(v.query.Get("message"), 10, 64) // what is no number is no message's
	all, _, _ := v.recording.look()
	for _, j := range all {
		if j.VHost == v.vhost() && j.Message == number {
			return journeyData{lineOf(j), describe(0, j.Published()), picture(graph.OfEvents(j.Events)), j.String()}, nil
		}
	}
	return nil, &Refusal{http.StatusNotFound, "This message's journey is not recorded, or no more."}
}
