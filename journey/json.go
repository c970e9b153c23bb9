package journey

import (
	"encoding/json"
	"time"

	"github.com/leveretmq/leveret"
)

// A moment is an event of a journey in JSON.
type moment struct {
	Event       string         `json:"event"`
	AfterMs     float64        `json:"after_ms"` // since the message was published
	Queue       string         `json:"queue,omitempty"`
	Copy        uint64         `json:"copy,omitempty"`
	Parent      uint64         `json:"parent,omitempty"`
	ConsumerTag string         `json:"consumer_tag,omitempty"`
	Redelivered bool           `json:"redelivered,omitempty"`
	Reason      leveret.Reason `json:"reason,omitempty"`
	Cause       leveret.Cause  `json:"cause,omitempty"`
	Target      string         `json:"target,omitempty"`
	*routed
}

// A routed is where a message was published to, and where that led. Empty names are written: the default exchange has
// one.
type routed struct {
	Exchange   string   `json:"exchange"`
	RoutingKey string   `json:"routing_key"`
	Queues     []string `json:"queues"`
}

func to(m leveret.EventMessage, queues []string) *routed {
	return &routed{m.Exchange, m.RoutingKey, append([]string{}, queues...)}
}

// MarshalJSON writes the message as it was published, its events with the fields that Go's have and their times in
// milliseconds since the publish, the places where copies are, and how its copies ended.
func (j *Journey) MarshalJSON() ([]byte, error) {
	start := j.Events[0].(leveret.PublishedEvent).Time
	moments := make([]moment, 0, len(j.Events))
	for _, e := range j.Events {
		m, at := momentOf(e)
		m.AfterMs = float64(at.Sub(start)) / float64(time.Millisecond)
		moments = append(moments, m)
	}
	return json.Marshal(struct {
		VHost     string              `json:"vhost"`
		Message   uint64              `json:"message"`
		Published leveret.MessageInfo `json:"published"`
		Events    []moment            `json:"events"`
		LeftOut   int                 `json:"left_out,omitempty"`
		In        []Place             `json:"in"`
		Ends      Ends                `json:"ends"`
	}{j.VHost, j.Message, j.Published(), moments, j.LeftOut, append([]Place{}, j.In()...), j.Ends()})
}

func momentOf(e any) (moment, time.Time) {
	switch e := e.(type) {
	case leveret.PublishedEvent:
		return moment{Event: "published", routed: to(e.EventMessage, e.Queues)}, e.Time
	case leveret.ReturnedEvent:
		return moment{Event: "returned"}, e.Time
	case leveret.EnqueuedEvent:
		return moment{Event: "enqueued", Queue: e.Queue, Copy: e.Copy, Parent: e.Parent}, e.Time
	case leveret.RefusedEvent:
		return moment{Event: "refused", Queue: e.Queue, Copy: e.Copy, Parent: e.Parent}, e.Time
	case leveret.DeliveredEvent:
		m := held("delivered", e.EventDelivery)
		m.Redelivered = e.Redelivered
		return m, e.Time
	case leveret.AckedEvent:
		return held("acked", e.EventDelivery), e.Time
	case leveret.RequeuedEvent:
		return held("requeued", e.EventDelivery), e.Time
	case leveret.RejectedEvent:
		return held("rejected", e.EventDelivery), e.Time
	case leveret.DeadLetteredEvent:
		return moment{Event: "dead_lettered", Queue: e.Queue, Copy: e.Copy, Reason: e.Reason, routed: to(e.EventMessage, e.Queues)}, e.Time
	case leveret.DroppedEvent:
		return moment{Event: "dropped", Queue: e.Queue, Copy: e.Copy, Parent: e.Parent, Reason: e.Reason, Cause: e.Cause, Target: e.Target}, e.Time
	}
	return moment{}, time.Time{}
}

func held(event string, d leveret.EventDelivery) moment {
	return moment{Event: event, Queue: d.Queue, Copy: d.Copy, ConsumerTag: d.ConsumerTag}
}
