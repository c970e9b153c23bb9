package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/require"
)

// mustDeclareExchange declares an exchange.
func mustDeclareExchange(t *testing.T, b *leveret.Broker, name string, kind leveret.ExchangeType, cfg leveret.ExchangeConfig) {
	t.Helper()
	_, err := b.DeclareExchange(name, kind, cfg)
	require.NoError(t, err)
}

// explicitBindings lists the bindings without those of the default exchange.
func explicitBindings(b *leveret.Broker) (list []string) {
	for _, i := range b.Bindings() {
		if i.Source != "" {
			list = append(list, bindingText(i))
		}
	}
	return list
}

func bindingText(i leveret.BindingInfo) string {
	return fmt.Sprint(i.Source, " ", i.DestinationType, " ", i.Destination, " ", i.RoutingKey, " ", i.Arguments)
}

// gone is the name of a queue or an exchange that is deleted.
const gone = "gone"

// An ending is a broker with many bindings from the exchange "source" to one destination, which end with one of the two. All
// route a message without a routing key.
type ending struct {
	*leveret.Broker
	ch          *leveret.Channel
	kind        leveret.ExchangeType // of the source
	to          leveret.DestinationType
	destination string
	end         func() error
}

// eachEnding runs a test for the end of many bindings with their queue, with the exchange that is their destination, and
// with their source; for sources of each type. What is not routed goes to the queue "else".
func eachEnding(t *testing.T, f func(t *testing.T, e *ending)) {
	for _, kind := range []leveret.ExchangeType{leveret.Direct, leveret.Fanout, leveret.Topic, leveret.Headers, leveret.LocalRandom, leveret.ModulusHash} {
		for _, with := range []string{"queue", "destination", "source"} {
			if kind == leveret.LocalRandom && with == "destination" {
				continue // such an exchange has no such bindings
			}
			t.Run(fmt.Sprint(kind, "/", with), func(t *testing.T) { f(t, newEnding(t, kind, with)) })
		}
	}
}

func newEnding(t *testing.T, kind leveret.ExchangeType, with string) *ending {
	t.Helper()
	b, _ := newTestBroker(t)
	e := &ending{Broker: b, ch: mustChannel(t, b), kind: kind, to: leveret.DestinationQueue, destination: gone}
	switch with {
	case "queue":
		e.end = func() error { _, err := b.DeleteQueue(gone, leveret.DeleteConfig{}); return err }
	case "destination":
		e.to = leveret.DestinationExchange
		e.end = func() error { return b.DeleteExchange(gone, leveret.DeleteConfig{}) }
	case "source":
		e.destination = "kept"
		e.end = func() error { return b.DeleteExchange("source", leveret.DeleteConfig{}) }
	}
	mustDeclareExchange(t, b, "alternate", leveret.Fanout, leveret.ExchangeConfig{})
	mustDeclare(t, b, "else", nil)
	require.NoError(t, b.BindQueue("else", "alternate", "", nil))
	e.declare(t)
	e.each(t, e.ch.Bind)
	return e
}

// declare declares what is bound.
func (e *ending) declare(t *testing.T) {
	t.Helper()
	mustDeclareExchange(t, e.Broker, "source", e.kind, leveret.ExchangeConfig{Arguments: leveret.Table{"alternate-exchange": "alternate"}})
	if e.to == leveret.DestinationQueue {
		mustDeclare(t, e.Broker, e.destination, nil)
		return
	}
	mustDeclareExchange(t, e.Broker, e.destination, leveret.Fanout, leveret.ExchangeConfig{})
	mustDeclare(t, e.Broker, "behind", nil)
	require.NoError(t, e.BindQueue("behind", e.destination, "", nil))
}

// each does something with each of the many bindings.
func (e *ending) each(t *testing.T, act func(leveret.Binding) error) {
	t.Helper()
	for n := range manySteps {
		require.NoError(t, act(e.binding(n)))
	}
}

