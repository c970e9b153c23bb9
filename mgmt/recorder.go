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
func (r *recorder) ask() {
	r.mu.Lock()
	r.asked = time.Now()
	idle := r.timer == nil
	if idle {
		r.courses = map[subject]*course{}
		r.timer = time.AfterFunc(interval, r.tick)
	}
	r.mu.Unlock()
	if idle {
		r.record(time.Now(), r.take())
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

// copyOf returns what is known of one figure of a subject: the times and the values.
func (r *recorder) copyOf(s subject, f figure) (known history) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.courses[s]
	if c == nil {
		return nil
	}
	for _, p := range c.points {
		known = append(known, moment{p.at, p.figures[f]})
	}
	return known
}

// A history is one figure's course.
type history []moment

type moment struct {
	at    time.Time
	value int64
}

// at returns the value at a time, or the first one that is known; false: nothing is known.
func (h history) at(t time.Time) (moment, bool) {
	if len(h) == 0 {
		return moment{}, false
	}
	i, found := slices.BinarySearchFunc(h, t, func(m moment, t time.Time) int { return m.at.Compare(t) })
	if !found {
		i--
	}
	if i < 0 {
		return h[0], true
	}
	return moment{t, h[i].value}, true
}

// rate returns how fast a figure that is now value has changed over the last seconds, per second.
func (h history) rate(now time.Time, value int64) float64 {
	before, ok := h.at(now.Add(-rateOver))
	elapsed := now.Sub(before.at).Seconds()
	if !ok || elapsed <= 0 {
		return 0
	}
	return float64(value-before.value) / max(elapsed, interval.Seconds())
}
