package scenario

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// A real broker does its work after it has answered. When nothing is expected, a statement has shown everything
// once nothing new has appeared for the time quiet. In a script that lets time pass it is quietTimed: after a
// longer wait, what happens later would be shown too.
const (
	quiet      = 350 * time.Millisecond
	quietTimed = 80 * time.Millisecond
)

// A run is one execution of a script.
type run struct {
	driver    Driver
	release   string
	recording bool // the script expects nothing yet: look until nothing changes
	skipping  bool // pass over what the driver cannot ask
	quiet     time.Duration
	replyTo   string   // of the message received last
	frames    []string // what the connections that have ended received
	conns     map[string]*client
	queueOf   map[string]string // what a consumer tag consumes from
	render    renderer
}

// A client is one connection with its channels.
type client struct {
	login    Login
	conn     Conn
	probe    Channel // for counts
	channels map[string]*session
}

// A session is a channel under the name that a script gives it. It outlives the channels that errors close.
type session struct {
	client *client
	ch     Channel
	tags   map[string]uint64 // the latest delivery of each body
	inbox  []Event
}

// Run executes a script and returns what it showed. The error says that the run itself failed.
func Run(s *Script, d Driver) (*Log, error) { return newRun(d).execute(s, toTheEnd) }

// Compare executes a script until it shows something else than it expects; the log ends there. What the driver cannot ask
// is passed over.
func Compare(s *Script, d Driver) (*Log, error) {
	r := newRun(d)
	r.skipping = true
	return r.execute(s, func(_ *Log, e Entry) bool { return slices.Equal(e.Got, e.Step.want[r.release]) })
}

// Explore executes a script whose expectations are not known: it looks at the broker until nothing changes.
func Explore(s *Script, d Driver) (*Log, error) {
	r := newRun(d)
	r.recording = true
	return r.execute(s, toTheEnd)
}

// Play executes a script and calls each with what a statement showed, as soon as it is known and until each returns
// false. A script that expects nothing is explored.
func Play(s *Script, d Driver, each func(*Log, Entry) bool) (*Log, error) {
	r := newRun(d)
	r.recording = !s.Expects()
	return r.execute(s, each)
}

func toTheEnd(*Log, Entry) bool { return true }

func newRun(d Driver) *run {
	r := &run{driver: d, release: Releases[d.Profile()], conns: map[string]*client{}, queueOf: map[string]string{},
		quiet: quiet}
	r.render = renderer{release: r.release, vhost: d.VHost(), started: d.Now()}
	return r
}

// execute runs the statements that are for the release, until goOn returns false for what one showed.
func (r *run) execute(s *Script, goOn func(*Log, Entry) bool) (*Log, error) {
	if s.Timed() {
		r.quiet = quietTimed
	}
	l := &Log{Script: s, Release: r.release}
	defer r.close()
	for _, st := range s.Steps {
		if !st.isFor(r.release) {
			continue
		}
		got, err := r.step(st)
		if r.skipping && errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return l, fmt.Errorf("%s:%d: %w", s.Name, st.Line, err)
		}
		l.Entries = append(l.Entries, Entry{st, got})
		if !goOn(l, Entry{st, got}) {
			break
		}
	}
	for _, name := range sortedNames(r.conns) {
		r.keepFrames(name)
	}
	l.Frames = r.frames
	return l, nil
}

// keepFrames adds what a connection has received to the run's frames. The name of the virtual host, and those that the
// broker made up, are not compared.
func (r *run) keepFrames(name string) {
	conn, ok := r.conns[name].conn.(Framed)
	if !ok {
		return
	}
	for _, l := range conn.Frames() {
		r.frames = append(r.frames, "connection "+name+" "+hideGenerated(r.render.plain(l)))
	}
}

func (r *run) close() {
	for _, c := range r.conns {
		if c.conn != nil {
			_ = c.conn.Close()
		}
	}
}

