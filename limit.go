package leveret

// Length limits count ready messages; in quorum queues also those that wait for a retry and dead letters that wait for
// their confirmation. A queue at its limit is full, not over it. // L-1, L-2
//
//	drop-head           a queue over its limit loses its head until it is not
//	reject-publish      classic: a message that would not fit is refused
//	                    quorum: a queue over its limit tells its publishers to stop (softlimit.go)
//	reject-publish-dlx  classic: as reject-publish, and the refused message dies
//	                    quorum: drop-head

// over reports whether messages exceed a limit.
// Rules: L-1, L-7.
func (s *settings) over(h holdings) bool {
	return s.maxLength >= 0 && int64(h.n) > s.maxLength || s.maxBytes >= 0 && h.bytes > s.maxBytes
}

// Rules: L-19.
func (s *settings) limited() bool { return s.maxLength >= 0 || s.maxBytes >= 0 }

// softLimitPercent is how full a quorum queue may be, of each limit, when its publishers go on.
// Rules: L-12.
const softLimitPercent = 80

// low reports whether messages are down to where publishers of a quorum queue go on.
func (s *settings) low(h holdings) bool {
	fewEnough := s.maxLength < 0 || int64(h.n) <= softLimitOf(s.maxLength)
	smallEnough := s.maxBytes < 0 || h.bytes <= softLimitOf(s.maxBytes)
	return fewEnough && smallEnough
}

// softLimitOf is softLimitPercent of a limit, which may be too large to be multiplied.
func softLimitOf(limit int64) int64 {
	return limit/100*softLimitPercent + limit%100*softLimitPercent/100
}
