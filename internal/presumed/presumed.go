// Package presumed says what a definitions file presumes: virtual hosts and users that its entries name and that it has no section
// for. RabbitMQ refuses such a file where they are not there already.
package presumed

import (
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// VHosts returns the virtual hosts that entries name, each once and in order, if the file has no section of virtual hosts. A new node has
// the virtual host "/", which is not among them.
func VHosts(d *definitions.Definitions) (names []string) {
	if d.VHosts != nil {
		return nil
	}
	for _, e := range d.Permissions {
		names = append(names, e.VHost)
	}
	for _, e := range d.TopicPermissions {
		names = append(names, e.VHost)
	}
	for _, e := range d.Parameters {
		names = append(names, e.VHost)
	}
	for _, e := range d.Policies {
		names = append(names, e.VHost)
	}
	for _, e := range d.Queues {
		names = append(names, e.VHost)
	}
	for _, e := range d.Exchanges {
		names = append(names, e.VHost)
	}
	for _, e := range d.Bindings {
		names = append(names, e.VHost)
	}
	return others(names, "/")
}

// Users returns the users that permissions name, each once and in order, if the file has no section of users. A new node has the user
// guest, who is not among them.
func Users(d *definitions.Definitions) (names []string) {
	if d.Users != nil {
		return nil
	}
	for _, e := range d.Permissions {
		names = append(names, e.User)
	}
	for _, e := range d.TopicPermissions {
		names = append(names, e.User)
	}
	return others(names, "guest")
}

// others returns names in order, each once, without those that are empty or there anyway.
func others(names []string, there string) []string {
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" || name == there })
}

// Make makes what a file presumes. A name that is not allowed is left out: it is refused with its entry.
func Make(d *definitions.Definitions, b *leveret.Broker) {
	for _, name := range VHosts(d) {
		_, _ = b.CreateVHost(name)
	}
	for _, name := range Users(d) {
		_ = b.SetUser(name, leveret.PasswordHash{})
	}
}
