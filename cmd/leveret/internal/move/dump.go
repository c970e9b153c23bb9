package move

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/leveretmq/leveret/internal/address"
)

// A dump is a file of lines of JSON: a title, the definitions, a line for each message, and at the end how many these are.

// dumpVersion is that of the form.
const dumpVersion = 1

// dumpTitle is the first line.
type dumpTitle struct {
	Version int    `json:"leveret_dump"`
	VHost   string `json:"vhost"`
}

// dumpPart is a line that is no message.
type dumpPart struct {
	Definitions document `json:"definitions,omitempty"`
	End         *dumpEnd `json:"end,omitempty"`
}

type dumpEnd struct {
	Messages int `json:"messages"`
}

// A Dump is a file as a destination.
type Dump struct {
	mu       sync.Mutex
	file     *os.File
	buffered *bufio.Writer
	messages int   // written
	safe     int   // of these, on the disk
	failed   error // why no more come to the disk
}

// CreateDump begins a dump of a virtual host. The file must not exist.
func CreateDump(name, vhost string) (*Dump, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	d := &Dump{file: file, buffered: bufio.NewWriter(file)}
	return d, errors.Join(d.write(dumpTitle{dumpVersion, vhost}), d.sync())
}

// ContinueDump goes on with a dump that was not finished: messages that were taken out of their queues are in it alone.
func ContinueDump(name string) (*Dump, error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	d := &Dump{file: file, buffered: bufio.NewWriter(file)}
	if err := d.seekEnd(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// seekEnd finds the end of the last whole line, and cuts off the rest.
func (d *Dump) seekEnd() error {
	lines := bufio.NewReader(d.file)
	title, err := readTitle(lines)
	if err != nil {
		return err
	}
	end := int64(len(title))
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(text, []byte(`{"end":`)):
			return errors.New("the dump is whole: nothing can be added")
		case !bytes.HasPrefix(text, []byte(`{"definitions":`)):
			d.messages++
		}
		end += int64(len(text))
	}
	d.safe = d.messages
	if err := d.file.Truncate(end); err != nil {
		return err
	}
	_, err = d.file.Seek(end, io.SeekStart)
	return err
}

// readTitle reads the first line.
func readTitle(lines *bufio.Reader) ([]byte, error) {
	var title dumpTitle
	text, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(text, &title) != nil || title.Version == 0 {
		return nil, errors.New("this is no dump of leveret")
	}
	if title.Version != dumpVersion {
		return nil, fmt.Errorf("the dump is of version %d, not %d", title.Version, dumpVersion)
	}
	return text, nil
}

func (d *Dump) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = d.buffered.Write(append(text, '\n'))
	return err
}

// sync returns when all is on the disk. After an error nobody knows what is there, also if a later attempt has none.
func (d *Dump) sync() error {
	if d.failed == nil {
		d.failed = cmp.Or(d.buffered.Flush(), d.file.Sync())
	}
	if d.failed == nil {
		d.safe = d.messages
	}
	return d.failed
}

func (d *Dump) define(doc document) error { return d.write(dumpPart{Definitions: doc}) }

func (d *Dump) open(int) (outlet, error) { return dumpOutlet{d}, nil }

func (d *Dump) losses() map[address.Loss]int { return nil }

// A dumpOutlet writes messages. Closing it leaves the file open for the next queue.
type dumpOutlet struct{ *Dump }

func (o dumpOutlet) close() error { return nil }

// send writes a message. It is safe when it is on the disk; others that were written meanwhile are then, too.
func (d *Dump) send(l Letter) (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.write(l); err != nil {
		return nil, err
	}
	d.messages++
	number := d.messages
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.safe >= number {
			return nil
		}
		return d.sync()
	}, nil
}

// Finish writes the end of the dump.
func (d *Dump) Finish() error {
	return errors.Join(d.write(dumpPart{End: &dumpEnd{d.messages}}), d.sync())
}

// Close closes the file.
func (d *Dump) Close() error { return d.file.Close() }
