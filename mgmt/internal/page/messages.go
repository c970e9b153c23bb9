package page

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// Messages are shown where they are: nothing is taken from the queue, and nothing in it changes.

const (
	perPage    = 50
	mostListed = 100_000 // ready messages of a queue that is listed; the engine describes all of them at once
	bodyShown  = 4000    // octets of a body
)

// A message is one that is shown. What it does not have is empty.
type message struct {
	Position                                int // in its queue, from 1; 0: it was taken
	Summary, Size, Died, Expires, Body, Cut string
	Exchange, RoutingKey                    string
	Redelivered                             bool
	Properties, Headers                     []figure
	Deaths                                  []leveret.Death
}

// A messagesData is what the view of a queue's messages shows.
type messagesData struct {
	VHost, Name   string
	Total         int
	Messages      []message
	Waiting       []message // for a retry, or for a target that takes the dead letter
	Next, Back    string
	Earliest, End int
}

// messages lists the ready messages from a position on, in the order in which they would be handed out.
func (v *visit) messages() (any, error) {
	vhost, name := v.vhostAndName()
	q, err := v.source.Readable(v.request, vhost, name)
	if err != nil {
		return nil, err
	}
	if ready := q.Info().Ready; ready > mostListed {
		return nil, &Refusal{http.StatusConflict, fmt.Sprintf("%d messages are too many to be listed; %d are the most.", ready, mostListed)}
	}
	all := q.Messages()
	d := messagesData{VHost: vhost, Name: name, Total: len(all)}
	from, _ := strconv.Atoi(v.query.Get("from")) // what is no number is the beginning
	from = min(max(from, 0), len(all))
	end := min(from+perPage, len(all))
	d.Earliest, d.End = min(from+1, end), end
	for i, m := range all[from:end] {
		d.Messages = append(d.Messages, describe(from+i+1, m))
	}
	waiting := q.Waiting()
	for _, m := range waiting[:min(len(waiting), perPage)] {
		d.Waiting = append(d.Waiting, describe(0, m))
	}
	if from > 0 {
		d.Back = v.with("from", strconv.Itoa(max(0, from-perPage)))
	}
	if end < len(all) {
		d.Next = v.with("from", strconv.Itoa(end))
	}
	return d, nil
}

func describe(position int, info leveret.MessageInfo) message {
	m := message{Position: position, Size: size(float64(len(info.Body))), Exchange: nameOf(info.Exchange), RoutingKey: info.RoutingKey,
		Redelivered: info.Redelivered, Deaths: info.Deaths, Summary: info.RoutingKey}
	m.Body, m.Cut = bodyText(info.Body)
	if len(info.Deaths) > 0 {
		last := info.Deaths[0]
		m.Died = fmt.Sprintf("died in %s: %s", shorten(last.Queue), last.Reason)
	}
	for _, at := range []time.Time{info.Deadline, info.DueAt} {
		if !at.IsZero() {
			m.Expires = moment(float64(at.UnixMilli()))
		}
	}
	if info.Properties != nil {
		m.addProperties(info.Properties)
	}
	m.Summary = cmp.Or(m.Summary, "(empty key)")
	return m
}

// addProperties adds those that are present. Headers are those of the publisher.
func (m *message) addProperties(p *leveret.Properties) {
	for _, f := range []figure{{Name: "content type", Value: p.ContentType}, {Name: "content encoding", Value: p.ContentEncoding},
		{Name: "message id", Value: p.MessageID}, {Name: "correlation id", Value: p.CorrelationID}, {Name: "reply to", Value: p.ReplyTo},
		{Name: "expiration", Value: p.Expiration}, {Name: "type", Value: p.Type}, {Name: "user id", Value: p.UserID}, {Name: "app id", Value: p.AppID}} {
		if f.Value != "" {
			m.Properties = append(m.Properties, f)
		}
	}
	for _, f := range []struct {
		bit   leveret.Property
		name  string
		value uint8
	}{{leveret.PropDeliveryMode, "delivery mode", p.DeliveryMode}, {leveret.PropPriority, "priority", p.Priority}} {
		if p.Has()&f.bit != 0 {
			m.Properties = append(m.Properties, figure{Name: f.name, Value: strconv.Itoa(int(f.value))})
		}
	}
	if !p.Timestamp.IsZero() {
		m.Properties = append(m.Properties, figure{Name: "timestamp", Value: moment(float64(p.Timestamp.UnixMilli()))})
	}
	headers := p.Headers
	if p.HeaderFields != nil {
		headers = p.HeaderFields.Table()
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		m.Headers = append(m.Headers, figure{Name: name, Value: headerText(headers, name)})
	}
}

// headerText is one header as a person reads it: a text as it is, and all else as JSON.
func headerText(headers leveret.Table, name string) string {
	if s, ok := headers[name].(string); ok {
		return s
	}
	one := text(definitions.Arguments{Table: leveret.Table{"": headers[name]}})
	return strings.TrimSuffix(strings.TrimPrefix(one, `{"":`), "}")
}

// bodyText is a body as a person reads it: text as it is, and all else in hexadecimal digits.
func bodyText(body []byte) (shown, cut string) {
	whole := len(body)
	if utf8.Valid(body) {
		shown = string(body[:min(whole, bodyShown)])
		for !utf8.ValidString(shown) {
			shown = shown[:len(shown)-1]
		}
	} else {
		shown = hex.Dump(body[:min(whole, bodyShown/8)])
	}
	if utf8.Valid(body) && len(shown) < whole || !utf8.Valid(body) && whole > bodyShown/8 {
		cut = "its beginning"
	}
	return shown, cut
}

// taken describes a message that the API has got from a queue.
func taken(o Object) message {
	m := message{Size: size(number(o["payload_bytes"])), Exchange: nameOf(text(o["exchange"])), RoutingKey: text(o["routing_key"]),
		Redelivered: o["redelivered"] == true, Summary: cmp.Or(text(o["routing_key"]), "(empty key)"), Body: text(o["payload"])}
	if o["payload_encoding"] == "base64" {
		m.Cut = "in base64"
	}
	properties, _ := o["properties"].(Object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if name != "headers" {
			m.Properties = append(m.Properties, figure{Name: strings.ReplaceAll(name, "_", " "), Value: text(properties[name])})
		}
	}
	if headers, ok := properties["headers"].(definitions.Arguments); ok {
		for _, name := range slices.Sorted(maps.Keys(headers.Table)) {
			m.Headers = append(m.Headers, figure{Name: name, Value: headerText(headers.Table, name)})
		}
	}
	return m
}
