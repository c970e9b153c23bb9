package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
)

// Messages that go from a queue to another place of the broker. The first ones are taken one after the other; each is
// published with a confirm, and acknowledged when its queue has it. The first one that cannot go stays at its place,
// marked as redelivered, and ends it. Only the first can be taken without a trace on others: AMQP has no way to pick a
// message from the middle of a queue. docs/move.md tells what changes in a message on its way.

// mostMoved is how many messages one form may move.
const mostMoved = 100_000

// A transfer takes messages out of a queue and publishes them, as a user.
type transfer struct {
	from, to *leveret.Channel // the same one, unless they are of two virtual hosts
	queue    string           // whose messages they are
	counts   bool             // the queue adds headers with counts to its deliveries
	user     leveret.UserInfo
	address  func(*leveret.Delivery, address.Letter) (publication, error)
	lost     map[address.Loss]int
	conns    []*leveret.Conn
}

// A publication is how a message is published.
type publication struct {
	exchange, key string
	properties    *leveret.Properties
	lost          []address.Loss
	returned      string // why the message stays if no queue gets it
	refused       string // and if a queue refuses it
}

// An obstacle is why a message stays.
type obstacle struct{ reason string }

func (e *obstacle) Error() string { return e.reason }

// transfer makes ready to move messages of the view's queue to a virtual host. It has to be closed.
func (v *visit) transfer(target string) (*transfer, error) {
	vhost, name := v.vhostAndName()
	t := &transfer{queue: name, user: v.user, lost: map[address.Loss]int{}}
	if err := t.open(v, vhost, target); err != nil {
		t.close()
		return nil, err
	}
	q, err := v.findQueue(vhost, name)
	if err != nil {
		t.close()
		return nil, err
	}
	t.counts = q.Info().Type == leveret.QueueTypeQuorum
	return t, nil
}

// open opens a channel in each of the virtual hosts.
func (t *transfer) open(v *visit, from, to string) (err error) {
	if t.from, err = t.channel(v, from); err != nil {
		return err
	}
	if t.to = t.from; to != from {
		t.to, err = t.channel(v, to)
	}
	return err
}

// channel opens a channel with confirms, on a connection of the user.
func (t *transfer) channel(v *visit, vhost string) (*leveret.Channel, error) {
	conn, err := v.source.Open(v.request, vhost)
	if err != nil {
		return nil, err
	}
	t.conns = append(t.conns, conn)
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	return ch, ch.Confirm()
}

// close ends the connections.
func (t *transfer) close() {
	for _, conn := range t.conns {
		conn.Close()
	}
}

// router foretells what a virtual host routes where. It has to be closed.
func (v *visit) router(vhost string) (*address.Router, error) {
	host, err := v.broker.VHost(vhost)
	if err != nil {
		return nil, err
	}
	return address.New(address.Of(host, v.broker.Profile()))
}

// run moves so many messages at most, and none that has come to the queue since it began. Somebody who goes away ends it,
// behind a whole message.
func (t *transfer) run(ctx context.Context, most int) (moved int, err error) {
	for moved < most && ctx.Err() == nil {
		d, ok, err := t.from.Get(t.queue, leveret.GetConfig{})
		if err != nil || !ok {
			return moved, err
		}
		if moved == 0 {
			most = min(most, d.MessageCount+1)
		}
		if err := t.moveOne(d); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, nil
}

// moveOne publishes a message and acknowledges it. What does not get anywhere goes back to its place.
func (t *transfer) moveOne(d *leveret.Delivery) error {
	p, err := t.publication(d)
	if err != nil {
		return errors.Join(err, d.Nack(true))
	}
	out, err := t.to.Publish(p.exchange, p.key, leveret.Message{Properties: p.properties, Body: d.Body, Mandatory: true})
	switch {
	case err != nil:
		d.Nack(true) // has no effect if the error has closed this channel, which has put the message back
		return err
	case out.Return != nil:
		return errors.Join(&obstacle{p.returned}, d.Nack(true))
	case out.Rejected && out.Queues > 1:
		return errors.Join(&obstacle{p.refused + " The other queues have it."}, d.Nack(true))
	case out.Rejected:
		return errors.Join(&obstacle{p.refused}, d.Nack(true))
	}
	for _, what := range p.lost {
		t.lost[what]++
	}
	return d.Ack()
}

// publication says how a message is published. The user-id of somebody else would be refused: it is left out, unless the
// user may impersonate others.
func (t *transfer) publication(d *leveret.Delivery) (publication, error) {
	p, err := t.address(d, t.letter(d))
	if err != nil {
		return p, err
	}
	if by := p.properties.UserID; by != "" && by != t.user.Name && !slices.Contains(t.user.Tags, "impersonator") {
		unsigned := *p.properties
		unsigned.UserID, unsigned.Present = "", unsigned.Present&^leveret.PropUserID
		p.properties, p.lost = &unsigned, append(p.lost, address.LostUserID)
	}
	return p, nil
}

// letter is a message as it is published, without the counts that its queue has added.
func (t *transfer) letter(d *leveret.Delivery) address.Letter {
	p := *d.Properties
	p.Headers, p.HeaderFields = nil, slices.Clone(d.WireHeaders())
	l := address.Letter{Exchange: d.Exchange, RoutingKey: d.RoutingKey, Properties: &p, Redelivered: d.Redelivered}
	if t.counts {
		l.Properties = address.Without(&p, address.IsCount)
	}
	return l
}

// intoQueue publishes a message so that it comes into one queue.
func intoQueue(r *address.Router, queue string, l address.Letter) publication {
	way := r.To(queue, l)
	return publication{way.Exchange, way.RoutingKey, way.Properties(l.Properties, queue), append(way.Lost, l.Losses()...),
		fmt.Sprintf("there is no way to queue '%s' any more.", queue), fmt.Sprintf("queue '%s' is full.", queue)}
}

// told is what came of moving messages.
func (t *transfer) told(moved int, what string, err error) act {
	switch {
	case err != nil && moved == 0:
		return failed(refusalOf(err))
	case err != nil:
		return did(fmt.Sprintf("%s %s. The next one stays: %s%s", some(moved), what, textOf(refusalOf(err)), t.losses()))
	}
	return did(fmt.Sprintf("%s %s.%s", some(moved), what, t.losses()))
}

// losses tells what consumers see otherwise than before.
func (t *transfer) losses() string {
	if len(t.lost) == 0 {
		return ""
	}
	var all []string
	for _, what := range slices.Sorted(maps.Keys(t.lost)) {
		all = append(all, fmt.Sprintf("%s of %d", what, t.lost[what]))
	}
	return " Seen otherwise there: " + strings.Join(all, ", ") + "."
}

// refusalOf is why the next message stays, with a status.
func refusalOf(err error) error {
	var stays *obstacle
	var refused *leveret.Error
	switch {
	case errors.As(err, &stays):
		return &Refusal{http.StatusConflict, stays.reason}
	case errors.Is(err, leveret.ErrNotFound):
		return &Refusal{http.StatusNotFound, textOf(err)}
	case errors.Is(err, leveret.ErrAccessRefused):
		return &Refusal{http.StatusForbidden, textOf(err)}
	case errors.As(err, &refused):
		return &Refusal{http.StatusConflict, refused.Text()}
	}
	return err
}
