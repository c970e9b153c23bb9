package leveret

import (
	"time"

	"github.com/leveretmq/leveret/internal/record"
)

// A log has messages as records. No client can tell a message that was read from its record from the one that was
// written: exchanges are recorded by name, and only the name of an exchange that is gone shows.

// record returns the record of m. It shares what m refers to.
func (m *message) record() *record.Message { return new(recording).of(m) }

// A recording makes records of messages, one after the other in the same memory.
type recording struct {
	message      record.Message
	properties   record.Properties
	headers      record.Fields
	extra        record.Extra
	published    record.Published
	deaths       []record.Death
	lastExchange string
}

// of returns the record of m, which is good until the next one is made. It shares what m refers to.
func (r *recording) of(m *message) *record.Message {
	r.message = record.Message{Exchange: m.exchange.name, Key: m.key, Body: m.body}
	if m.props != nil {
		r.takeProperties(m.props)
		r.message.Properties = &r.properties
	}
	if m.extra != nil {
		r.takeExtra(m.extra)
		r.message.Extra = &r.extra
	}
	return &r.message
}

// takeProperties records the headers as they are delivered: Headers do not count beside HeaderFields.
func (r *recording) takeProperties(p *Properties) {
	r.properties = record.Properties{
		Present:     uint16(p.Present),
		ContentType: p.ContentType, ContentEncoding: p.ContentEncoding,
		CorrelationID: p.CorrelationID, ReplyTo: p.ReplyTo, Expiration: p.Expiration, MessageID: p.MessageID,
		Timestamp: p.Timestamp, Type: p.Type, UserID: p.UserID, AppID: p.AppID, ClusterID: p.ClusterID,
		DeliveryMode: p.DeliveryMode, Priority: p.Priority,
	}
	if p.HeaderFields == nil {
		r.properties.Headers = record.Table(p.Headers)
		return
	}
	if r.headers == nil {
		r.headers = make(record.Fields, 0, len(p.HeaderFields))
	}
	r.headers = r.headers[:0]
	for _, f := range p.HeaderFields {
		r.headers = append(r.headers, record.Field(f))
	}
	r.properties.HeaderFields = r.headers
}

func (r *recording) takeExtra(x *extra) {
	r.extra = record.Extra{Number: x.number, Removed: x.removed, HideExpiration: x.hidesExpiration}
	if p := x.published; p != nil {
		r.published = record.Published{Keys: p.all, Routes: p.routes, BCC: p.bcc, Wire: p.wire}
		r.extra.Published = &r.published
	}
	r.deaths = r.deaths[:0]
	for d := x.deaths; d != nil; d = d.next {
		if d.queue == x.firstDeath.queue && d.reason == x.firstDeath.reason {
			r.extra.FirstDeath = uint32(len(r.deaths))
		}
		r.deaths = append(r.deaths, d.record())
	}
	if len(r.deaths) > 0 {
		r.extra.Deaths = r.deaths
	}
	if x.lastExchange != nil {
		r.lastExchange = x.lastExchange.name
		r.extra.LastExchange = &r.lastExchange
	}
}

func (d *death) record() record.Death {
	return record.Death{Queue: d.queue, Reason: string(d.reason), Count: d.count, At: d.at, Exchange: d.exchange.name,
		Key: d.key, Keys: d.keys, Expiration: d.expiration}
}

// A recovery is what messages of one virtual host share that were read from records. It may be forgotten at any time.
type recovery struct {
	gone      map[string]*Exchange // by name: exchanges that are not there any more
	histories [4]*commonHistory    // the last ones
	oldest    int                  // of the histories
	plain     *Properties          // the last ones without headers
}

// recordedLocked returns the message that a record is of. It takes over what the record refers to.
func (v *vhost) recordedLocked(r *record.Message) *message {
	m := &message{exchange: v.recordedExchangeLocked(r.Exchange), key: r.Key, body: r.Body}
	if r.Properties != nil {
		m.props = v.recordedPropertiesLocked(r.Properties)
	}
	if r.Extra != nil {
		m.extra = v.recordedExtraLocked(r.Extra)
	}
	return m
}

// recordedExchangeLocked returns the exchange of a name, a deleted one if none is there.
func (v *vhost) recordedExchangeLocked(name string) *Exchange {
	x := v.exchanges[name]
	if x == nil {
		x = v.recovery.gone[name]
	}
	if x != nil {
		return x
	}
	if v.recovery.gone == nil {
		v.recovery.gone = map[string]*Exchange{}
	}
	x = &Exchange{v: v, name: name, deleted: true, visited: unreachable}
	v.recovery.gone[name] = x
	return x
}

// recordedPropertiesLocked returns properties that were read. Those of one publisher are mostly equal, and take up memory once:
// a million messages of 100 octets take 227 octets each, 446 with properties of their own.
func (v *vhost) recordedPropertiesLocked(r *record.Properties) *Properties {
	if r.Headers != nil || r.HeaderFields != nil {
		return recordedProperties(r)
	}
	if last := v.recovery.plain; last != nil && last.equalPlain(r) {
		return last
	}
	v.recovery.plain = recordedProperties(r)
	return v.recovery.plain
}

