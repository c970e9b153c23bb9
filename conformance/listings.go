package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// What consoles list, and what they say of topic permissions.

// topicRefusal returns a console's refusal of topic permissions with the engine's code, and with the name of a missing
// exchange.
func topicRefusal(err error, exchange string) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case strings.Contains(e.Reason, "invalid_regexp"):
		return &leveret.Error{Code: leveret.PreconditionFailed, Reason: e.Reason}
	case strings.Contains(e.Reason, "no_such_exchange"), strings.HasPrefix(e.Reason, "Exchange "):
		return &leveret.Error{Code: leveret.NotFound, Name: exchange, Reason: e.Reason}
	}
	return &leveret.Error{Code: leveret.NotFound, Reason: e.Reason}
}

// A limitsObject are the limits of a virtual host as consoles write them: those that are set.
type limitsObject map[string]int

func (o limitsObject) limits() leveret.VHostLimits {
	of := func(name string) int {
		if n, ok := o[name]; ok {
			return n
		}
		return leveret.NoLimit
	}
	return leveret.VHostLimits{MaxConnections: of("max-connections"), MaxQueues: of("max-queues")}
}

func (m *management) VHostLimits() (leveret.VHostLimits, error) {
	var rows []struct{ Value limitsObject }
	if err := m.list(&rows, "vhost-limits/"+url.PathEscape(m.vhost)); err != nil {
		return leveret.VHostLimits{}, err
	}
	all := limitsObject{}
	for _, row := range rows {
		maps.Copy(all, row.Value)
	}
	return all.limits(), nil
}

// Consumers is not there: the API learns of consumers after up to five seconds, and shows arguments as an object, which has no
// order.
func (m *management) Consumers(queue string) ([]scenario.ConsumerView, error) {
	return nil, fmt.Errorf("the management API does not list consumers as they are now: %w", errors.ErrUnsupported)
}

func (m *management) list(into any, path string) error {
	out, err := m.get(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// VHostLimits reads a message: JSON within JSON. Without limits it is an empty list.
func (c *rabbitmqctl) VHostLimits() (leveret.VHostLimits, error) {
	var shown json.RawMessage
	if err := c.list(&shown, "list_vhost_limits", "-p", c.vhost); err != nil {
		return leveret.VHostLimits{}, err
	}
	var message struct{ Value string }
	all := limitsObject{}
	if bytes.HasPrefix(shown, []byte("{")) {
		if err := errors.Join(json.Unmarshal(shown, &message), json.Unmarshal([]byte(message.Value), &all)); err != nil {
			return leveret.VHostLimits{}, err
		}
	}
	return all.limits(), nil
}

func (c *rabbitmqctl) Consumers(queue string) (list []scenario.ConsumerView, err error) {
	var rows []struct {
		Queue     string `json:"queue_name"`
		Tag       string `json:"consumer_tag"`
		Arguments columnFields
	}
	if err := c.list(&rows, "list_consumers", "-p", c.vhost, "queue_name", "consumer_tag", "arguments"); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Queue == queue {
			list = append(list, scenario.ConsumerView{Tag: row.Tag, Arguments: leveret.Fields(row.Arguments)})
		}
	}
	return list, nil
}

// columnFields are a table in a column that keeps its order: a list of [name, value] or [name, type, value].
type columnFields leveret.Fields

func (f *columnFields) UnmarshalJSON(text []byte) error {
	var list [][]any
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, field := range list {
		name, ok := field[0].(string)
		if !ok {
			return fmt.Errorf("no table: %s", text)
		}
		*f = append(*f, leveret.Field{Name: name, Value: field[len(field)-1]})
	}
	return nil
}
