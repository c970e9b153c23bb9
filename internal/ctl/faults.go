package ctl

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/fault"
)

// Faults are for tests in any language: what leverettest.Inject does for those in Go. RabbitMQ has no such commands.

// Faults are those that commands have put between a broker and its clients.
type Faults struct {
	mu     sync.Mutex
	last   int
	lifted bool                // no more are taken
	lift   map[int]func()      // of those that are in force
	text   map[int]*faultWords // as they were asked for
}

// faultWords are a fault as list_faults shows it.
type faultWords struct {
	on, do, match string
	nth           int
	keep          bool
}

var faultPoints = map[string]fault.Point{
	"publish": fault.OnPublish, "confirm": fault.OnConfirm, "deliver": fault.OnDeliver, "ack": fault.OnAck,
}

var faultKinds = map[string]fault.Kind{
	"nack": fault.Nack, "cut": fault.Cut, "close_channel": fault.CloseChannel, "close_connection": fault.CloseConnection,
	"block": fault.Block, "cancel_consumer": fault.CancelConsumer, "stall": fault.Stall,
	"restart": fault.Restart, "kill_node": fault.KillNode,
}

const faultNote = `A fault meets the nth message on its way (the first if not given) that has what the options name: of a
publish what comes from its client, of a confirm and an ack the message that is confirmed or settled, of a
delivery what the broker sends. With --keep it meets each message from then on. It is in force until
lift_fault. Prints the number of the fault.

What the message was to bring does not arrive: nack refuses it to its publisher, cut ends the connection,
close_channel and close_connection end what their name says, with --code and --text. stall lets nothing
more through. restart and kill_node restart the broker, which was stopped or killed. The others leave the message
alone: block raises the memory alarm, cancel_consumer ends the consumer that gets it. lift_fault ends what lasts, too.

Needs leveret serve --faults.`

func faultCommands() []*command {
	return []*command{
		{
			name: "fault", offline: true,
			usage: "fault [--nth <n>] [--keep] [--exchange <exchange>] [--routing-key <key>] [--message-id <id>] [--body <body>] " +
				"[--code <code>] [--text <text>] <publish|confirm|deliver|ack> " +
				"<nack|cut|close_channel|close_connection|block|cancel_consumer|stall|restart|kill_node>",
			about: "Puts a fault between the broker and its clients.", note: faultNote, min: 2, max: 2,
			switches: map[string]kind{"nth": integer, "keep": boolean, "exchange": text, "routing-key": text, "message-id": text,
				"body": text, "code": integer, "text": text},
			validate: validateFault, run: injectFault,
			banner: func(c *call) string { return "Injecting a fault: " + c.args[1] + " at " + c.args[0] + " ..." },
		},
		{
			name: "lift_fault", offline: true, usage: "lift_fault <number|all>", about: "Ends a fault, and what it has blocked or stalled.", min: 1, max: 1,
			validate: validateLift, run: liftFault,
			banner: func(c *call) string { return "Lifting fault " + c.args[0] + " ..." },
		},
		{
			name: "list_faults", offline: true, usage: "list_faults [--no-table-headers]", about: "Lists the faults that are in force.", table: true,
			run: listFaults, banner: func(*call) string { return "Listing faults ..." },
		},
	}
}

func validateFault(c *call) error {
	if _, ok := faultPoints[c.args[0]]; !ok {
		return badArgument("'" + c.args[0] + "' is not one of " + wordsOf(faultPoints))
	}
	if _, ok := faultKinds[c.args[1]]; !ok {
		return badArgument("'" + c.args[1] + "' is not one of " + wordsOf(faultKinds))
	}
	if n, given := c.options["nth"]; given && c.number("nth") < 1 {
		return badArgument("--nth is " + n + ", and is counted from 1")
	}
	const most = 1<<16 - 1
	if n := c.number("code"); n < 0 || n > most {
		return badArgument("--code is " + c.options["code"] + ", and no code of AMQP")
	}
	return nil
}

