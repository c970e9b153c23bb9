package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// A setting is given by a flag, by an environment variable or by a line of the configuration file. The first of these
// that has it decides.

// origins say how flags were given, for errors. A flag that is not among them has its default.
type origins map[string]string

// of returns how errors call a flag.
func (o origins) of(name string) string { return cmp.Or(o[name], "--"+name) }

// variable is the environment variable of a flag.
func variable(name string) string {
	return "LEVERET_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// layer gives the flags that the command line has not, from the environment and then from the file.
func (s *settings) layer(f *flag.FlagSet, w *flagWords) error {
	f.Visit(func(g *flag.Flag) { s.from[g.Name] = "--" + g.Name })
	var errs []error
	f.VisitAll(func(g *flag.Flag) {
		if value := os.Getenv(variable(g.Name)); value != "" {
			errs = append(errs, s.give(f, g.Name, given{value, variable(g.Name)}))
		}
	})
	if err := errors.Join(errs...); err != nil || w.config == "" {
		return err
	}
	file, err := readConfig(w.config)
	if err != nil {
		return err
	}
	s.ignored, s.vhosts, s.passwords = file.ignored, file.vhosts, file.passwords
	for _, name := range slices.Sorted(maps.Keys(file.flags)) {
		errs = append(errs, s.give(f, name, file.flags[name]))
	}
	return errors.Join(errs...)
}

// give sets a flag, unless a layer above has.
func (s *settings) give(f *flag.FlagSet, name string, g given) error {
	if s.from[name] != "" {
		return nil
	}
	s.from[name] = g.origin
	if err := f.Set(name, g.value); err != nil {
		return fmt.Errorf("%s: %q: %w", g.origin, g.value, err)
	}
	return nil
}
