package move

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
)

// A Journal knows which messages were on their way when a connection or the program ended: each of these may be at the target
// though it comes again. Kept in a file, it lets the next run count them. Nothing depends on it but figures, and for a load, where
// it goes on.
//
// The file has lines of one length: a title, the figures, and a slot for each message on its way. A line is written in one
// piece, before a message is published and after its acknowledgement has arrived.
type Journal struct {
	mu        sync.Mutex
	file      *os.File // nil: none
	slots     []slot
	free      []int
	waiting   map[slot][]int // slots of messages that were on their way at an end, by what they hold
	moved     int            // messages that were moved
	again     int            // of these, those that had been on their way before
	unsettled int            // messages that were on their way when the journal was opened
}

// A slot is a message on its way: its queue and the message.
type slot struct{ queue, message key }

const (
	journalTitle = "leveret move, journal 1"
	journalLine  = 2*2*len(key{}) + 1
)

// NewJournal returns one without a file.
func NewJournal() *Journal { return &Journal{waiting: map[slot][]int{}} }

// OpenJournal returns the journal in a file, which is made if it is missing.
func OpenJournal(name string) (*Journal, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := NewJournal()
	j.file = file
	if err := j.read(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	j.unsettled = len(j.slots) - len(j.free)
	return j, nil
}

// read takes over what the file says.
func (j *Journal) read() error {
	lines := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, 1<<40), journalLine)
	line := make([]byte, journalLine)
	switch n, err := io.ReadFull(lines, line); {
	case n == 0 && err == io.EOF:
		return j.writeHead()
	case string(bytes.TrimSpace(line)) != journalTitle:
		return fmt.Errorf("this is no journal of leveret move")
	}
	if _, err := io.ReadFull(lines, line); err != nil {
		return err
	}
	if _, err := fmt.Sscanf(string(line), "moved %d again %d", &j.moved, &j.again); err != nil {
		return err
	}
	for {
		if _, err := io.ReadFull(lines, line); err != nil {
			return nil // a line that is not whole was never in use
		}
		var s slot
		octets, err := hex.DecodeString(string(bytes.TrimSpace(line)))
		if err == nil && len(octets) == len(s.queue)+len(s.message) {
			copy(s.queue[:], octets)
			copy(s.message[:], octets[len(s.queue):])
		}
		j.slots = append(j.slots, s)
		j.wait(len(j.slots) - 1)
	}
}

// wait has a slot stay until its message comes again, or frees it if it is empty.
func (j *Journal) wait(i int) {
	if s := j.slots[i]; s != (slot{}) {
		j.waiting[s] = append(j.waiting[s], i)
	} else {
		j.free = append(j.free, i)
	}
}

func (j *Journal) writeHead() error {
	return j.writeLines(0, fmt.Sprintf("%-*s\n%s", journalLine-1, journalTitle, j.figures()))
}

func (j *Journal) figures() string {
	return fmt.Sprintf("%-*s\n", journalLine-1, fmt.Sprintf("moved %d again %d", j.moved, j.again))
}

func (j *Journal) writeLines(first int, text string) error {
	if j.file == nil {
		return nil
	}
	_, err := j.file.WriteAt([]byte(text), int64(first*journalLine))
	return err
}

func (j *Journal) writeSlot(i int) error {
	text := ""
	if s := j.slots[i]; s != (slot{}) {
		text = hex.EncodeToString(append(s.queue[:], s.message[:]...))
	}
	return j.writeLines(2+i, fmt.Sprintf("%-*s\n", journalLine-1, text))
}

// take notes that a message is about to be published, and returns its slot.
func (j *Journal) take(p parcel) (i int, err error) {
	s := slot{Letter{Queue: p.Queue}.key(), p.key()}
	j.mu.Lock()
	defer j.mu.Unlock()
	if p.repeated && len(j.waiting[s]) > 0 {
		return j.takeAgain(s)
	}
	if n := len(j.free); n > 0 {
		i, j.free = j.free[n-1], j.free[:n-1]
	} else {
		i, j.slots = len(j.slots), append(j.slots, slot{})
	}
	j.slots[i] = s
	return i, j.writeSlot(i)
}

// takeAgain counts a message that was on its way before. Its slot says so already.
func (j *Journal) takeAgain(s slot) (int, error) {
	slots := j.waiting[s]
	if j.waiting[s] = slots[1:]; len(slots) == 1 {
		delete(j.waiting, s)
	}
	j.again++
	return slots[0], j.writeLines(1, j.figures())
}

// settled notes messages that the target has and the source has not any more.
func (j *Journal) settled(slots []int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved += len(slots)
	if err := j.writeLines(1, j.figures()); err != nil {
		return err
	}
	return j.release(slots)
}

// release frees slots.
func (j *Journal) release(slots []int) error {
	for _, i := range slots {
		j.slots[i] = slot{}
		j.free = append(j.free, i)
		if err := j.writeSlot(i); err != nil {
			return err
		}
	}
	return nil
}

// lose notes that it is not known what became of messages. Their slots stay.
func (j *Journal) lose(slots []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, i := range slots {
		j.wait(i)
	}
}

// refused notes that the target does not have a message.
func (j *Journal) refused(i int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.release([]int{i})
}

// drained notes that a queue is empty: no message of it comes again.
func (j *Journal) drained(queue string) error {
	k := Letter{Queue: queue}.key()
	j.mu.Lock()
	defer j.mu.Unlock()
	for s, slots := range j.waiting {
		if s.queue == k {
			delete(j.waiting, s)
			if err := j.release(slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// Moved returns how many messages were moved, over all runs, and how many of these may be at the target twice.
func (j *Journal) Moved() (moved, again int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.moved, j.again
}

// Unsettled returns how many messages were on their way at the end of the run before.
func (j *Journal) Unsettled() int { return j.unsettled }

// Close closes the file.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
