package ctl

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/similar"
)

// Messages: to publish one, to get some, and to see those that come to a queue. rabbitmqctl has no such commands; the
// words are those of rabbitmqadmin.

func messageCommands() []*command {
	return []*command{
		{name: "publish", usage: "publish [--vhost <vhost>] [--exchange <exchange>] [--properties <json>] <routing_key> [<payload>]",
			min: 1, max: 2, switches: map[string]kind{"exchange": text, "properties": text},
			about: "Publishes a message; a payload that is not given is read from standard input. Fails if no queue takes the message.",
			note:  "Properties are those of AMQP, such as '{\"delivery_mode\":2,\"headers\":{\"a\":1}}'.\n",
			input: payloadInput, validate: validateProperties, run: publish,
			banner: func(c *call) string {
				return "Publishing to " + quoted(c.args[0]) + " of exchange " + quoted(c.text("exchange", "")) + ` in vhost "` + c.vhostName() + `" ...`
			}},
		{name: "get", usage: "get [--vhost <vhost>] [--count <count>] [--ack-mode <mode>] <queue>", min: 1, max: 1, table: true,
			switches: map[string]kind{"count": integer, "ack-mode": text}, validate: validateGet, run: get,
			about: "Gets messages of a queue, and puts them back unless the mode says otherwise.",
			note:  "Modes: " + strings.Join(ackModes, ", ") + ". The first is that of a get without one.\n",
			banner: func(c *call) string {
				return `Getting messages of queue "` + c.args[0] + `" in vhost "` + c.vhostName() + `" ...`
			}},
		{name: "tail", usage: "tail [--vhost <vhost>] [--count <count>] [--timeout <timeout>] <queue>", min: 1, max: 1, table: true,
			switches: map[string]kind{"count": integer}, validate: validateTail, follow: tail,
			about: "Shows the messages that come to a queue from now on, and leaves them there; until --count have come, or for --timeout seconds.",
			run:   needsSocket,
			banner: func(c *call) string {
				return `Messages that come to queue "` + c.args[0] + `" in vhost "` + c.vhostName() + `" ...`
			}},
	}
}

// payloadInput asks for the payload where it is not an argument.
func payloadInput(c *call) *Need {
	if len(c.args) > 1 {
		return nil
	}
	return &Need{Kind: NeedStdin}
}

// givenProperties are message properties in JSON, with RabbitMQ's names.
type givenProperties struct {
	leveret.Properties
	Headers   definitions.Arguments `json:"headers"`
	Timestamp int64                 `json:"timestamp"` // seconds

	HeaderFields any `json:"-"`
	Present      any `json:"-"`
}

var propertyNames = []string{"headers", "content_type", "content_encoding", "correlation_id", "reply_to", "expiration", "message_id",
	"timestamp", "type", "user_id", "app_id", "cluster_id", "delivery_mode", "priority"}

// properties reads --properties; nil if there is none.
func (c *call) properties() (*leveret.Properties, error) {
	document, ok := c.options["properties"]
	if !ok {
		return nil, nil
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &names); err != nil {
		return nil, badArgument("properties are not a JSON object: " + err.Error())
	}
	for name := range names {
		if !slices.Contains(propertyNames, name) {
			return nil, badArgument("a message has no property " + quoted(name) + didYouMean(similar.Name(name, propertyNames)))
		}
	}
	var given givenProperties
	if err := json.Unmarshal([]byte(document), &given); err != nil {
		return nil, badArgument(err.Error())
	}
	p := given.Properties
	p.Headers = given.Headers.Table
	if _, ok := names["timestamp"]; ok {
		p.Timestamp = time.Unix(given.Timestamp, 0)
	}
	return &p, nil
}

// didYouMean ends an error with what was probably meant.
func didYouMean(meant string) string {
	if meant == "" {
		return ""
	}
	return ". Did you mean '" + meant + "'?"
}

