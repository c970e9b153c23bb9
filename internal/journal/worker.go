package journal

// A worker is a goroutine of the log that sleeps when there is nothing to do. The log's lock guards it.
type worker struct {
	work     chan struct{} // has room for one
	awake    bool
	stopping bool
	done     chan struct{} // closed when the goroutine has ended
}

func newWorker() worker {
	return worker{work: make(chan struct{}, 1), awake: true, done: make(chan struct{})}
}

// wakeLocked makes a sleeping worker look for work. It costs nothing while the worker is awake.
func (w *worker) wakeLocked() {
	if !w.awake {
		w.awake = true
		w.work <- struct{}{}
	}
}

// sleepLocked waits for work, without the lock.
func (l *Log) sleepLocked(w *worker) {
	w.awake = false
	l.mu.Unlock()
	<-w.work
	l.mu.Lock()
}

// stop has a worker end when its work is done, and waits for that.
func (l *Log) stop(w *worker) {
	l.mu.Lock()
	w.stopping = true
	w.wakeLocked()
	l.mu.Unlock()
	<-w.done
}
