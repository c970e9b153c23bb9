package amqpd

import "sync/atomic"

// mail tells the writer that the inbox holds something. While the reader executes frames it looks itself for what they
// have put into the inbox, and the writer is not woken: that would cost more than to write the little that there is.
type mail struct {
	wake chan<- struct{}
	held atomic.Bool // the reader will look
	came atomic.Bool // something was put into the inbox since release
}

// arrived is called by the broker, under its lock, when the inbox is not empty any more.
func (m *mail) arrived() {
	m.came.Store(true) // before held is read: either release sees it or it wakes the writer
	if !m.held.Load() {
		m.signal()
	}
}

// hold keeps the writer from being woken until release.
func (m *mail) hold() {
	m.came.Store(false)
	m.held.Store(true)
}

// release ends hold and wakes the writer if something came meanwhile.
func (m *mail) release() {
	if m.held.Swap(false) && m.came.Load() {
		m.signal()
	}
}

// taken ends hold. The caller is about to empty the inbox.
func (m *mail) taken() { m.held.Store(false) }

func (m *mail) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}
