package ctl

import (
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/leveretmq/leveret/internal/memory"
)

// The memory limit. It bounds what the process uses, if the program tells the broker of that, or else the message bodies.

// A MemoryLimit is the setting behind a broker's memory limit.
type MemoryLimit struct {
	Before func(bytes int64) // told of a limit that the broker is about to get; nil: nobody is

	mu    sync.Mutex
	given memory.Watermark
	limit int64 // in bytes that was made of it
}

// Keep says that a watermark is the setting behind a limit that the broker has.
func (m *MemoryLimit) Keep(w memory.Watermark, limit int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.given, m.limit = w, limit
}

// watermark returns the setting behind a limit: what was given, unless the program has set another limit since.
func (m *MemoryLimit) watermark(limit int64) memory.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case limit == m.limit:
		return m.given
	case limit == 0:
		return memory.Watermark{}
	}
	bytes := max(limit, 0) // a limit of 0 is kept as a negative one
	return memory.Watermark{Given: strconv.FormatInt(bytes, 10), Bytes: bytes}
}

// setMemory gives the broker a limit.
func (n *Node) setMemory(w memory.Watermark) error {
	limit, err := w.Limit()
	if err != nil {
		return err
	}
	if n.Memory.Before != nil {
		n.Memory.Before(limit)
	}
	n.Memory.Keep(w, limit)
	n.Broker.SetMemoryLimit(limit)
	return nil
}

func memoryCommands() []*command {
	return []*command{{
		name: "set_vm_memory_high_watermark", usage: "set_vm_memory_high_watermark <fraction> | absolute <value>",
		about: "Sets the memory limit: a fraction of the computer's memory, or a value such as 1GB.",
		min:   1, max: -1, validate: validateWatermark, run: setWatermark,
		banner: func(c *call) string {
			if len(c.args) == 2 {
				return "Setting memory threshold on " + c.node.Name + " to " + c.args[1] + " bytes ..."
			}
			return "Setting memory threshold on " + c.node.Name + " to " + c.args[0] + " ..."
		},
	}}
}

// memoryUnits are the units of an absolute limit.
var memoryUnits = map[string]int64{
	"": 1, "k": 1 << 10, "kiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "G": 1 << 30, "GiB": 1 << 30,
	"kB": 1e3, "MB": 1e6, "GB": 1e9,
}

func validateWatermark(c *call) error {
	absolute := c.args[0] == "absolute"
	switch {
	case absolute && len(c.args) == 1:
		return &misuse{exitUsage, "not enough arguments."}
	case absolute && len(c.args) > 2, !absolute && len(c.args) > 1:
		return &misuse{exitUsage, "too many arguments."}
	}
	_, err := ParseWatermark(c.args[len(c.args)-1], absolute)
	return err
}

var (
	wholeWithUnit    = regexp.MustCompile(`^([+-]?[0-9]+)(.*)$`)
	fractionWithUnit = regexp.MustCompile(`^[+-]?[0-9]+\.[0-9]+`)
)

func parseBytes(s string) (int64, error) {
	parts := wholeWithUnit.FindStringSubmatch(s)
	if parts == nil {
		return 0, &misuse{exitData, "Bad argument."}
	}
	if fractionWithUnit.MatchString(s) {
		return 0, badArgument("The threshold should be an integer.")
	}
	unit, ok := memoryUnits[parts[2]]
	if !ok {
		return 0, badArgument("Invalid units.")
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, &misuse{exitData, "Bad argument."}
	}
	return n * unit, nil
}

func parseFraction(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return 0, &misuse{exitData, "Bad argument."}
	}
	if f < 0 || f > 1 {
		return 0, badArgument("The threshold should be a fraction between 0.0 and 1.0")
	}
	return f, nil
}

// setWatermark sets a limit for the whole process, as rabbitmqctl does.
func setWatermark(c *call) (result, error) {
	w, _ := ParseWatermark(c.args[len(c.args)-1], len(c.args) == 2) // validated
	if err := c.node.setMemory(w); err != nil {
		return result{}, failed(exitUnavailable, "the computer's memory is not known ("+err.Error()+"): use absolute <value>")
	}
	return result{}, nil
}

// ParseLimit reads a limit as a program is given it. A number with a point, 0 and 1 are fractions, other numbers are
// bytes; an empty text is no limit.
func ParseLimit(s string) (memory.Watermark, error) {
	if s == "" {
		return memory.Watermark{}, nil
	}
	w, err := ParseWatermark(s, false)
	if err != nil {
		w, err = ParseWatermark(s, true)
	}
	return w, err
}

// ParseWatermark reads a fraction, or an absolute size with a unit.
func ParseWatermark(s string, absolute bool) (memory.Watermark, error) {
	if !absolute {
		fraction, err := parseFraction(s)
		return memory.Relative(fraction), err
	}
	bytes, err := parseBytes(s)
	return memory.Watermark{Given: s, Bytes: bytes}, err
}