func validateProperties(c *call) error {
	_, err := c.properties()
	return err
}

// publish fails if the message is lost, which RabbitMQ's own tools do not.
func publish(c *call) (result, error) {
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	payload := ""
	if len(c.args) > 1 {
		payload = c.args[1]
	} else if c.input == nil {
		return result{}, c.need()
	} else {
		payload = string(c.input.Data)
	}
	p, _ := c.properties() // validated
	out, err := v.Publish(c.text("exchange", ""), c.args[0], leveret.Message{Properties: p, Body: []byte(payload)})
	switch {
	case err != nil:
		return result{}, amqpError(err)
	case out.Queues == 0:
		return result{}, failed(exitUnavailable, "Message published but NOT routed")
	case out.Rejected:
		return result{}, failed(exitUnavailable, "Message published, but a queue that is full refused it")
	}
	return result{message: "Message published"}, nil
}

// ackModes are what may become of messages that are got.
var ackModes = []string{"ack_requeue_true", "ack_requeue_false", "reject_requeue_true", "reject_requeue_false"}

func validateGet(c *call) error {
	if mode := c.text("ack-mode", ackModes[0]); !slices.Contains(ackModes, mode) {
		return badArgument("ack mode " + quoted(mode) + " is not one of " + strings.Join(ackModes, ", ") + didYouMean(similar.Name(mode, ackModes)))
	}
	return validateCount(c)
}

func validateCount(c *call) error {
	if _, given := c.options["count"]; given && c.number("count") <= 0 {
		return badArgument("count must be a positive integer")
	}
	return nil
}

// namedQueue looks the queue up that is the first argument.
func (c *call) namedQueue() (*leveret.Queue, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	q, err := v.Queue(c.args[0])
	if err == nil {
		return q, nil
	}
	var names []string
	for _, info := range v.Queues() {
		names = append(names, info.Name)
	}
	return nil, failed(exitData, "Queue '"+c.args[0]+"' in vhost '"+v.Name()+"' does not exist"+didYouMean(similar.Name(c.args[0], names)))
}

// get takes all messages before it gives one back, so that none comes twice.
func get(c *call) (result, error) {
	q, err := c.namedQueue()
	if err != nil {
		return result{}, err
	}
	count := max(c.number("count"), 1)
	mode := c.text("ack-mode", ackModes[0])
	var held []*leveret.Delivery
	r := result{listing: true, blank: true}
	for range count {
		d, ok, err := q.Get(leveret.GetConfig{NoAck: mode == "ack_requeue_false"})
		if err != nil {
			return result{}, amqpError(err)
		}
		if !ok {
			break
		}
		held = append(held, d)
		r.rows = append(r.rows, messageRow(d))
	}
	return r, giveBack(held, mode)
}

func giveBack(held []*leveret.Delivery, mode string) error {
	var errs []error
	for _, d := range held {
		switch mode {
		case "ack_requeue_true":
			errs = append(errs, d.Nack(true))
		case "reject_requeue_true":
			errs = append(errs, d.Reject(true))
		case "reject_requeue_false":
			errs = append(errs, d.Reject(false))
		}
	}
	return errors.Join(errs...)
}

func messageRow(d *leveret.Delivery) row {
	payload, encoding := shownPayload(d.Body)
	return row{
		{"routing_key", d.RoutingKey}, {"exchange", d.Exchange}, {"message_count", d.MessageCount}, {"payload", payload},
		{"payload_bytes", len(d.Body)}, {"payload_encoding", encoding}, {"properties", shownProperties(d.Properties, d.WireHeaders().Table())},
		{"redelivered", d.Redelivered},
	}
}

// shownPayload is a text as it is, and other octets in Base64.
func shownPayload(body []byte) (payload, encoding string) {
	if utf8.Valid(body) {
		return string(body), "string"
	}
	return base64.StdEncoding.EncodeToString(body), "base64"
}