func (e *ending) binding(n int) leveret.Binding {
	args := leveret.Fields{{Name: "n", Value: n}}
	if e.kind == leveret.Headers {
		args = append(args, leveret.Field{Name: "x-match", Value: "any"}, leveret.Field{Name: "x", Value: "y"})
	}
	return leveret.Binding{Source: "source", Destination: e.destination, DestinationType: e.to, Arguments: args}
}

// ofSource lists the bindings of the source.
func (e *ending) ofSource() (list []string) {
	for _, text := range explicitBindings(e.Broker) {
		if strings.HasPrefix(text, "source ") {
			list = append(list, text)
		}
	}
	return list
}

// meanwhile runs the end of the bindings in short turns, and f whenever others get in.
func (e *ending) meanwhile(t *testing.T, f func(times int)) {
	t.Helper()
	shortTurns(t)
	times, inside := 0, false
	turns.SetBetween(func() {
		if !inside { // f lets others in, too
			inside = true
			f(times)
			times++
			inside = false
		}
	})
	defer turns.SetBetween(nil)
	require.NoError(t, e.end())
	require.Greater(t, times, 7, "others did not get in")
}

// publish publishes to the source and returns where the message went: the number of queues, and what "else" has got.
func (e *ending) publish(t *testing.T) (queues, elsewhere int) {
	t.Helper()
	out, err := e.Publish("source", "", leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"x": "y"}}})
	require.NoError(t, err)
	n, err := e.PurgeQueue("else")
	require.NoError(t, err)
	return out.Queues, n
}

// Bindings do not go in one go with their exchange or their queue. Others see none of them while they go.
func TestEndOfBindingsLetsOthersIn(t *testing.T) {
	eachEnding(t, func(t *testing.T, e *ending) {
		require.Len(t, e.ofSource(), manySteps)
		e.meanwhile(t, func(int) {
			require.NoError(t, e.Check())
			require.Empty(t, e.ofSource())
			if _, err := e.Exchange("source"); err == nil {
				queues, elsewhere := e.publish(t)
				require.Equal(t, [2]int{1, 1}, [2]int{queues, elsewhere}, "what is not routed goes to the alternate exchange")
			}
		})
		require.NoError(t, e.Check())
		require.Empty(t, e.ofSource())
	})
}

// While bindings end, messages go by those that stay.
func TestOtherBindingsRouteWhileBindingsEnd(t *testing.T) {
	eachEnding(t, func(t *testing.T, e *ending) {
		if e.destination != gone {
			return // they all end with their source
		}
		mustDeclare(t, e.Broker, "stays", nil)
		other := e.binding(0)
		other.Destination, other.DestinationType = "stays", leveret.DestinationQueue
		require.NoError(t, e.ch.Bind(other))
		e.publish(t) // and the exchange knows the order of its destinations
		_, err := e.PurgeQueue("stays")
		require.NoError(t, err)
		published := 0
		e.meanwhile(t, func(int) {
			queues, elsewhere := e.publish(t)
			published++
			require.Equal(t, [2]int{1, 0}, [2]int{queues, elsewhere})
		})
		require.Equal(t, published, mustQueue(t, e.Broker, "stays").Info().Ready)
	})
}

