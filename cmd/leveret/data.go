package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
)

// A broker with --data keeps in a directory what RabbitMQ keeps on its disk. docs/durability.md tells of the directory.

// dataSettings say where the broker's data is.
type dataSettings struct {
	dir  string // empty: in memory only
	sync leveret.SyncLevel
}

// syncLevels are the values of --sync.
var syncLevels = map[string]leveret.SyncLevel{
	"always": leveret.SyncAlways, "as-rabbitmq": leveret.SyncAsRabbitMQ, "never": leveret.SyncNever,
}

func (s *settings) setData(w flagWords) error {
	var ok bool
	if s.data.sync, ok = syncLevels[w.sync]; !ok {
		return fmt.Errorf("%s is %q, not always, as-rabbitmq or never", s.from.of("sync"), w.sync)
	}
	if s.data.dir != "" {
		// The directory has times as a manual clock showed them. The next process would begin a clock of its own, and what has expired
		// would be there again.
		if s.clock != nil {
			return fmt.Errorf("%s and %s exclude each other, because a manual clock does not outlive the process", s.from.of("clock"), s.from.of("data"))
		}
		return nil
	}
	if origin := s.from["sync"]; origin != "" {
		return fmt.Errorf("%s needs --data, because without a directory nothing is synced", origin)
	}
	return nil
}

// open opens the broker of the directory. first says that the directory has never had one.
func (s *dataSettings) open(opts []leveret.Option) (b *leveret.Broker, first bool, err error) {
	b, err = leveret.Open(s.dir, append(opts, leveret.WithSync(s.sync))...)
	if err != nil {
		return nil, false, s.explain(err)
	}
	return b, b.Recovered().Segments == 0, nil
}

// isNew reports whether the directory is not there or has nothing in it.
func (s *dataSettings) isNew() bool {
	entries, _ := os.ReadDir(s.dir) // what else is wrong with the directory is told when it is opened
	return len(entries) == 0
}

// explain says what is wrong with the directory, and what can be done.
func (s *dataSettings) explain(err error) error {
	switch {
	case errors.Is(err, journal.ErrLocked):
		return fmt.Errorf("another process has the directory %s in use", s.dir)
	case errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrMissing):
		return fmt.Errorf("%w; leveret check %s lists all that is wrong", s.inDir(err), s.dir)
	}
	return s.inDir(err)
}

// inDir is an error of the library about the directory, which it names.
func (s *dataSettings) inDir(err error) error {
	var own *journal.Error
	if errors.As(err, &own) {
		return fmt.Errorf("%s: %w", s.dir, shortened{own})
	}
	return shortened{err}
}

// A shortened error does not say that it is of the library, or of the library's journal.
type shortened struct{ error }

func (e shortened) Error() string {
	return strings.TrimPrefix(strings.TrimPrefix(e.error.Error(), "leveret: "), "journal: ")
}

// Unwrap returns the whole error.
func (e shortened) Unwrap() error { return e.error }

// tellRecovery logs what was found in the directory.
func (s *dataSettings) tellRecovery(r leveret.Recovery, log *slog.Logger) {
	if r.Segments == 0 {
		log.Info("the directory for data is new", "data", s.dir)
		return
	}
	if r.Cut != "" {
		log.Warn("the last write was cut off and is dropped; nobody was told that it was synced", "data", s.dir, "where", r.Cut)
	}
	log.Info("the data is read", "data", s.dir, "messages", r.Messages, "records", r.Records, "segments", r.Segments,
		"octets", r.Octets, "took", r.Took, "killed", r.Killed)
}
