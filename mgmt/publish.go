package mgmt

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
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
	if v == nil {
		return nil, errNoAccess
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

func (c *call) publishTo(v *leveret.VHost) (_ any, err error) {
	m := leveret.Message{Mandatory: true}
	key := c.body.text("routing_key")
	if !c.takesAnyKey {
		key, err = c.body.textOnly("routing_key")
	}
	if err != nil {
		return nil, err
	}
	payload, err := c.body.textOnly("payload")
	if err != nil {
		return nil, badRequest("payload_not_string")
	}
	if m.Properties, err = readProperties(c.body["properties"]); err != nil {
		return nil, err
	}
	if m.Body, err = c.decodePayload(payload); err != nil {
		return nil, err
	}
	var out leveret.Outcome
	err = c.inChannel(v, func(ch *leveret.Channel) error {
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

func (c *call) decodePayload(text string) ([]byte, error) {
	switch c.body.text("payload_encoding") {
	case "string":
		return []byte(text), nil
	case "base64":
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, badRequest([]string{"not_base64", text})
		}
		return data, nil
	default:
		return nil, badRequest([]any{"unsupported_encoding", c.body["payload_encoding"]})
	}
}

// readProperties returns the properties that a JSON object has; others than those of AMQP are passed over.
func readProperties(data []byte) (*leveret.Properties, error) {
	var given body
	if data[0] != '{' || json.Unmarshal(data, &given) != nil {
		return nil, errCrash
	}
	if len(given) == 0 {
		return nil, nil
	}
	p := &leveret.Properties{}
	err := errors.Join(given.texts(p), given.numbers(p))
	if err == nil && given["headers"] != nil {
		var headers definitions.Arguments
		if err := json.Unmarshal(given["headers"], &headers); err != nil {
			return nil, badRequest(err.Error())
		}
		p.Headers = headers.Table
	}
	return p, err
}

// texts sets the properties that are texts.
func (b body) texts(p *leveret.Properties) error {
	for key, to := range map[string]*string{
		"content_type": &p.ContentType, "content_encoding": &p.ContentEncoding, "correlation_id": &p.CorrelationID,
		"reply_to": &p.ReplyTo, "expiration": &p.Expiration, "message_id": &p.MessageID, "type": &p.Type, "user_id": &p.UserID,
		"app_id": &p.AppID, "cluster_id": &p.ClusterID,
	} {
		if data, ok := b[key]; ok && (string(data) == "null" || json.Unmarshal(data, to) != nil) {
			return badRequest([]string{"not_string", key})
		}
	}
	return nil
}

// numbers sets the properties that are numbers. A number may have any size: clients get its lowest bits.
func (b body) numbers(p *leveret.Properties) error {
	for key, set := range map[string]func(uint64){
		"delivery_mode": func(n uint64) { p.DeliveryMode = uint8(n); p.Present |= leveret.PropDeliveryMode },
		"priority":      func(n uint64) { p.Priority = uint8(n); p.Present |= leveret.PropPriority },
		"timestamp":     func(n uint64) { p.Timestamp = time.Unix(int64(n), 0); p.Present |= leveret.PropTimestamp },
	} {
		if _, ok := b[key]; !ok {
			continue
		}
		n, ok := new(big.Int).SetString(string(b[key]), 10)
		if !ok {
			return badRequest([]string{"not_int", key})
		}
		set(n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	}
	return nil
}
