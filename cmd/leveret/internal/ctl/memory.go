package ctl

import (
	"bufio"
	"errors"
	"math"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// The memory limit. It bounds the bodies of the messages that the broker holds.

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
	case absolute:
		_, err := parseBytes(c.args[1])
		return err
	}
	_, err := parseFraction(c.args[0])
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

// setWatermark sets a limit for the whole process, as rabbitmqctl does. The broker counts the
// bodies of messages only, so it gets what the rest of the process leaves; if that is nothing, a
// negative limit, which even an empty broker exceeds.
func setWatermark(c *call) (result, error) {
	var limit int64
	if len(c.args) == 2 {
		limit, _ = parseBytes(c.args[1]) // validated
	} else {
		fraction, _ := parseFraction(c.args[0])
		total, err := totalMemory()
		if err != nil {
			return result{}, failed(exitUnavailable, "the computer's memory is not known ("+err.Error()+"): use absolute <value>")
		}
		limit = int64(fraction * float64(total))
	}
	if limit -= processMemory(c.node.Broker.Memory().Used); limit <= 0 {
		limit = -1
	}
	c.node.alarms.setLimit(c.node.Broker, limit)
	return result{}, nil
}

// processMemory is what this process has from the system, less the bodies of messages.
func processMemory(bodies int64) int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return max(0, int64(m.Sys-m.HeapReleased)-bodies)
}

// totalMemory returns the computer's memory in bytes, where the system tells it.
func totalMemory() (int64, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no MemTotal")
}