// What comes under the name of what has gone has nothing of it. Its bindings may be the very same, and they last. Those of
// before cannot be unbound, nor does an exchange count as used for them.
func TestNameIsUsedAgainWhileBindingsEnd(t *testing.T) {
	for name, deleteSource := range map[string]bool{"source stays": false, "source goes": true} {
		t.Run(name, func(t *testing.T) {
			eachEnding(t, func(t *testing.T, e *ending) {
				m := newMirror(e.Broker)
				e.meanwhile(t, func(times int) {
					switch times {
					case 0:
						e.each(t, e.ch.Unbind)
						if deleteSource {
							require.NoError(t, e.DeleteExchange("source", leveret.DeleteConfig{IfUnused: true}))
						}
						e.declare(t)
						require.Empty(t, e.ofSource())
						e.each(t, e.ch.Bind)
					case 5:
						require.NoError(t, e.ch.Unbind(e.binding(0)))
						require.ErrorIs(t, e.DeleteExchange("source", leveret.DeleteConfig{IfUnused: true}), leveret.ErrPreconditionFailed)
						require.Len(t, e.ofSource(), manySteps-1)
					}
					require.NoError(t, e.Check())
				})
				require.Len(t, e.ofSource(), manySteps-1)
				queues, elsewhere := e.publish(t)
				require.Equal(t, [2]int{1, 0}, [2]int{queues, elsewhere})
				require.ElementsMatch(t, explicitBindings(e.Broker), m.bindings())
			})
		})
	}
}

// The other side may go, too, while bindings end, and so may the virtual host. Each binding ends once.
func TestAllGoesWhileBindingsEnd(t *testing.T) {
	for name, act := range map[string]func(e *ending) error{
		"source": func(e *ending) error { return e.DeleteExchange("source", leveret.DeleteConfig{}) },
		"destination": func(e *ending) error {
			if e.to == leveret.DestinationExchange {
				return e.DeleteExchange(e.destination, leveret.DeleteConfig{})
			}
			_, err := e.DeleteQueue(e.destination, leveret.DeleteConfig{})
			return err
		},
		"virtual host": func(e *ending) error { return e.DeleteVHost("/") },
		"broker":       func(e *ending) error { return e.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			eachEnding(t, func(t *testing.T, e *ending) {
				m := newMirror(e.Broker)
				require.Greater(t, len(m.bindings()), manySteps)
				e.meanwhile(t, func(times int) {
					if times == 7 {
						require.NoError(t, act(e))
					}
				})
				require.NoError(t, e.Check())
				require.Less(t, len(m.bindings()), 3, "all but those of the other exchanges")
				require.Empty(t, m.bad)
			})
		})
	}
}

// A mirror knows the bindings from the events.
type mirror struct {
	mu  sync.Mutex
	all map[string]bool
	bad []string // events that cannot be
}

func newMirror(b *leveret.Broker) *mirror {
	m := &mirror{all: map[string]bool{}}
	for _, text := range explicitBindings(b) {
		m.all[text] = true
	}
	b.Watch(leveret.Events{
		Bound:   func(e leveret.BindingEvent) { m.set(e, true) },
		Unbound: func(e leveret.BindingEvent) { m.set(e, false) },
	})
	return m
}

func (m *mirror) set(e leveret.BindingEvent, bound bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := bindingText(e.Binding)
	if m.all[text] == bound {
		m.bad = append(m.bad, fmt.Sprint(text, " bound: ", bound))
	}
	m.all[text] = bound
}

// bindings lists what is bound, and the events that cannot be.
func (m *mirror) bindings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.bad
	for text, bound := range m.all {
		if bound {
			list = append(list, text)
		}
	}
	return list
}

// The events come in one order, however long a turn is: what goes with its last binding goes right after that.
func TestEventsOfEndedBindings(t *testing.T) {
	var want []string
	for n := range manySteps {
		want = append(want, "unbound kept gone", fmt.Sprintf("unbound last%d gone", n),
			fmt.Sprintf("unbound kept last%d", n), fmt.Sprintf("exchange deleted last%d", n))
	}
	want = append(want, "unbound chain2 gone", "unbound chain1 chain2", "exchange deleted chain2", "exchange deleted chain1",
		"queue deleted gone")
	for name, turns := range map[string]func(*testing.T){"long": func(*testing.T) {}, "short": shortTurns} {
		t.Run(name, func(t *testing.T) {
			turns(t)
			require.Equal(t, want, eventsOfEnd(t))
		})
	}
}