// shownProperties is the JSON object of the properties that are present.
func shownProperties(p *leveret.Properties, headers leveret.Table) string {
	shown := leveret.Properties{}
	if p != nil {
		shown = *p
	}
	shown.Headers, shown.HeaderFields, shown.Present = nil, nil, 0
	seconds := shown.Timestamp
	shown.Timestamp = time.Time{}
	data, _ := json.Marshal(shown) // texts and numbers only
	var object map[string]any
	_ = json.Unmarshal(data, &object)
	if !seconds.IsZero() {
		object["timestamp"] = seconds.Unix()
	}
	if headers != nil {
		object["headers"] = definitions.Arguments{Table: headers}
	}
	return marshal(object)
}

func validateTail(c *call) error {
	if f := c.text("formatter", ""); f != "" && f != "table" && f != "json" {
		return &misuse{exitUsage, "the requested formatter is not supported by this command"}
	}
	return validateCount(c)
}

// tailBacklog is how many messages wait for a client that reads slowly. More are left out.
const tailBacklog = 1000

// tail shows each message that comes to a queue.
func tail(ctx context.Context, c *call, send func(Response) error) error {
	q, err := c.namedQueue()
	if err != nil {
		return err
	}
	if d, limited := c.timeout(); limited {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	events, stop := c.arrivals(q.Name())
	defer stop()
	show := func(text string) error { return send(Response{Stdout: text, More: true}) }
	if err := show(c.tailHeader()); err != nil {
		return err
	}
	for shown := int64(0); c.number("count") == 0 || shown < c.number("count"); shown++ {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-events:
			if !open {
				return failed(exitUnavailable, "the queue was deleted")
			}
			if err := show(c.tailLine(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrivals returns the messages that come to a queue until stop is called. The channel is closed when the queue is deleted.
func (c *call) arrivals(queue string) (events <-chan leveret.EnqueuedEvent, stop func()) {
	came := make(chan leveret.EnqueuedEvent, tailBacklog)
	deleted := false // guarded by the virtual host, whose hooks run one after the other
	return came, c.node.Broker.Watch(leveret.Events{
		Enqueued: func(e leveret.EnqueuedEvent) {
			if e.Queue == queue && e.VHost == c.vhostName() && !deleted {
				offer(came, e)
			}
		},
		QueueDeleted: func(e leveret.QueueEvent) {
			if e.Queue == queue && e.VHost == c.vhostName() && !deleted {
				deleted = true
				close(came)
			}
		},
	})
}

// offer sends what there is room for.
func offer[T any](to chan<- T, v T) {
	select {
	case to <- v:
	default:
	}
}

func tailRow(e leveret.EnqueuedEvent) row {
	payload, encoding := shownPayload(e.Body)
	var headers leveret.Table
	if e.Properties != nil {
		headers = e.Properties.Headers
		if e.Properties.HeaderFields != nil {
			headers = e.Properties.HeaderFields.Table()
		}
	}
	return row{
		{"time", e.Time.Format(time.RFC3339Nano)}, {"routing_key", e.RoutingKey}, {"exchange", e.Exchange}, {"payload", payload},
		{"payload_bytes", len(e.Body)}, {"payload_encoding", encoding}, {"properties", shownProperties(e.Properties, headers)},
	}
}

func (c *call) tailHeader() string {
	banner := ""
	if !c.quiet() && !machineReadable(c.text("formatter", "")) {
		banner = lines(c.command.banner(c))
	}
	if c.text("formatter", "") == "json" || !c.is("table-headers", true) || c.is("silent", false) {
		return banner
	}
	return banner + tabbed(tailRow(leveret.EnqueuedEvent{}), func(it item) string { return it.key })
}

func (c *call) tailLine(e leveret.EnqueuedEvent) string {
	if c.text("formatter", "") == "json" {
		return marshal(tailRow(e)) + "\n"
	}
	return tabbed(tailRow(e), func(it item) string { return plainText(it.value) })
}
