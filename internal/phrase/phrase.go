// Package phrase has the words that texts for people share.
package phrase

import (
	"fmt"
	"strings"
)

// Body shows the beginning of a message's body.
func Body(body []byte) string {
	const most = 60
	if len(body) <= most {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q… (%d bytes)", body[:most], len(body))
}

// Exchange names an exchange.
func Exchange(name string) string {
	if name == "" {
		return "the default exchange"
	}
	return fmt.Sprintf("exchange %q", name)
}

// Queues lists queues.
func Queues(names []string) string {
	if len(names) == 0 {
		return "no queue"
	}
	return strings.Join(names, ", ")
}
