package mgmt

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxSamples is how many samples one range may have.
const maxSamples = 500

// A span is the range of samples that a request asks for.
type span struct{ age, step time.Duration }

// span returns the range for a kind of figures, nil if the request asks for none.
func (c *call) span(prefix string) (*span, error) {
	age, wrongAge := strconv.Atoi(c.query(prefix + "_age"))
	step, wrongStep := strconv.Atoi(c.query(prefix + "_incr"))
	switch {
	case wrongAge != nil || wrongStep != nil:
		return nil, nil
	case age <= 0 || step <= 0 || age/step > maxSamples:
		return nil, badRequest(fmt.Sprintf("Invalid range parameters: age %d, incr %d", age, step))
	}
	return &span{seconds(age), seconds(step)}, nil
}

// seconds is a duration of so many seconds, or the longest one.
func seconds(n int) time.Duration {
	return min(time.Duration(n), math.MaxInt64/time.Second) * time.Second
}

// details returns the rate of a figure that is now value, and its samples if the request asks for them.
func (c *call) details(s subject, f figure, value int64) (object, error) {
	span, err := c.span(s.span(f))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	c.recorder.ask(now)
	details := object{"rate": decimal(c.recorder.rate(s, f, moment{now, value}))}
	if span != nil {
		append(c.recorder.history(s, f), moment{now, value}).sample(details, span, now)
	}
	return details, nil
}

// sample puts the samples of a range into details, newest first, with their mean and the mean rate. There are none for
// the time before anybody asked.
func (h history) sample(details object, s *span, now time.Time) {
	last := now.Truncate(s.step)
	if last.Before(now) {
		last = last.Add(s.step)
	}
	var samples []object
	var sum, newest, oldest float64
	for t := last; !t.Before(last.Add(-s.age)); t = t.Add(-s.step) {
		if t.Before(h[0].at) {
			break
		}
		value := h.at(t)
		oldest = float64(value)
		if samples == nil {
			newest = oldest
		}
		sum += oldest
		samples = append(samples, object{"sample": value, "timestamp": t.UnixMilli()})
	}
	details["samples"] = samples
	details["avg"] = decimal(sum / float64(len(samples)))
	details["avg_rate"] = decimal(0)
	if n := len(samples); n > 1 {
		details["avg_rate"] = decimal((newest - oldest) / (float64(n-1) * s.step.Seconds()))
	}
}

// checkSpans looks at the ranges of samples that the request for a list with pages asks for.
func (c *call) checkSpans() error {
	if _, err := c.paging(); err != nil {
		return err
	}
	if wrong, ok := c.wrongSpan().(*failure); ok && !c.statsDisabled() {
		return &failure{status: http.StatusBadRequest, kind: "invalid_range_parameters", reason: wrong.reason}
	}
	return nil
}

// checkSpansOfClients looks at the ranges of samples that the request for a list of connections or channels asks for. The list has pages
// unless it is that of a virtual host.
func (c *call) checkSpansOfClients() error {
	if c.ofVHost {
		return c.wrongSpan()
	}
	if _, err := c.paging(); err != nil {
		return err
	}
	return c.checkStatistics()
}

// checkStatistics looks at the ranges of samples that the request for anything else asks for, if it wants statistics.
func (c *call) checkStatistics() error {
	if c.statsDisabled() {
		return nil
	}
	return c.wrongSpan()
}

// wrongSpan is the refusal of a range of samples that there is not, for whatever it is; nil: there is none.
func (c *call) wrongSpan() error {
	for _, prefix := range []string{"lengths", "msg_rates", "data_rates", "node_stats"} {
		if _, err := c.span(prefix); err != nil {
			return err
		}
	}
	return nil
}
