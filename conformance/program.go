package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A program is a scenario in the making: statements that are run on the engine's Go API, on virtual time, as they are
// added. What they show is what the finished script expects. After each statement stand the looks that wait for
// its effects: a real broker works in the background.
type program struct {
	profile    leveret.Profile
	statements []string // as proposed; the script has the looks in addition

	driver  *scenario.Direct
	stage   *scenario.Stage
	effects *effects
	ready   map[string]int    // by queue, before the statement
	unacked map[string]int    // the same
	types   map[string]string // by queue, of all queues there have been
	former  map[string]bool   // queues that were deleted while channels held messages of theirs

	takers   map[string]map[string]bool // by queue: the channels that took messages
	formerly map[string]map[string]bool // the same of deleted queues

	subscribed map[string]leveret.ConsumerInfo // by tag, before the statement
	numberings map[string]*numbering           // by channel, if something of it is not known
	shown      []string                        // what the last statement itself showed, without the looks

	without string // an exclusion that does not hold
	met     bool   // it would have excluded a statement
	fell    string // the exclusion that the last statement fell under, empty: none
}

func newProgram(p leveret.Profile, without string) *program {
	g := &program{profile: p, without: without}
	g.reset()
	return g
}

func (g *program) reset() {
	if g.driver != nil {
		g.end()
	}
	g.statements = nil
	g.effects = &effects{}
	g.driver = scenario.NewDirect(g.profile, leveret.WithEvents(g.effects.events()))
	g.stage = scenario.NewStage("random", g.driver)
	g.effects.forget()
	g.ready, g.unacked = map[string]int{}, map[string]int{}
	g.types, g.subscribed = map[string]string{}, map[string]leveret.ConsumerInfo{}
	g.former = map[string]bool{}
	g.takers, g.formerly = map[string]map[string]bool{}, map[string]map[string]bool{}
	g.numberings = map[string]*numbering{}
}

func (g *program) end() {
	g.stage.Close()
	_ = g.driver.Close()
}

// concerned reports whether the program is of interest: one exclusion that does not hold, if there is one, would have
// changed it.
func (g *program) concerned() bool { return g.without == "" || g.met }

// rebuild runs statements from the beginning and returns how many of them apply.
func (g *program) rebuild(statements []string) int {
	g.reset()
	applied := 0
	for _, s := range statements {
		if _, ok := g.run(s); ok {
			applied++
		}
	}
	return applied
}

// add runs a statement, unless it does not apply or what it leads to is left to chance; then nothing has happened.
func (g *program) add(format string, args ...any) (seen []string, ok bool) {
	before := slices.Clone(g.statements)
	seen, ok = g.run(fmt.Sprintf(format, args...))
	if fell := g.fell; !ok && len(g.statements) != len(before) {
		g.rebuild(before)
		g.fell = fell
	}
	return seen, ok
}

// run is add, but the trace of an excluded statement is up to the caller.
func (g *program) run(statement string) (seen []string, ok bool) {
	g.effects.forget()
	g.fell = ""
	seen, err := g.stage.Do(statement)
	if err != nil {
		return nil, false
	}
	g.statements = append(g.statements, statement)
	if g.fell = g.excluded(); g.fell != "" {
		return seen, false
	}
	g.shown = seen
	g.noteTakers()
	g.forgetNumberings()
	return append(slices.Clone(seen), g.look()...), true
}

// look adds the statements that wait for the effects of the last one.
func (g *program) look() []string {
	var out []string
	hidden := g.hidden()
	ended := map[string]bool{} // connections: nothing more can be asked of their channels
	for _, u := range g.stage.Unseen() {
		if ended[connectionOf(u.Actor)] {
			continue
		}
		out = append(out, g.seeDeliveries(u.Actor, u.Consumers)...)
		if u.Notices {
			ended[connectionOf(u.Actor)] = slices.ContainsFunc(g.must("@%s notices", u.Actor), closesConnection)
		}
	}
	if hidden {
		g.must("advance 20ms")
	}
	for _, q := range g.queues() { // no event tells of a message that is rejected and waits to be dead-lettered
		if q.Unacked < g.unacked[q.Name] && !slices.Contains(g.effects.touched, q.Name) {
			g.effects.touched = append(g.effects.touched, q.Name)
		}
	}
	g.count(g.effects.touched)
	clear(g.ready)
	clear(g.unacked)
	for _, q := range g.queues() {
		g.ready[q.Name], g.unacked[q.Name] = q.Ready, q.Unacked
	}
	clear(g.subscribed)
	for _, c := range g.driver.Broker.Consumers() {
		g.subscribed[c.Tag] = c
	}
	return out
}

