package mgmt

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// getting is what the body of a get says.
type getting struct {
	mode     string
	count    int
	base64   bool // encode every payload
	truncate *int // octets of a payload; nil: all
}

// The modes of getting.
const (
	ackAndRequeue    = "ack_requeue_true"
	ackAndForget     = "ack_requeue_false"
	rejectAndRequeue = "reject_requeue_true"
	rejectAndForget  = "reject_requeue_false"
)

func (c *call) getting() (g getting, err error) {
	g.mode = c.body.text("ackmode")
	isMode := slices.Contains([]string{ackAndRequeue, ackAndForget, rejectAndRequeue, rejectAndForget}, g.mode)
	if !isMode {
		if err := c.badMode(g.mode); err != nil {
			return g, err
		}
	}
	if g.count, err = c.body.number("count"); err != nil {
		return g, err
	}
	switch c.body.text("encoding") {
	case "auto":
	case "base64":
		g.base64 = true
	default:
		return g, badRequest("Unsupported encoding. Please use auto or base64.")
	}
	if _, ok := c.body["truncate"]; ok {
		var octets int
		octets, err = c.body.number("truncate")
		g.truncate = &octets
	}
	if err == nil && !isMode && g.count != 0 {
		err = errCrash
	}
	return g, err
}

// badMode is the refusal of an ackmode that there is not. RabbitMQ 3.10 has none: it fails at the first message that is got.
func (c *call) badMode(mode string) error {
	given := c.body["ackmode"][0]
	switch {
	case c.failsAtAckMode && given == '"':
		return nil
	case c.failsAtAckMode:
		return errCrash
	case given != '"':
		var value any
		_ = json.Unmarshal(c.body["ackmode"], &value) // it was read once
		var ok bool
		if mode, ok = joined(value); !ok {
			return errCrash
		}
	}
	return badRequest("Invalid ackmode value: " + mode +
		". Valid values are: ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false")
}

// joined returns what Erlang writes for texts, characters of ASCII and arrays of these: one text.
func joined(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		character := rune(v)
		return string(character), float64(character) == v && character >= 0 && character <= unicode.MaxASCII
	case []any:
		for _, element := range v {
			part, ok := joined(element)
			if !ok {
				return "", false
			}
			text += part
		}
		return text, true
	}
	return "", false
}

// getMessages takes messages from a queue, and puts them back or not as the mode says. All are taken before one is given
// back, so that none comes twice.
func (c *call) getMessages() (any, error) {
	v, _, missing := c.pathQueue()
	if missing == errMalformed {
		return nil, missing
	}
	if missing != nil && !c.asksBroker {
		return nil, missingIn(v, "queue_not_found")
	}
	if err := c.need("ackmode", "count", "encoding"); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errNoAccess
	}
	all := []object{}
	err := c.take(v, func(ch *leveret.Channel) error {
		g, err := c.getting()
		if err != nil {
			return err
		}
		var held []*leveret.Delivery
		for len(all) != g.count {
			d, ok, err := ch.Get(c.path("queue"), leveret.GetConfig{NoAck: g.mode == ackAndForget})
			if err != nil {
				return err
			}
			switch {
			case !ok:
				return g.giveBack(held)
			case g.truncate != nil && *g.truncate < 0:
				return errCrash
			}
			held = append(held, d)
			all = append(all, g.describe(d))
		}
		return g.giveBack(held)
	})
	return all, err
}

func (g getting) giveBack(held []*leveret.Delivery) error {
	for _, d := range held {
		var err error
		switch g.mode {
		case ackAndRequeue:
			err = d.Nack(true)
		case rejectAndRequeue:
			err = d.Reject(true)
		case rejectAndForget:
			err = d.Reject(false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g getting) describe(d *leveret.Delivery) object {
	o := object{"payload_bytes": len(d.Body), "redelivered": d.Redelivered, "exchange": d.Exchange, "routing_key": d.RoutingKey,
		"message_count": d.MessageCount, "properties": describeProperties(d)}
	payload := d.Body
	if g.truncate != nil && len(payload) > *g.truncate {
		payload = payload[:*g.truncate]
	}
	if g.base64 || !utf8.Valid(payload) {
		o["payload"], o["payload_encoding"] = base64.StdEncoding.EncodeToString(payload), "base64"
	} else {
		o["payload"], o["payload_encoding"] = string(payload), "string"
	}
	return o
}

// describeProperties returns the properties that are present; none are an empty list, as RabbitMQ shows them.
func describeProperties(d *leveret.Delivery) any {
	p := d.Properties
	texts := map[leveret.Property]struct{ name, value string }{
		leveret.PropContentType: {"content_type", p.ContentType}, leveret.PropContentEncoding: {"content_encoding", p.ContentEncoding},
		leveret.PropCorrelationID: {"correlation_id", p.CorrelationID}, leveret.PropReplyTo: {"reply_to", p.ReplyTo},
		leveret.PropExpiration: {"expiration", p.Expiration}, leveret.PropMessageID: {"message_id", p.MessageID},
		leveret.PropType: {"type", p.Type}, leveret.PropUserID: {"user_id", p.UserID}, leveret.PropAppID: {"app_id", p.AppID},
		leveret.PropClusterID: {"cluster_id", p.ClusterID},
	}
	o, has := object{}, p.Has()
	for property, text := range texts {
		if has&property != 0 {
			o[text.name] = text.value
		}
	}
	for property, n := range map[leveret.Property]int64{leveret.PropDeliveryMode: int64(p.DeliveryMode),
		leveret.PropPriority: int64(p.Priority)} {
		if has&property != 0 {
			o[numberNames[property]] = n
		}
	}
	if has&leveret.PropTimestamp != 0 {
		o["timestamp"] = uint64(p.Timestamp.Unix())
	}
	if headers := d.WireHeaders(); headers != nil {
		o["headers"] = fields(headers)
	}
	if len(o) == 0 {
		return []any{}
	}
	return o
}

var numberNames = map[leveret.Property]string{
	leveret.PropDeliveryMode: "delivery_mode", leveret.PropPriority: "priority"}
