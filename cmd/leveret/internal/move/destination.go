package move

import (
	"maps"

	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A destinationBroker is a broker that gets what is moved.
type destinationBroker struct {
	*Broker
	conn *amqp.Connection
	out  *publication
	lost map[address.Loss]int // of earlier outlets
}

// To returns a broker as a destination. Close ends its connection.
func To(b *Broker) Destination { return &destinationBroker{Broker: b, lost: map[address.Loss]int{}} }

func (d *destinationBroker) define(doc document) error { return d.accept(doc) }

func (d *destinationBroker) open(window int) (outlet, error) {
	if d.out != nil && !d.out.ch.IsClosed() {
		return d.out, nil
	}
	d.Close()
	conn, err := d.connect()
	if err != nil {
		return nil, err
	}
	d.conn = conn
	if d.out, err = newPublication(conn, d.Broker, window); err != nil {
		d.out = nil
		return nil, err
	}
	return d.out, nil
}

func (d *destinationBroker) losses() map[address.Loss]int {
	all := maps.Clone(d.lost)
	if d.out != nil {
		for what, n := range d.out.lost {
			all[what] += n
		}
	}
	return all
}

func (d *destinationBroker) Close() error {
	if d.out != nil {
		d.lost = d.losses()
		d.out.close()
		d.out = nil
	}
	if d.conn == nil {
		return nil
	}
	err := d.conn.Close()
	d.conn = nil
	return err
}