// equalPlain compares properties without headers.
func (p *Properties) equalPlain(r *record.Properties) bool {
	return uint16(p.Present) == r.Present && p.DeliveryMode == r.DeliveryMode && p.Priority == r.Priority &&
		p.ContentType == r.ContentType && p.ContentEncoding == r.ContentEncoding && p.CorrelationID == r.CorrelationID &&
		p.ReplyTo == r.ReplyTo && p.Expiration == r.Expiration && p.MessageID == r.MessageID && p.Type == r.Type &&
		p.UserID == r.UserID && p.AppID == r.AppID && p.ClusterID == r.ClusterID && p.Timestamp.Equal(r.Timestamp)
}

// recordedProperties has the timestamp in local time, as listeners read one.
func recordedProperties(r *record.Properties) *Properties {
	p := &Properties{
		Present:     Property(r.Present),
		ContentType: r.ContentType, ContentEncoding: r.ContentEncoding,
		CorrelationID: r.CorrelationID, ReplyTo: r.ReplyTo, Expiration: r.Expiration, MessageID: r.MessageID,
		Type: r.Type, UserID: r.UserID, AppID: r.AppID, ClusterID: r.ClusterID,
		DeliveryMode: r.DeliveryMode, Priority: r.Priority,
		Headers: recordedTable(r.Headers), HeaderFields: recordedFields(r.HeaderFields),
	}
	if !r.Timestamp.IsZero() {
		p.Timestamp = time.Unix(r.Timestamp.Unix(), 0)
	}
	return p
}

// recordedTable changes the table in place.
func recordedTable(r record.Table) Table {
	for name, value := range r {
		if v, other := recordedValue(value); other {
			r[name] = v
		}
	}
	return Table(r)
}

func recordedFields(r record.Fields) Fields {
	if r == nil {
		return nil
	}
	f := make(Fields, len(r))
	for i := range r {
		f[i] = Field(r[i])
		if v, other := recordedValue(r[i].Value); other {
			f[i].Value = v
		}
	}
	return f
}

// recordedValue returns the value that the broker has instead of one that was read, and whether they are of different
// types. Arrays are changed in place.
func recordedValue(value any) (v any, other bool) {
	switch r := value.(type) {
	case record.Decimal:
		return Decimal(r), true
	case record.Table:
		return recordedTable(r), true
	case record.Fields:
		return recordedFields(r), true
	case []any:
		for i := range r {
			if v, other := recordedValue(r[i]); other {
				r[i] = v
			}
		}
	}
	return value, false
}

func (v *vhost) recordedExtraLocked(r *record.Extra) *extra {
	if mayShareHistory(r) {
		return &v.recordedHistoryLocked(r).extra
	}
	x := &extra{number: r.Number, removed: r.Removed, hidesExpiration: r.HideExpiration}
	if p := r.Published; p != nil {
		x.published = &published{all: p.Keys, routes: p.Routes, bcc: p.BCC, wire: p.Wire}
	}
	v.takeDeathsLocked(x, r)
	return x
}

// takeDeathsLocked gives x the history of a record. The entry of the first death, which may have been counted again since,
// stands for this death.
func (v *vhost) takeDeathsLocked(x *extra, r *record.Extra) {
	if r.LastExchange != nil {
		x.lastExchange = v.recordedExchangeLocked(*r.LastExchange)
	}
	if len(r.Deaths) == 0 {
		return
	}
	all := make([]death, len(r.Deaths))
	for i := range r.Deaths {
		if all[i] = v.recordedDeathLocked(&r.Deaths[i]); i > 0 {
			all[i-1].next = &all[i]
		}
	}
	x.deaths, x.firstDeath = &all[0], &all[r.FirstDeath]
}

func (v *vhost) recordedDeathLocked(r *record.Death) death {
	return death{queue: r.Queue, reason: Reason(r.Reason), count: r.Count, at: r.At, exchange: v.recordedExchangeLocked(r.Exchange),
		key: r.Key, keys: r.Keys, expiration: r.Expiration}
}

// mayShareHistory reports whether the message of a record may share its history: it has nothing else of what few messages
// have.
func mayShareHistory(r *record.Extra) bool {
	if len(r.Deaths) == 0 || r.Published != nil || r.Number != 0 || r.Removed != 0 || r.HideExpiration {
		return false
	}
	for i := range r.Deaths {
		if r.Deaths[i].Keys != nil || r.Deaths[i].Expiration != nil {
			return false
		}
	}
	return true
}

// recordedHistoryLocked returns the history that messages with such a record share.
func (v *vhost) recordedHistoryLocked(r *record.Extra) *commonHistory {
	known := &v.recovery.histories
	for _, h := range known {
		if h != nil && h.extra.hasHistory(r) {
			return h
		}
	}
	v.lastHistory++
	h := &commonHistory{number: v.lastHistory}
	h.extra.common = h
	v.takeDeathsLocked(&h.extra, r)
	known[v.recovery.oldest] = h
	v.recovery.oldest = (v.recovery.oldest + 1) % len(known)
	return h
}

// hasHistory reports whether the history of x, which messages share, is that of a record.
func (x *extra) hasHistory(r *record.Extra) bool {
	if x.lastExchange.name != *r.LastExchange || !x.firstDeath.is(&r.Deaths[r.FirstDeath]) {
		return false
	}
	d := x.deaths
	for i := range r.Deaths {
		if d == nil || !d.is(&r.Deaths[i]) {
			return false
		}
		d = d.next
	}
	return d == nil
}

// is reports whether r is the record of d. Neither has keys besides its key, or an expiration.
func (d *death) is(r *record.Death) bool {
	return d.queue == r.Queue && string(d.reason) == r.Reason && d.count == r.Count && d.at == r.At &&
		d.exchange.name == r.Exchange && d.key == r.Key
}
