package leveret

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Descriptions in JSON, where RabbitMQ's management API has other names, units or levels than the fields of Go.

// MarshalJSON leaves out limits that are not set, as RabbitMQ's management API does.
func (l VHostLimits) MarshalJSON() ([]byte, error) {
	return marshalLimits(map[string]int{"max-connections": l.MaxConnections, "max-queues": l.MaxQueues})
}

// MarshalJSON leaves out limits that are not set, as RabbitMQ's management API does.
func (l UserLimits) MarshalJSON() ([]byte, error) {
	return marshalLimits(map[string]int{"max-connections": l.MaxConnections, "max-channels": l.MaxChannels})
}

func marshalLimits(limits map[string]int) ([]byte, error) {
	for name, n := range limits {
		if n == NoLimit {
			delete(limits, name)
		}
	}
	return json.Marshal(limits)
}

// MarshalJSON has the hash of the password beside the user's name, as RabbitMQ's management API does.
func (u UserInfo) MarshalJSON() ([]byte, error) {
	type fields UserInfo
	return json.Marshal(struct {
		fields
		PasswordHash
	}{fields(u), u.Password})
}

// MarshalJSON has the members of the transport beside those of the connection, as RabbitMQ's management API does, the
// state "running" or "blocked", the number of channels, and the time of the connection in milliseconds since 1970.
func (c ConnInfo) MarshalJSON() ([]byte, error) {
	type fields ConnInfo
	if c.ClientProperties == nil {
		c.ClientProperties = Table{}
	}
	state := "running"
	if c.Blocked {
		state = "blocked"
	}
	return json.Marshal(struct {
		fields
		flatTransport
		ConnectedAt int64  `json:"connected_at"`
		Number      int    `json:"channels"`
		State       string `json:"state"`
	}{fields(c), c.Transport.flat(), c.ConnectedAt.UnixMilli(), len(c.Channels), state})
}

// MarshalJSON has TLS and traffic on one level, and the heartbeat as "timeout" in seconds, as RabbitMQ's management API
// does.
func (t Transport) MarshalJSON() ([]byte, error) { return json.Marshal(t.flat()) }

// flatTransport is a Transport in JSON.
type flatTransport struct {
	Mechanism string `json:"auth_mechanism"`
	FrameMax  int    `json:"frame_max"`
	Timeout   int64  `json:"timeout"` // seconds; 0: no heartbeats
	Encrypted bool   `json:"ssl"`
	TLSInfo
	Traffic
}

func (t Transport) flat() flatTransport {
	return flatTransport{t.Mechanism, t.FrameMax, int64(t.Heartbeat.Seconds()), t.TLS != TLSInfo{}, t.TLS, t.Traffic}
}

// MarshalJSON has the body as a text, or in base64 if it is no UTF-8, with "payload_encoding" and "payload_bytes", as
// RabbitMQ's management API does. The timestamp among the properties is in seconds since 1970.
func (m MessageInfo) MarshalJSON() ([]byte, error) {
	type fields MessageInfo
	payload, encoding := string(m.Body), "string"
	if !utf8.Valid(m.Body) {
		payload, encoding = base64.StdEncoding.EncodeToString(m.Body), "base64"
	}
	return json.Marshal(struct {
		fields
		Properties jsonProperties `json:"properties"`
		Payload    string         `json:"payload"`
		Encoding   string         `json:"payload_encoding"`
		Bytes      int            `json:"payload_bytes"`
	}{fields(m), newJSONProperties(m.Properties), payload, encoding, len(m.Body)})
}

// jsonProperties are Properties in JSON: one kind of headers, and a timestamp that is a number.
type jsonProperties struct {
	Properties
	Headers      Table     `json:"headers,omitempty"`
	Timestamp    int64     `json:"timestamp,omitempty"`
	Present      *struct{} `json:"present,omitempty"`
	HeaderFields *struct{} `json:"header_fields,omitempty"`
}

func newJSONProperties(p *Properties) jsonProperties {
	if p == nil {
		return jsonProperties{}
	}
	j := jsonProperties{Properties: *p, Headers: p.Headers}
	if p.HeaderFields != nil {
		j.Headers = p.HeaderFields.Table()
	}
	if p.Has()&PropTimestamp != 0 {
		j.Timestamp = p.Timestamp.Unix()
	}
	return j
}
