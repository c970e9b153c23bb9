package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/ctl"
)

// Sizes in a configuration file. RabbitMQ reads them otherwise than rabbitmqctl does: it has more units, in any case, and of a letter
// alone the power is 1000 in 4.3 and 1024 in 3.10.

// A fileSize is a flag's size, until the release is known.
type fileSize struct {
	flag, value string
	line        *line
}

var sizeWithUnit = regexp.MustCompile(`^([0-9]+)([kmgtp]?)(i?)(b?)$`)

// size gives a flag a size. Words and numbers that are no sizes are left to the flag.
func size(flag string) func(*line) error {
	return func(l *line) error {
		if !sizeWithUnit.MatchString(strings.ToLower(l.Value)) {
			return same(flag)(l)
		}
		l.sizes = append(l.sizes, fileSize{flag, l.Value, l})
		return nil
	}
}

// giveSizes gives the flags their sizes in octets. The release is the one that the file names, or 4.3.
func (c *configFile) giveSizes() {
	for _, s := range c.sizes {
		octets, err := s.octets(c.flags["profile"].value == "3.10")
		if err != nil {
			c.errs = append(c.errs, fmt.Errorf("%s: %w", s.line.origin(), err))
			continue
		}
		if same, err := ctl.ParseWatermark(s.value, true); err == nil && same.Bytes == octets {
			s.line.give(s.flag, s.value) // as the status shows it
			continue
		}
		s.line.give(s.flag, strconv.FormatInt(octets, 10))
	}
}

func (s *fileSize) octets(letterIsBinary bool) (int64, error) {
	parts := sizeWithUnit.FindStringSubmatch(strings.ToLower(s.value))
	base := int64(1000)
	if isLetter := parts[3] == "" && parts[4] == ""; parts[3] != "" || isLetter && letterIsBinary {
		base = 1024
	}
	unit := int64(1)
	for range strings.Index("kmgtp", parts[2]) + 1 {
		unit *= base
	}
	if parts[2] == "" {
		unit = 1
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size such as 2GB", s.value)
	}
	return n * unit, nil
}
