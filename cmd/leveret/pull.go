package main

import (
	"errors"
	"flag"

	"github.com/leveretmq/leveret/cmd/leveret/internal/move"
	"github.com/leveretmq/leveret/internal/ctl"
)

// leveret pull and leveret replay are for dead letters.

const pullUsage = `usage: leveret pull --from URL --queue PATTERN [--to URL] [flags]
Copies the messages of queues, such as dead letters in production, into a leveret on this machine, with the definitions of the virtual
host. The messages stay where they are: they are taken and returned, which docs/move.md tells more about.
The exit code is 0 if all was copied, 1 if a queue was left, and 2 if nothing could be copied.
`

// localBroker is where leveret serve listens if it is told nothing.
const localBroker = "amqp://guest:guest@127.0.0.1:5672/"

func pullMessages(args []string, std ctl.Streams) int {
	s := moveSettings{to: localBroker}
	f := s.moveFlags("pull")
	s.fromFlags(f)
	s.toFlags(f)
	f.BoolVar(&s.job.SkipDefinitions, "skip-definitions", false, "copy messages only; the target has the queues")
	f.IntVar(&s.job.Most, "most", 0, "`messages` of each queue at most; 0: all")
	if err := s.parseQueues(f, pullUsage, args, std); err != nil {
		return refuseArguments("pull", pullUsage, err, std)
	}
	s.job.Copy = true
	return s.run("pull", std)
}

const replayUsage = `usage: leveret replay --from URL --queue PATTERN [--to URL] [flags]
Sends dead letters back to where they died: each message of the queues goes to the queue that the first entry of its x-death names,
with the exchange and the routing key that it had there. What has no such history stays. With --to they go to another broker.
The exit code is 0 if all dead letters went back, 1 if some could not, and 2 if nothing could be sent.
`

func replayMessages(args []string, std ctl.Streams) int {
	var s moveSettings
	var replay move.Replay
	f := s.moveFlags("replay")
	s.fromFlags(f)
	f.StringVar(&s.to, "to", "", "AMQP `URL` of another broker; default: the same")
	f.StringVar(&s.toAdmin, "to-admin", "", "`URL` of its management API; default: port 15672 of the same host, with the same user")
	s.journalFlag(f)
	f.IntVar(&s.job.Most, "most", 0, "`messages` of each queue that are looked at; 0: all")
	f.Func("died-in", "`pattern` of the names of queues in which they died; may be given several times; default: all", appendTo(&replay.DiedIn.Only))
	f.Func("reason", "`reason` of their death, such as rejected, expired, maxlen or delivery_limit; may be given several times; default: all", appendTo(&replay.Reason))
	f.BoolVar(&replay.Forget, "forget", false, "take their history off, so that counts begin anew")
	s.sameBroker = true
	if err := s.parseQueues(f, replayUsage, args, std); err != nil {
		return refuseArguments("replay", replayUsage, err, std)
	}
	s.job.SkipDefinitions, s.job.Pass = true, replay.Pass
	return s.run("replay", std)
}

// parseQueues reads flags. At least one queue has to be named.
func (s *moveSettings) parseQueues(f *flag.FlagSet, usage string, args []string, std ctl.Streams) error {
	if err := s.parse(f, usage, args, std.Out); err != nil {
		return err
	}
	if len(s.job.Queues.Only) == 0 {
		return errors.New("--queue is expected")
	}
	return nil
}