// step executes one statement. A refusal is an observation.
func (r *run) step(st *Step) (got []string, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case scriptError:
			err = errors.New(string(p))
		default:
			panic(p)
		}
	}()
	s, refused := r.session(st.Actor)
	if refused == nil {
		got, refused = verbs[st.Verb](r, s, newWords(st, r.replyTo))
	}
	if errors.Is(refused, errors.ErrUnsupported) { // by the driver, not by the broker
		return nil, refused
	}
	if refused != nil {
		got = append(got, r.refusal(s, refused)...)
	}
	for i := range got {
		got[i] = hideGenerated(got[i])
	}
	return got, nil
}

// A scriptError is a mistake in the script.
type scriptError string

func fail(format string, args ...any) { panic(scriptError(fmt.Sprintf(format, args...))) }

// session returns the named channel, open.
func (r *run) session(actor string) (*session, error) {
	connName, chName, ok := strings.Cut(actor, ".")
	if !ok {
		connName, chName = "", actor
	}
	c := r.client(connName)
	s := c.channels[chName]
	if s == nil {
		s = &session{client: c}
		c.channels[chName] = s
	}
	if c.conn == nil {
		conn, err := r.driver.Connect(c.login)
		if err != nil {
			return s, err
		}
		c.conn = conn
	}
	if s.ch == nil {
		ch, err := c.conn.Channel()
		if err != nil {
			return s, err
		}
		s.ch, s.tags = ch, map[string]uint64{}
	}
	return s, nil
}

func (r *run) client(name string) *client {
	c := r.conns[name]
	if c == nil {
		c = &client{channels: map[string]*session{}}
		r.conns[name] = c
	}
	return c
}

// refusal writes what the broker refused and forgets what it closed.
func (r *run) refusal(s *session, err error) []string {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return []string{"failed: " + err.Error()}
	}
	s.collect()
	c := s.client
	// The channel may belong to a connection that the client had before: the error knows best what has ended.
	if c.conn == nil || e.Connection || c.conn.Err() != nil {
		r.drop(c)
		return []string{r.render.failure(e, "connection")}
	}
	if s.ch != nil && s.ch.Err() != nil {
		s.ch = nil
		return []string{r.render.failure(e, "channel")}
	}
	return []string{r.render.failure(e, "nothing")}
}

// drop forgets a connection that has ended; what was received stays.
func (r *run) drop(c *client) {
	for name, other := range r.conns {
		if other == c {
			r.keepFrames(name)
		}
	}
	for _, s := range c.channels {
		s.collect()
		s.ch = nil
	}
	c.conn, c.probe = nil, nil
}

// collect takes over what the broker sent.
func (s *session) collect() {
	if s.ch == nil {
		return
	}
	for _, e := range s.ch.Take() {
		if d := e.Delivery; d != nil {
			// A client may receive what different consumers got in another order: the latest is that with the highest tag.
			s.tags[string(d.Body)] = max(s.tags[string(d.Body)], d.Tag)
		}
		s.inbox = append(s.inbox, e)
	}
}

// watch calls look until it returns what is wanted or, when recording, until what it returns does not change
// any more. It gives up after the driver's MaxDelay. look returns all that has been seen since its first call.
func (r *run) watch(want []string, look func() ([]string, error)) ([]string, error) {
	maxDelay := r.driver.MaxDelay()
	deadline := time.Now().Add(maxDelay)
	changed := time.Now()
	var last []string
	for {
		got, err := look()
		got = slices.Clone(got)
		for i := range got {
			got[i] = hideGenerated(got[i])
		}
		if err != nil || maxDelay == 0 {
			return got, err
		}
		now := time.Now()
		if !slices.Equal(got, last) {
			changed, last = now, got
		}
		if !r.recording && slices.Equal(got, want) || r.recording && now.Sub(changed) > r.quiet || now.After(deadline) {
			return got, nil
		}
		time.Sleep(8 * time.Millisecond)
	}
}

func (w *words) wanted(r *run) []string { return w.step.want[r.release] }

// sortedNames returns the keys of a map in order.
func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