func wordsOf[V any](of map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

func (n *Node) faultsOf() (*Faults, error) {
	if n.Faults == nil {
		return nil, failed(exitUnavailable, "this node takes no faults: start it with leveret serve --faults, or set control.Config.Faults")
	}
	return n.Faults, nil
}

func injectFault(c *call) (result, error) {
	f, err := c.node.faultsOf()
	if err != nil {
		return result{}, err
	}
	number, err := f.inject(c)
	if err != nil {
		return result{}, failed(exitData, err.Error())
	}
	return result{message: strconv.Itoa(number)}, nil
}

func (f *Faults) inject(c *call) (int, error) {
	kind := faultKinds[c.args[1]]
	words := &faultWords{on: c.args[0], do: c.args[1], match: matchText(c), nth: max(int(c.number("nth")), 1), keep: c.is("keep", false)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lifted {
		return 0, errors.New("the node is stopping")
	}
	lift, err := fault.Inject(c.node.Broker, fault.Fault{
		On: faultPoints[words.on], Match: matcher(c), Nth: words.nth, Keep: words.keep,
		Do: fault.Action{Kind: kind, Code: cmp.Or(leveret.Code(c.number("code")), usualCode(kind)), Text: c.text("text", "")},
	})
	if err != nil {
		return 0, err
	}
	if f.lift == nil {
		f.lift, f.text = map[int]func(){}, map[int]*faultWords{}
	}
	f.last++
	f.lift[f.last], f.text[f.last] = lift, words
	return f.last, nil
}

// usualCode is that of a close for which none is given.
func usualCode(kind fault.Kind) leveret.Code {
	if kind == fault.CloseConnection {
		return leveret.ConnectionForced
	}
	return leveret.InternalError
}

// faultOptions are those that name what a message has, in the order in which list_faults shows them.
var faultOptions = []struct {
	name string
	of   func(leveret.MessageInfo) string
}{
	{"exchange", func(m leveret.MessageInfo) string { return m.Exchange }},
	{"routing-key", func(m leveret.MessageInfo) string { return m.RoutingKey }},
	{"message-id", func(m leveret.MessageInfo) string {
		if m.Properties == nil {
			return ""
		}
		return m.Properties.MessageID
	}},
}

var errOther = errors.New("another message")

// matcher accepts messages that have what the options name.
func matcher(c *call) func(leveret.MessageInfo) error {
	options := maps.Clone(c.options)
	return func(m leveret.MessageInfo) error {
		for _, o := range faultOptions {
			if want, given := options[o.name]; given && o.of(m) != want {
				return errOther
			}
		}
		if want, given := options["body"]; given && !bytes.Equal(m.Body, []byte(want)) {
			return errOther
		}
		return nil
	}
}

func matchText(c *call) string {
	var all []string
	for _, o := range faultOptions {
		if want, given := c.options[o.name]; given {
			all = append(all, o.name+"="+want)
		}
	}
	if want, given := c.options["body"]; given {
		all = append(all, "body="+want)
	}
	return strings.Join(all, " ")
}

func validateLift(c *call) error {
	if _, err := strconv.Atoi(c.args[0]); err != nil && c.args[0] != "all" {
		return badArgument("'" + c.args[0] + "' is neither the number of a fault nor all")
	}
	return nil
}

func liftFault(c *call) (result, error) {
	f, err := c.node.faultsOf()
	if err != nil {
		return result{}, err
	}
	if c.args[0] == "all" {
		f.liftAll()
		return result{}, nil
	}
	number, _ := strconv.Atoi(c.args[0]) // validated
	if !f.liftOne(number) {
		return result{}, failed(exitData, "there is no fault "+c.args[0])
	}
	return result{}, nil
}

func (f *Faults) liftOne(number int) bool {
	f.mu.Lock()
	lift := f.lift[number]
	delete(f.lift, number)
	delete(f.text, number)
	f.mu.Unlock()
	if lift != nil {
		lift()
	}
	return lift != nil
}

func (f *Faults) liftAll() {
	for _, number := range f.numbers() {
		f.liftOne(number)
	}
}

func (f *Faults) numbers() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.lift))
}

// Close lifts all faults, and takes no more.
func (f *Faults) Close() {
	f.mu.Lock()
	f.lifted = true
	f.mu.Unlock()
	f.liftAll()
}

func listFaults(c *call) (result, error) {
	f, err := c.node.faultsOf()
	if err != nil {
		return result{}, err
	}
	r := result{listing: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(f.text)) {
		w := f.text[number]
		r.rows = append(r.rows, row{{"number", number}, {"point", w.on}, {"action", w.do}, {"nth", w.nth}, {"keep", w.keep}, {"message", w.match}})
	}
	return r, nil
}
