package move

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Load puts the definitions and messages of a dump into the job's destination. From is not used. With a journal it goes on after
// the messages that the runs before have loaded.
func (j *Job) Load(ctx context.Context, dump io.Reader) (*Report, error) {
	j.setDefaults()
	began := time.Now()
	err := j.load(ctx, dump)
	j.report.Seconds = time.Since(began).Seconds()
	j.report.Moved, j.report.Again = j.Journal.Moved()
	j.report.Lost = j.To.losses()
	return j.report, err
}

func (j *Job) load(ctx context.Context, dump io.Reader) error {
	in := &dumpInlet{job: j, lines: bufio.NewReader(dump)}
	if _, err := readTitle(in.lines); err != nil {
		return err
	}
	in.skip, _ = j.Journal.Moved()
	out, err := j.To.open(j.Window)
	if err != nil {
		return err
	}
	p := &pump{in: in, out: out, journal: j.Journal, window: j.Window, pass: j.Pass, pace: j.pace, ordered: true}
	p.sent = func(queue string) { j.count(j.report.queue(queue)) }
	if err := p.run(ctx); err != nil {
		return err
	}
	if !in.whole && ctx.Err() == nil {
		return fmt.Errorf("the dump has no end: after %d messages it breaks off", in.read)
	}
	return nil
}

// A dumpInlet reads messages of a dump.
type dumpInlet struct {
	job   *Job
	lines *bufio.Reader
	read  int  // messages
	skip  int  // messages that were loaded before
	whole bool // the end was read
}

func (in *dumpInlet) next(ctx context.Context) (parcel, error) {
	for ctx.Err() == nil && !in.whole {
		text, err := in.lines.ReadBytes('\n')
		if err != nil {
			return parcel{}, err
		}
		if bytes.HasPrefix(text, []byte(`{"queue":`)) {
			p, wanted, err := in.message(text)
			if err != nil || wanted {
				return p, err
			}
			continue
		}
		if err := in.part(text); err != nil {
			return parcel{}, err
		}
	}
	return parcel{}, io.EOF
}

// message reads a message, and reports whether it is to be loaded.
func (in *dumpInlet) message(text []byte) (p parcel, wanted bool, err error) {
	in.read++
	p.repeated = true
	if err := json.Unmarshal(text, &p.Letter); err != nil {
		return p, false, fmt.Errorf("message %d of the dump: %w", in.read, err)
	}
	if !in.job.Queues.Match(p.Queue) {
		return p, false, nil
	}
	if in.skip > 0 {
		in.skip--
		return p, false, nil
	}
	return p, true, nil
}

// part reads a line that is no message.
func (in *dumpInlet) part(text []byte) error {
	var part dumpPart
	if err := json.Unmarshal(text, &part); err != nil {
		return fmt.Errorf("after message %d of the dump: %w", in.read, err)
	}
	switch {
	case part.End != nil && part.End.Messages != in.read:
		return fmt.Errorf("the dump has %d messages, and its end says %d", in.read, part.End.Messages)
	case part.End != nil:
		in.whole = true
	case part.Definitions != nil && !in.job.SkipDefinitions:
		return in.job.takeOver(part.Definitions)
	}
	return nil
}

func (in *dumpInlet) settle([]uint64) error { return nil }
func (in *dumpInlet) close() error          { return nil }
