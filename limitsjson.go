package leveret

import "encoding/json"

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
