package mgmt

import (
	"encoding/json"
	"math"
	"math/big"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// publish publishes one message and waits for its confirm.
func (c *call) publish() (any, error) {
	v, _, missing := c.pathExchange()
	if missing != nil && !c.asksBroker {
		return nil, missingIn(v, "exchange_not_found")
	}
	if err := c.need("routing_key", "properties", "payload", "payload_encoding"); err != nil {
		return nil, err
	}
	return c.publishTo(v)
}

// missingIn is the refusal of a message to or from what there is not, or whose virtual host there is not.
func missingIn(v *leveret.VHost, reason string) error {
	if v == nil {
		reason = "vhost_not_found"
	}
	return notFound(reason)
}

func (c *call) publishTo(v *leveret.VHost) (any, error) {
	payload, err := c.body.textOnly("payload")
	if err != nil {
		return nil, badRequest("payload_not_string")
	}
	if v == nil {
		return nil, errNoAccess
	}
	var out leveret.Outcome
	err = c.inChannel(v, func(ch *leveret.Channel) error {
		key, m, err := c.message(payload)
		if err != nil {
			return err
		}
		if err := ch.Confirm(); err != nil {
			return err
		}
		out, err = ch.Publish(c.exchangeName("exchange"), key, m)
		return err
	})
	if err == nil && out.Rejected {
		err = badRequest("rejected Unable to publish message. Check queue limits.")
	}
	return object{"routed": out.Return == nil}, c.closing(err)
}

// message returns the message of the body and its routing key.
func (c *call) message(payload string) (key string, m leveret.Message, err error) {
	m.Mandatory = true
	if m.Properties, err = readProperties(c.body["properties"]); err != nil {
		return "", m, err
	}
	if m.Body, err = c.decodePayload(payload); err != nil {
		return "", m, err
	}
	if c.takesAnyKey {
		return c.body.text("routing_key"), m, c.checkDeliveryMode()
	}
	key, err = c.body.textOnly("routing_key")
	return key, m, err
}

// checkDeliveryMode refuses a delivery mode that is no octet, as the broker refuses others that there are not. It is told as it was given.
func (c *call) checkDeliveryMode() error {
	var properties body
	_ = json.Unmarshal(c.body["properties"], &properties) // they were read once
	mode, given := properties["delivery_mode"]
	if n, _ := new(big.Int).SetString(string(mode), 10); !given || n.IsUint64() && n.Uint64() <= math.MaxUint8 {
		return nil
	}
	return badRequest("406 PRECONDITION_FAILED - invalid message: {delivery_mode_unknown," + string(mode) + "}")
}

func (c *call) decodePayload(text string) ([]byte, error) {
	switch c.body.text("payload_encoding") {
	case "string":
		return []byte(text), nil
	case "base64":
		data, err := erl.DecodeBase64(text)
		if err != nil {
			return nil, badRequest([]string{"not_base64", text})
		}
		return data, nil
	default:
		return nil, badRequest([]any{"unsupported_encoding", c.body["payload_encoding"]})
	}
}

// readProperties returns the properties that a JSON object has; others than those of AMQP are passed over. Of several that are
// wrong the first in AMQP's order is told.
func readProperties(data []byte) (p *leveret.Properties, err error) {
	var given body
	if data[0] != '{' || json.Unmarshal(data, &given) != nil {
		return nil, errCrash
	}
	if len(given) == 0 {
		return nil, nil
	}
	p = &leveret.Properties{}
	for _, property := range []struct {
		key  string
		read func(data []byte) bool // reports whether the property is of its type
		bit  leveret.Property
		kind string
	}{
		{"content_type", isText(&p.ContentType), leveret.PropContentType, notText},
		{"content_encoding", isText(&p.ContentEncoding), leveret.PropContentEncoding, notText},
		{"headers", nil, leveret.PropHeaders, ""},
		{"delivery_mode", isOctetOf(&p.DeliveryMode), leveret.PropDeliveryMode, notInteger},
		{"priority", isOctetOf(&p.Priority), leveret.PropPriority, notInteger},
		{"correlation_id", isText(&p.CorrelationID), leveret.PropCorrelationID, notText},
		{"reply_to", isText(&p.ReplyTo), leveret.PropReplyTo, notText},
		{"expiration", isText(&p.Expiration), leveret.PropExpiration, notText},
		{"message_id", isText(&p.MessageID), leveret.PropMessageID, notText},
		{"timestamp", isTime(&p.Timestamp), leveret.PropTimestamp, notInteger},
		{"type", isText(&p.Type), leveret.PropType, notText},
		{"user_id", isText(&p.UserID), leveret.PropUserID, notText},
		{"app_id", isText(&p.AppID), leveret.PropAppID, notText},
		{"cluster_id", isText(&p.ClusterID), leveret.PropClusterID, notText},
	} {
		data, ok := given[property.key]
		switch {
		case !ok:
			continue
		case property.read == nil:
			if p.Headers, err = given.table("headers"); err != nil {
				return nil, err
			}
		case !property.read(data):
			return nil, badRequest([]string{property.kind, property.key})
		}
		p.Present |= property.bit
	}
	return p, nil
}

// What a property of the wrong type is not.
const (
	notText    = "not_string"
	notInteger = "not_int"
)

func isText(to *string) func([]byte) bool {
	return func(data []byte) bool { return string(data) != "null" && json.Unmarshal(data, to) == nil }
}

func isOctetOf(to *uint8) func([]byte) bool {
	return isInteger(func(n uint64) { *to = uint8(n) })
}

func isTime(to *time.Time) func([]byte) bool {
	return isInteger(func(n uint64) { *to = time.Unix(int64(n), 0) })
}

// isInteger reads a number of any size: clients get its lowest bits.
func isInteger(set func(uint64)) func([]byte) bool {
	return func(data []byte) bool {
		n, ok := new(big.Int).SetString(string(data), 10)
		if ok {
			set(n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		}
		return ok
	}
}
