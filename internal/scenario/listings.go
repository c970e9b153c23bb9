package scenario

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret"
)

// What an operator lists.

// limits shows the limits of the virtual host that are set.
func limits(r *run, s *session, w *words) ([]string, error) {
	w.done()
	l, err := r.driver.VHostLimits()
	if err != nil {
		return r.outcome(err)
	}
	var out []string
	for _, limit := range []struct {
		name string
		n    int
	}{{"max-connections", l.MaxConnections}, {"max-queues", l.MaxQueues}} {
		if limit.n != leveret.NoLimit {
			out = append(out, limit.name+"="+strconv.Itoa(limit.n))
		}
	}
	return out, nil
}

// consumers QUEUE shows a queue's consumers with their arguments as given: in the client's order, and with names twice.
func consumers(r *run, s *session, w *words) ([]string, error) {
	queue := w.word("a queue")
	w.done()
	return r.watch(w.wanted(r), func() ([]string, error) {
		list, err := r.driver.Consumers(queue)
		if err != nil {
			return r.outcome(err)
		}
		slices.SortFunc(list, func(a, b ConsumerView) int { return cmp.Compare(a.Tag, b.Tag) })
		var out []string
		for _, c := range list {
			text := c.Tag
			if len(c.Arguments) > 0 {
				text += " " + plainFields(c.Arguments)
			}
			out = append(out, text)
		}
		return out, nil
	})
}

// atFault says what of topic permissions the broker refuses. Consoles word it in different ways; their drivers return the
// engine's codes, and the name of a missing exchange.
func (r *run) atFault(err error, exchange string) ([]string, error) {
	var e *leveret.Error
	switch {
	case !errors.As(err, &e):
		return nil, err
	case e.Code == leveret.PreconditionFailed:
		return []string{"refused: expression"}, nil
	case e.Name == exchange:
		return []string{"refused: exchange"}, nil
	}
	return []string{"refused: user"}, nil
}
