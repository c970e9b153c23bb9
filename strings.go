package leveret

import (
	"fmt"
	"strings"
)

// What fmt prints of the nouns: their names, in RabbitMQ's words. Nothing here needs a lock, so that a log line or a
// debugger may print a broker that is at work.

// String returns "virtual host 'name'".
func (v *vhost) String() string { return "virtual host '" + v.name + "'" }

// String returns the release that the broker behaves as.
func (b *Broker) String() string { return "leveret broker as " + b.behaviour.profile.String() }

// String returns "exchange 'name' in vhost '/'".
func (x *Exchange) String() string { return exchangeText(x.name, x.v.name) }

// String returns "queue 'name' in vhost '/'".
func (q *Queue) String() string { return queueText(q.name, q.v.name) }

// String tells the connection by its number, its user and its virtual host.
func (c *Conn) String() string {
	if c.super {
		return "the broker's own connection to vhost '" + c.v.name + "'"
	}
	return fmt.Sprintf("connection %d of user '%s' to vhost '%s'", c.id, c.cfg.User, c.v.name)
}

// String tells the channel by its number and its connection.
func (ch *Channel) String() string { return fmt.Sprintf("channel %d of %v", ch.number, ch.conn) }

// String tells the consumer by its tag and its queue.
func (c *Consumer) String() string {
	if c.q == nil {
		return fmt.Sprintf("consumer '%s' of replies to %v", c.tag, c.ch)
	}
	return fmt.Sprintf("consumer '%s' of %v", c.tag, c.q)
}

// String tells the delivery by its tag, and where the message was published to.
func (d *Delivery) String() string {
	return fmt.Sprintf("delivery %d: %d bytes published to exchange '%s' with routing key '%s'",
		d.DeliveryTag, len(d.Body), d.Exchange, d.RoutingKey)
}

// String returns the product and the series of the release, such as "RabbitMQ 4.3".
func (p Profile) String() string {
	if int(p) >= len(profileNames) {
		return fmt.Sprintf("Profile(%d)", p)
	}
	return profileNames[p]
}

var profileNames = [...]string{RabbitMQ43: "RabbitMQ 4.3", RabbitMQ310: "RabbitMQ 3.10"}

// String returns what the notification tells, such as "consumer cancelled".
func (k NotificationKind) String() string {
	if int(k) >= len(notificationNames) {
		return fmt.Sprintf("NotificationKind(%d)", k)
	}
	return notificationNames[k]
}

var notificationNames = [...]string{
	Delivered: "delivered", ConsumerCancelled: "consumer cancelled", ChannelClosed: "channel closed",
	ConnClosed: "connection closed", ConnBlocked: "connection blocked", ConnUnblocked: "connection unblocked"}

// String returns the names of the properties as AMQP 0-9-1 spells them, such as "headers|delivery-mode".
func (p Property) String() string {
	var names []string
	for i, name := range propertyNames {
		if bit := PropContentType >> i; p&bit != 0 {
			names = append(names, name)
			p &^= bit
		}
	}
	if p != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(p)))
	}
	return strings.Join(names, "|")
}

// propertyNames are in the order of the bits, from the highest.
var propertyNames = [...]string{
	"content-type", "content-encoding", "headers", "delivery-mode", "priority", "correlation-id", "reply-to", "expiration",
	"message-id", "timestamp", "type", "user-id", "app-id", "cluster-id"}

// String returns the policies that apply and each setting that has a value, with its source, one a line.
func (e Effective) String() string {
	var out strings.Builder
	for _, p := range [...]struct{ kind, name string }{{"policy", e.Policy}, {"operator policy", e.OperatorPolicy}} {
		if p.name != "" {
			fmt.Fprintf(&out, "%s: %s\n", p.kind, p.name)
		}
	}
	for _, s := range e.Settings {
		if s.Value != nil {
			fmt.Fprintf(&out, "%s: %v (%v)\n", s.Key, s.Value, s.Source)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
