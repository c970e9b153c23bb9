package ctl

import (
	"math"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/memory"
)

// The limit of the disk alarm: how much of the disk has to be free where the broker has its directory.

// ParseDiskLimit reads a limit as a program is given it, and returns octets: a size such as 1GB, or a multiple of the machine's
// memory, which has a point. An empty text and 0 are no limit.
func ParseDiskLimit(s string) (int64, error) {
	switch {
	case s == "":
		return 0, nil
	case strings.Contains(s, "."):
		return memoryMultiple(s)
	}
	return diskSize(s)
}

// diskSize reads a size. RabbitMQ takes 0 and negative numbers, too: then there is no limit.
func diskSize(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return max(n, 0), nil
	}
	if n, err := parseBytes(s); err == nil {
		return n, nil
	}
	return 0, &misuse{exitData, "Bad argument."}
}

// memoryMultiple reads a multiple of the machine's memory.
func memoryMultiple(s string) (int64, error) {
	multiple, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(multiple) || multiple < 0 {
		return 0, &misuse{exitData, "Bad argument."}
	}
	available, err := memory.Available()
	if err != nil {
		return 0, failed(exitUnavailable, "the computer's memory is not known ("+err.Error()+"): use <disk_limit>")
	}
	return int64(min(multiple*float64(available), math.MaxInt64/2)), nil
}

const memRelative = "mem_relative"

func diskCommands() []*command {
	return []*command{{
		name: "set_disk_free_limit", usage: "set_disk_free_limit <disk_limit> | mem_relative <fraction>",
		about: "Sets how much of the disk has to be free: a size such as 1GB, or a fraction of the computer's memory.",
		min:   1, max: -1, validate: validateDiskLimit, run: setDiskLimit,
		banner: func(c *call) string {
			to := c.args[0] + " bytes"
			if c.args[0] == memRelative {
				to = c.args[1] + " times the total RAM"
			}
			return "Setting disk free limit on " + c.node.Name + " to " + to + " ..."
		},
	}}
}

func validateDiskLimit(c *call) error {
	relative := c.args[0] == memRelative
	switch {
	case relative && len(c.args) == 1:
		return &misuse{exitUsage, "not enough arguments."}
	case relative && len(c.args) > 2, !relative && len(c.args) > 1:
		return &misuse{exitUsage, "too many arguments."}
	case relative:
		_, err := strconv.ParseFloat(c.args[1], 64)
		if err != nil {
			return &misuse{exitData, "Bad argument."}
		}
		return nil
	}
	_, err := diskSize(c.args[0])
	return err
}

func setDiskLimit(c *call) (result, error) {
	parse, limit := diskSize, c.args[0]
	if len(c.args) == 2 {
		parse, limit = memoryMultiple, c.args[1]
	}
	octets, err := parse(limit)
	if err != nil {
		return result{}, err
	}
	c.node.Broker.SetDiskFreeLimit(octets)
	return result{}, nil
}
