package journal

import "sync"

// A sealing is the segment that is full, while the committer writes the next one. The sealer syncs and seals it. A record is synced
// when the segment before its own is, too. The log's lock guards a sealing.
//
// If the committer did that, bench's BenchmarkDurable/queue=classic/outstanding=1000/body=1024 would have a p99 of two to four
// times, and outstanding=100/body=65536 take 1.2 to 1.4 times as long. With more than one full segment little is gained, and a
// publisher who has to wait for space waits for all of them.
type sealing struct {
	full    *output // nil: there is none
	next    File    // of the segment that follows
	err     error   // why nothing is sealed any more
	changed *sync.Cond
}

// sealLater leaves a full segment to the sealer, which has nothing to do.
func (l *Log) sealLater(full, next *output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealing.full, l.sealing.next = full, next.file
	l.sealer.wakeLocked()
}

// awaitSealed returns when the sealer has nothing to do: all segments before the one that is written are synced.
func (l *Log) awaitSealed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.sealing.full != nil && l.sealing.err == nil {
		l.sealing.changed.Wait()
	}
	return l.sealing.err
}

// seal is the sealer.
func (l *Log) seal() {
	defer close(l.sealer.done)
	for full, next := l.nextToSeal(); full != nil; full, next = l.nextToSeal() {
		l.sealed(full, l.sealOne(full, next))
	}
}

// nextToSeal waits for a full segment. It returns nil when there will be none.
func (l *Log) nextToSeal() (full *output, next File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.sealing.full == nil {
		if l.sealer.stopping {
			return nil, nil
		}
		l.sleepLocked(&l.sealer)
	}
	return l.sealing.full, l.sealing.next
}

// sealOne syncs a segment, has the next one there for sure, and seals the segment: a seal says all that.
func (l *Log) sealOne(full *output, next File) error {
	if err := full.sync(); err != nil {
		return err
	}
	number := full.header.number + 1
	if err := settleSegment(l.fs, number, next); err != nil {
		return err
	}
	return sealSegment(full.file, full.header, full.written, number)
}

// sealed follows a segment's seal. An error is final for the log.
func (l *Log) sealed(full *output, err error) {
	if errClose := full.file.Close(); err == nil {
		err = failed("close", full.header.number.fileName(), -1, errClose)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		full.segment.sealed = true
		l.resizeLocked(full.segment, full.written+markSize)
		l.compactor.wakeLocked()
	}
	l.sealing.full, l.sealing.err = nil, err
	l.sealing.changed.Broadcast()
	l.committer.wakeLocked()
}
