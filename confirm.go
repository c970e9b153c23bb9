package leveret

// Confirm is confirm.select: publishes on this channel are numbered from 1 on and confirmed. A
// message is confirmed when every queue it was routed to has enqueued it. In one process that is
// before Publish returns, so the Outcome has the confirmation. On a channel in a transaction the
// error is ErrPreconditionFailed.
//
// Rules: C-1, C-8.
func (ch *Channel) Confirm() error {
	return ch.do("confirm.select", func() *Error {
		if ch.tx != nil {
			return PreconditionFailed.errorf("", "cannot switch from tx to confirm mode")
		}
		ch.confirm = true
		return nil
	})
}
