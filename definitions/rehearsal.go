package definitions

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
)

// A rehearsal applies definitions to another broker for a trial. It has the virtual hosts of the one that they are for,
// and those of its users, queues and exchanges that the definitions name. So every rule of declarations, policies and
// permissions has its one place.

// A target is a queue or an exchange.
type target struct{ kind, name string }

// rehearse returns an importer into a new broker, to which the limits of the node and what new virtual hosts have
// apply. Virtual hosts that are there already have their room, and are copied as they are. Its time stands still.
func rehearse(b *leveret.Broker, d *Definitions) (*importer, error) {
	nodeLimits, copied := b.NodeLimits(), false
	if nodeLimits.MaxVHosts > 0 {
		nodeLimits.MaxVHosts = max(nodeLimits.MaxVHosts, len(b.VHosts()))
	}
	setup := func(v *leveret.VHost) error {
		if f := b.VHostSetup(); f != nil && copied {
			return f(v)
		}
		return nil
	}
	im := newImporter(leveret.New(leveret.WithProfile(b.Profile()), leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))),
		leveret.WithNodeLimits(nodeLimits), leveret.WithVHostSetup(setup),
		leveret.WithDefaultQueueType(b.NodeDefaultQueueType()), leveret.WithCredentialValidator(b.ValidateCredentials)), b)
	if err := im.copy(b, d); err != nil {
		im.b.Close()
		return nil, err
	}
	copied = true
	return im, nil
}

// copy brings what the definitions name, and the virtual hosts, from a broker.
func (im *importer) copy(from *leveret.Broker, d *Definitions) error {
	if err := cmp.Or(im.b.DeleteUser("guest"), im.b.DeleteVHost("/")); err != nil {
		return err
	}
	for name := range d.users() {
		if err := im.copyUser(from, name); err != nil {
			return err
		}
	}
	names := d.names()
	for _, info := range from.VHosts() {
		if err := im.copyVHost(from, info, names[info.Name]); err != nil {
			return err
		}
	}
	return nil
}

// users are the names of the users that the definitions refer to.
func (d *Definitions) users() map[string]bool {
	names := map[string]bool{}
	for _, e := range d.Users {
		names[e.Name] = true
	}
	for _, e := range d.Permissions {
		names[e.User] = true
	}
	for _, e := range d.TopicPermissions {
		names[e.User] = true
	}
	return names
}

// names are the queues and exchanges that the definitions refer to, by virtual host.
func (d *Definitions) names() map[string]map[target]bool {
	names := map[string]map[target]bool{}
	add := func(vhost, kind, name string) {
		if names[vhost] == nil {
			names[vhost] = map[target]bool{}
		}
		names[vhost][target{kind, name}] = true
	}
	for _, e := range d.Queues {
		add(e.VHost, "queue", e.Name)
	}
	for _, e := range d.Exchanges {
		add(e.VHost, "exchange", e.Name)
	}
	for _, e := range d.TopicPermissions {
		add(e.VHost, "exchange", e.exchange())
	}
	for _, e := range d.Bindings {
		add(e.VHost, "exchange", e.Source)
		add(e.VHost, e.DestinationType, e.Destination)
	}
	return names
}

// copyUser brings a user, if there is one of that name.
func (im *importer) copyUser(from *leveret.Broker, name string) error {
	u, err := from.User(name)
	if err != nil {
		return nil
	}
	return im.b.SetUser(name, u.Password, u.Tags...)
}

// copyVHost brings a virtual host and what is there under the names.
func (im *importer) copyVHost(b *leveret.Broker, info leveret.VHostInfo, names map[target]bool) error {
	from, err := b.VHost(info.Name)
	if err != nil {
		return nil // deleted meanwhile
	}
	to, err := im.b.CreateVHost(info.Name)
	if err != nil {
		return err
	}
	for at := range names {
		if err := copyTarget(from, to, at); err != nil {
			return err
		}
	}
	return to.SetDefaultQueueType(info.DefaultQueueType)
}

// copyTarget brings a queue or an exchange, if there is one of that name.
func copyTarget(from, to *leveret.VHost, at target) error {
	if at.kind == "exchange" {
		if x, err := from.Exchange(at.name); err == nil {
			return copyExchange(x.Info(), to)
		}
		return nil
	}
	if q, err := from.Queue(at.name); err == nil {
		return copyQueue(q.Info(), to)
	}
	return nil
}

func copyExchange(info leveret.ExchangeInfo, to *leveret.VHost) error {
	return to.ImportExchange(info.Name, info.Type, leveret.ExchangeConfig{
		Durable: info.Durable, AutoDelete: info.AutoDelete, Internal: info.Internal, Arguments: info.Arguments})
}

// copyQueue makes a queue of the same name and type. An import asks nothing else of a queue that exists.
func copyQueue(info leveret.QueueInfo, to *leveret.VHost) error {
	return to.ImportQueue(info.Name,
		leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: info.Type}})
}

// queueLimits refuses definitions that would add more queues to a virtual host than its limit allows. The limit
// that a virtual host has before the queues are imported counts, and each entry of a queue that is not there, whatever
// becomes of it.
// Rules: J-9, Q-11.
func (im *importer) queueLimits(d *Definitions) error {
	added := map[string]int{}
	for _, e := range d.Queues {
		if v, err := im.present(e.VHost); err == nil && !queueExists(v, e.Name) {
			added[e.VHost]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		v, err := im.present(name)
		if err != nil {
			continue // deleted meanwhile
		}
		info, n := v.Info(), added[name]
		if limit := info.Limits.MaxQueues; limit >= 0 && info.Queues+n > limit {
			if limit == 0 {
				info.Queues = 0 // RabbitMQ does not count then
			}
			return &Error{"queues", -1, "", refuse("Adding %d queue(s) to virtual host \"%s\" would exceed the limit of %d queue(s).\n\n"+
				"This virtual host currently has %d queue(s) defined.\n\nImport aborted!", n, name, limit, info.Queues)}
		}
	}
	return nil
}

// present returns a virtual host as it is now. One that only the definitions make is in the rehearsal.
func (im *importer) present(name string) (*leveret.VHost, error) {
	if v, err := im.of.VHost(name); err == nil {
		return v, nil
	}
	return im.b.VHost(name)
}
