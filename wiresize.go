package leveret

// Quorum queues count a message as it was encoded on the wire: with its properties and headers, in octets.

// propertiesSize is the size of the message's encoded property section as it was published:
// two bytes of flags and each property that is present.
func (m *message) propertiesSize() int {
	p := m.props
	n := 2
	if m.extra != nil {
		n += int(m.extra.removed)
	}
	has := p.Has()
	if has == 0 {
		return n
	}
	for _, s := range [...]struct {
		bit Property
		v   string
	}{
		{PropContentType, p.ContentType}, {PropContentEncoding, p.ContentEncoding}, {PropCorrelationID, p.CorrelationID},
		{PropReplyTo, p.ReplyTo}, {PropExpiration, p.Expiration}, {PropMessageID, p.MessageID}, {PropType, p.Type},
		{PropUserID, p.UserID}, {PropAppID, p.AppID}, {PropClusterID, p.ClusterID},
	} {
		if has&s.bit != 0 {
			n += 1 + len(s.v)
		}
	}
	if has&PropHeaders != 0 {
		n += headersSize(p)
	}
	if has&PropDeliveryMode != 0 {
		n++
	}
	if has&PropPriority != 0 {
		n++
	}
	if has&PropTimestamp != 0 {
		n += 8
	}
	return n
}

func headersSize(p *Properties) int {
	if p.HeaderFields == nil {
		return tableSize(p.Headers)
	}
	return fieldsSize(p.HeaderFields)
}

// tableSize is the size of an encoded table.
func tableSize(t Table) int {
	n := 4
	for name, v := range t {
		n += 1 + len(name) + valueSize(v)
	}
	return n
}

// fieldsSize is the size of an encoded table.
func fieldsSize(f Fields) int {
	n := 4
	for _, x := range f {
		n += 1 + len(x.Name) + valueSize(x.Value)
	}
	return n
}

// valueSize is the size of an encoded value with its type.
func valueSize(v any) int {
	switch v := v.(type) {
	case nil:
		return 1
	case bool, int8, uint8:
		return 2
	case int16, uint16:
		return 3
	case int32, uint32, float32:
		return 5
	case Decimal:
		return 6
	case string:
		return 5 + len(v)
	case []byte:
		return 5 + len(v)
	case Fields:
		return 1 + fieldsSize(v)
	case Table:
		return 1 + tableSize(v)
	case []any:
		n := 5
		for _, e := range v {
			n += valueSize(e)
		}
		return n
	}
	return 9
}
