package scenario

import (
	"errors"
	"time"
)

// DefaultDowntime is how long a broker is down when its script does not say.
const DefaultDowntime = 10 * time.Second

// restart [killed] [DURATION] stops the broker, or kills it, and starts it again when the duration is over. Every connection ends.
func restart(r *run, s *session, w *words) ([]string, error) {
	killed, down := w.flag("killed"), DefaultDowntime
	if len(w.pos) > 0 {
		down = w.duration()
	}
	w.done()
	d, can := r.driver.(Restarter)
	if !can {
		return nil, errors.ErrUnsupported
	}
	if err := d.Restart(killed, down); err != nil {
		return nil, err
	}
	for _, name := range sortedNames(r.conns) {
		if c := r.conns[name]; c.conn != nil {
			conn := c.conn
			if !killed {
				r.awaitEnd(conn)
			}
			r.drop(c)
			_ = conn.Close() // what is left of it here
		}
	}
	return nil, nil
}

// awaitEnd returns when the client has learned of its connection's end.
func (r *run) awaitEnd(c Conn) {
	for deadline := time.Now().Add(r.driver.MaxDelay()); c.Err() == nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}