// count adds looks at queues; an exclusive queue is looked at over its owner's connection.
func (g *program) count(queues []string) {
	var shared, own, far []string
	for _, q := range queues {
		switch {
		case q == "": // of a direct reply
		case isFar(q):
			far = append(far, scenario.Quote(q))
		case isExclusive(q):
			own = append(own, scenario.Quote(q))
		default:
			shared = append(shared, scenario.Quote(q))
		}
	}
	if len(own) > 0 {
		g.must("@two.z count %s", strings.Join(own, " "))
	}
	if len(far) > 0 {
		g.must("@far.f count %s", strings.Join(far, " "))
	}
	if len(shared) > 0 {
		g.must("count %s", strings.Join(shared, " "))
	}
}

func (g *program) must(format string, args ...any) []string {
	seen, err := g.stage.Do(fmt.Sprintf(format, args...))
	if err != nil {
		panic(fmt.Sprintf(format, args...) + ": " + err.Error())
	}
	return seen
}

// hidden reports whether something happened to a queue that no count can show, while a quorum queue, whose effects
// are not ordered with the client's requests, had part in it.
func (g *program) hidden() bool {
	if len(g.effects.deaths) == 0 {
		return false
	}
	hidden, quorum := false, false
	for _, name := range g.effects.touched {
		q, err := g.driver.Broker.Queue(name)
		if err != nil {
			continue
		}
		i := q.Info()
		quorum = quorum || i.Type == "quorum"
		hidden = hidden || i.Ready == g.ready[name]
	}
	return hidden && quorum
}

func (g *program) queues() []leveret.QueueInfo { return g.driver.Broker.Queues() }

func (g *program) now() time.Time { return g.driver.Now() }

// finish adds what every program ends with: everything that is left, counted and shown.
func (g *program) finish() *scenario.Script {
	var names []string
	for _, q := range g.queues() {
		names = append(names, q.Name)
	}
	g.must("advance 20ms")
	g.count(names)
	for _, c := range g.driver.Broker.Consumers() {
		g.must("@%s deliveries %s numbered", actorOf(c.Tag), c.Tag)
	}
	for _, q := range names {
		g.drain(q)
	}
	s, err := scenario.Parse(g.stage.Script.Name, g.stage.Script.Text())
	if err != nil {
		panic(err) // a script reads what it writes
	}
	return s
}

// drain empties a queue. Of what expires behind the messages taken, dead letters may reach consumers: those are looked at, because a
// broker sends them a little later.
func (g *program) drain(queue string) {
	g.effects.forget()
	if isExclusive(queue) {
		g.must("@two.z drain %s", scenario.Quote(queue))
	} else {
		g.must("@z drain %s", scenario.Quote(queue))
	}
	var reached []string
	for _, m := range g.effects.messages {
		if !slices.Contains(reached, m.tag) {
			reached = append(reached, m.tag)
			g.must("@%s deliveries %s numbered", actorOf(m.tag), m.tag)
		}
	}
}

// A consumer's tag tells the channel that it is on: k1_3 is the third of channel k1.
func actorOf(tag string) string {
	channel, _, _ := strings.Cut(tag, "_")
	for conn, channels := range connections {
		if strings.HasPrefix(channel, channels) {
			return conn + "." + channel
		}
	}
	return channel
}

// connections are those of programs apart from the first, and how the names of their channels begin.
var connections = map[string]string{"two": "o", "pat": "u", "lou": "v", "three": "e", "far": "f", "gus": "h", "sam": "s"}

// Exclusive queues belong to the connection two and are named so.
func isExclusive(queue string) bool { return strings.HasPrefix(queue, "own") }

// Queues of the second virtual host are named so.
func isFar(queue string) bool { return strings.HasPrefix(queue, "far") }
