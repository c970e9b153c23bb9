package scenario

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/leveretmq/leveret"
)

// consume QUEUE TAG [no-ack] [exclusive] [arguments]
func consume(r *run, s *session, w *words) ([]string, error) {
	queue := w.word("a queue")
	noWait(s, w)
	cfg := leveret.ConsumeConfig{NoAck: w.flag("no-ack"), Exclusive: w.flag("exclusive"), ArgumentFields: w.named}
	w.named = nil
	if len(w.pos) > 0 {
		cfg.Tag = w.word("a tag")
	}
	w.done()
	tag, err := s.ch.Consume(queue, cfg)
	if err != nil {
		return nil, err
	}
	r.queueOf[tag] = queue
	if tag != cfg.Tag {
		return []string{generated(tag)}, nil
	}
	return nil, nil
}

func cancel(r *run, s *session, w *words) ([]string, error) {
	tag := w.word("a tag")
	noWait(s, w)
	w.done()
	return nil, s.ch.Cancel(tag)
}

// deliveries TAG… shows what consumers received since the last look, of several in the order of the delivery tags; with
// numbered, also these; with total, only how many they are.
func deliveries(r *run, s *session, w *words) ([]string, error) {
	total, numbered := w.flag("total"), w.flag("numbered")
	tags := w.words("a consumer tag")
	var received []*Delivery
	return r.watch(w.wanted(r), func() ([]string, error) {
		received = append(received, s.take(tags)...)
		if total {
			return []string{strconv.Itoa(len(received))}, nil
		}
		slices.SortFunc(received, func(a, b *Delivery) int { return cmp.Compare(a.Tag, b.Tag) })
		var out []string
		for _, d := range received {
			text := r.render.delivery(d, r.queueOf[d.ConsumerTag])
			if len(tags) > 1 {
				text += " to " + d.ConsumerTag
			}
			if numbered {
				text += " #" + strconv.FormatUint(d.Tag, 10)
			}
			out = append(out, text)
		}
		return out, nil
	})
}

// take removes from what the channel received the deliveries to some of its consumers.
func (s *session) take(tags []string) []*Delivery {
	s.collect()
	var taken []*Delivery
	kept := s.inbox[:0:0]
	for _, e := range s.inbox {
		if e.Delivery != nil && slices.Contains(tags, e.Delivery.ConsumerTag) {
			taken = append(taken, e.Delivery)
		} else {
			kept = append(kept, e)
		}
	}
	s.inbox = kept
	return taken
}

// notices shows the consumers that the broker cancelled, and the error by which it closed the channel unasked.
func notices(r *run, s *session, w *words) ([]string, error) {
	w.done()
	var out []string
	closed := false
	return r.watch(w.wanted(r), func() ([]string, error) {
		ended := s.ch != nil && s.ch.Err() != nil // what came before the end is there then
		s.collect()
		kept := s.inbox[:0:0]
		for _, e := range s.inbox {
			if e.Delivery != nil {
				kept = append(kept, e)
				continue
			}
			out = append(out, "cancelled "+generated(e.Cancelled))
		}
		s.inbox = kept
		if ended && !closed {
			closed = true
			out = append(out, r.refusal(s, s.ch.Err())...)
		}
		return out, nil
	})
}

// count QUEUE… shows ready messages and, if there are any, consumers, without touching the session's channel.
func count(r *run, s *session, w *words) ([]string, error) {
	queues := w.words("a queue")
	return r.watch(w.wanted(r), func() ([]string, error) {
		var out []string
		for _, queue := range queues {
			out = append(out, r.countOne(s.client, queue))
		}
		return out, nil
	})
}

func (r *run) countOne(c *client, queue string) string {
	if c.probe == nil || c.probe.Err() != nil {
		ch, err := c.conn.Channel()
		if err != nil {
			return shown(queue) + " " + replyText(err)
		}
		c.probe = ch
	}
	st, err := c.probe.CheckQueue(queue)
	switch e, _ := err.(*leveret.Error); {
	case err == nil && st.Consumers == 0:
		return shown(queue) + "=" + strconv.Itoa(st.Messages)
	case err == nil:
		return shown(queue) + "=" + strconv.Itoa(st.Messages) + " consumers=" + strconv.Itoa(st.Consumers)
	case e != nil && e.Code == leveret.NotFound:
		c.probe = nil
		return shown(queue) + " gone"
	}
	c.probe = nil
	return shown(queue) + " " + replyText(err)
}

// replyText is what the broker said, however the client came to know.
func replyText(err error) string {
	if e := (*leveret.Error)(nil); errors.As(err, &e) {
		return e.Text()
	}
	return err.Error()
}

// shown writes a queue's name as it is, unless a line cannot hold it.
func shown(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return Quote(name)
	}
	return name
}

// closeChannel closes the session's channel.
func closeChannel(r *run, s *session, w *words) ([]string, error) {
	w.done()
	s.collect()
	err := s.ch.Close()
	s.ch = nil
	return nil, err
}
