package mgmt

import (
	"slices"
	"sync"
	"time"
)

// The recorder keeps figures of the last minutes, of which rates and samples are made. It takes them once a second while
// somebody asks, and for a minute after that. Without questions it has no timer and no figures.

const (
	interval = time.Second      // between two snapshots
	patience = time.Minute      // how long the recorder goes on after the last question
	window   = 10 * time.Minute // how long it remembers
	rateOver = 5 * time.Second  // what a rate is the mean of
	recent   = 10               // how many points are kept with all that came between; older ones are rateOver apart
)

// A recorder has a course for each subject.
type recorder struct {
	take func() map[subject]figures

	mu      sync.Mutex
	asked   time.Time
	timer   *time.Timer // nil: nobody has asked for a minute
	courses map[subject]*course
}

// A course is what the figures of one subject were, from its first snapshot on. A point is there only where something
// changed, so that what is idle takes no memory.
type course struct {
	points []point
	seen   time.Time // of the last snapshot that had the subject
}

// A point holds from its time to that of the next.
type point struct {
	at time.Time
	figures
}

// ask tells the recorder that somebody wants rates.
func (r *recorder) ask(now time.Time) {
	r.mu.Lock()
	r.asked = now
	idle := r.timer == nil
	if idle {
		r.courses = map[subject]*course{}
		r.timer = time.AfterFunc(interval, r.tick)
	}
	r.mu.Unlock()
	if idle {
		r.record(now, r.take())
	}
}

// tick takes a snapshot, or ends the recording if nobody has asked for long.
func (r *recorder) tick() {
	all := r.take()
	now := time.Now()
	r.mu.Lock()
	forgotten := now.Sub(r.asked) > patience
	if forgotten {
		r.timer, r.courses = nil, nil
	} else {
		r.timer.Reset(interval)
	}
	r.mu.Unlock()
	if !forgotten {
		r.record(now, all)
	}
}

// forget begins anew with what is known at the next snapshot.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.courses)
}

func (r *recorder) record(now time.Time, all map[subject]figures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.courses == nil {
		return
	}
	for s, f := range all {
		if r.courses[s] == nil {
			r.courses[s] = &course{}
		}
		r.courses[s].add(point{now, f})
	}
	for s, c := range r.courses {
		if c.seen.Before(now) {
			delete(r.courses, s)
		}
	}
}

func (c *course) add(p point) {
	c.seen = p.at
	if last := len(c.points) - 1; last >= 0 && c.points[last].figures == p.figures {
		return
	}
	c.points = append(c.points, p)
	if old := len(c.points) - recent - 1; old > 0 && c.points[old].at.Sub(c.points[old-1].at) < rateOver {
		c.points = slices.Delete(c.points, old, old+1)
	}
	// The first point is in force until the second, so it goes when the second is old, too.
	if len(c.points) > 2 && p.at.Sub(c.points[1].at) > window {
		c.points = slices.Delete(c.points, 0, 1)
	}
}

// rate returns how fast a figure has changed over the last seconds, per second.
func (r *recorder) rate(s subject, f figure, now moment) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.courses[s]
	if c == nil {
		return 0
	}
	before := c.at(now.at.Add(-rateOver))
	elapsed := now.at.Sub(before.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(now.value-before.figures[f]) / max(elapsed, interval).Seconds()
}

// idleSince returns when the figures of a subject changed last, or were looked at first if they have not changed since. It is not
// known if they have changed since the last snapshot, or were looked at for a moment only.
func (r *recorder) idleSince(s subject, now figures) (since time.Time, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.courses[s]
	if c == nil {
		return time.Time{}, false
	}
	last := c.points[len(c.points)-1]
	hasChanged := len(c.points) > 1
	return last.at, last.figures == now && (hasChanged || time.Since(last.at) >= rateOver)
}

// at returns what the figures were at a time: the first that are known for a time before.
func (c *course) at(t time.Time) point {
	i, found := slices.BinarySearchFunc(c.points, t, func(p point, t time.Time) int { return p.at.Compare(t) })
	switch {
	case found:
		return c.points[i]
	case i == 0:
		return c.points[0]
	}
	return point{t, c.points[i-1].figures}
}

// A history is what one figure was.
type history []moment

type moment struct {
	at    time.Time
	value int64
}

// history returns what is known of one figure of a subject.
func (r *recorder) history(s subject, f figure) (known history) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.courses[s]; c != nil {
		for _, p := range c.points {
			known = append(known, moment{p.at, p.figures[f]})
		}
	}
	return known
}

// at returns the value at a time, which must not be before the first.
func (h history) at(t time.Time) int64 {
	i, found := slices.BinarySearchFunc(h, t, func(m moment, t time.Time) int { return m.at.Compare(t) })
	if !found {
		i--
	}
	return h[i].value
}