func eventsOfEnd(t *testing.T) (told []string) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, gone, nil)
	mustDeclareExchange(t, b, "kept", leveret.Direct, leveret.ExchangeConfig{})
	for n := range manySteps {
		last := fmt.Sprint("last", n)
		mustDeclareExchange(t, b, last, leveret.Direct, leveret.ExchangeConfig{AutoDelete: true})
		require.NoError(t, b.BindExchange(last, "kept", "", nil))
		require.NoError(t, b.BindQueue(gone, "kept", last, nil))
		require.NoError(t, b.BindQueue(gone, last, "", nil))
	}
	for _, name := range []string{"chain1", "chain2"} {
		mustDeclareExchange(t, b, name, leveret.Direct, leveret.ExchangeConfig{AutoDelete: true})
	}
	require.NoError(t, b.BindExchange("chain2", "chain1", "", nil))
	require.NoError(t, b.BindQueue(gone, "chain2", "", nil))
	b.Watch(leveret.Events{
		Unbound: func(e leveret.BindingEvent) {
			told = append(told, "unbound "+e.Binding.Source+" "+e.Binding.Destination)
		},
		ExchangeDeleted: func(e leveret.ExchangeEvent) { told = append(told, "exchange deleted "+e.Exchange) },
		QueueDeleted:    func(e leveret.QueueEvent) { told = append(told, "queue deleted "+e.Queue) },
	})
	_, err := b.DeleteQueue(gone, leveret.DeleteConfig{})
	require.NoError(t, err)
	return told
}

// With many goroutines that declare, bind, unbind, delete and publish under the same few names, what is bound in the end is what the
// events have told, one by one.
func TestBindingsAtOnceInShortTurns(t *testing.T) {
	shortTurns(t)
	for seed := range uint64(max(scaled(20), 4)) {
		b, _ := newTestBroker(t)
		m := newMirror(b)
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() {
				s := &bindingStress{b: b, r: rand.New(rand.NewPCG(seed, g))}
				for range max(scaled(5000), 500) {
					s.step()
				}
			})
		}
		wg.Wait()
		b.Settle()
		require.NoError(t, b.Check())
		require.ElementsMatch(t, explicitBindings(b), m.bindings())
	}
}

// bindingStress operates on four exchanges and three queues. What it asks for may be refused.
type bindingStress struct {
	b *leveret.Broker
	r *rand.Rand
}

var stressKinds = []leveret.ExchangeType{leveret.Direct, leveret.Topic, leveret.Headers, leveret.ModulusHash}

func (s *bindingStress) exchange() string { return fmt.Sprint("x", s.r.IntN(4)) }
func (s *bindingStress) queue() string    { return fmt.Sprint("q", s.r.IntN(3)) }
func (s *bindingStress) key() string      { return fmt.Sprint("k", s.r.IntN(40)) }

func (s *bindingStress) step() {
	switch n := s.r.IntN(60); {
	case n < 4:
		i := s.r.IntN(len(stressKinds))
		s.b.DeclareExchange(fmt.Sprint("x", i), stressKinds[i], leveret.ExchangeConfig{AutoDelete: s.r.IntN(2) == 0})
	case n < 8:
		s.b.DeclareQueue(s.queue(), leveret.QueueConfig{Durable: true})
	case n == 8:
		s.b.DeleteExchange(s.exchange(), leveret.DeleteConfig{IfUnused: s.r.IntN(2) == 0})
	case n == 9:
		s.b.DeleteQueue(s.queue(), leveret.DeleteConfig{})
	case n < 15:
		s.b.UnbindQueue(s.queue(), s.exchange(), s.key(), nil)
	case n < 17:
		s.b.UnbindExchange(s.exchange(), s.exchange(), s.key(), nil)
	case n < 30:
		s.b.Publish(s.exchange(), s.key(), leveret.Message{})
	case n < 40:
		s.b.BindExchange(s.exchange(), s.exchange(), s.key(), nil)
	default:
		s.b.BindQueue(s.queue(), s.exchange(), s.key(), nil)
	}
}
