package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
)

// The log goes to standard error, and to a file if there is to be one, each with a level and a format of its own.

// logSettings are for the two places of the log.
type logSettings struct {
	console, file logPlace
	path          string // of the file; empty: none
}

// A logPlace is what one place gets.
type logPlace struct {
	level slog.Level
	json  bool
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	none: slog.LevelError + 1,
}

func (s *settings) setLog(w flagWords) (err error) {
	if s.log.console, err = s.logPlace("log", w.log, "log-format", w.logFormat); err != nil {
		return err
	}
	if w.logFile != none {
		s.log.path = w.logFile
	}
	s.log.file, err = s.logPlace("log-file-level", w.logFileLevel, "log-file-format", w.logFileFormat)
	return err
}

func (s *settings) logPlace(levelFlag, level, formatFlag, format string) (logPlace, error) {
	at, ok := levels[level]
	if !ok {
		return logPlace{}, fmt.Errorf("%s is %q, not debug, info, warn, error or none", s.from.of(levelFlag), level)
	}
	if format != "text" && format != "json" {
		return logPlace{}, fmt.Errorf("%s is %q, not text or json", s.from.of(formatFlag), format)
	}
	return logPlace{at, format == "json"}, nil
}

// An openLog is the log while it is written.
type openLog struct {
	*slog.Logger
	io.Closer // of the file

	console, file slog.LevelVar
}

// setLevel changes the level of both places.
func (l *openLog) setLevel(level slog.Level) {
	l.console.Set(level)
	l.file.Set(level)
}

// open opens the log.
func (l logSettings) open(stderr io.Writer) (*openLog, error) {
	log := &openLog{Closer: io.NopCloser(nil)}
	console := l.console.handler(stderr, &log.console)
	if l.path == "" {
		log.Logger = slog.New(console)
		return log, nil
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, err
	}
	log.Closer = file
	log.Logger = slog.New(both{console, l.file.handler(file, &log.file)})
	return log, nil
}

func (p logPlace) handler(w io.Writer, level *slog.LevelVar) slog.Handler {
	level.Set(p.level)
	opts := &slog.HandlerOptions{Level: level}
	if p.json {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// both is a log in two places.
type both [2]slog.Handler

// Enabled reports whether one of the places wants records of a level.
func (b both) Enabled(ctx context.Context, l slog.Level) bool {
	return b[0].Enabled(ctx, l) || b[1].Enabled(ctx, l)
}

// Handle writes a record where its level is wanted.
func (b both) Handle(ctx context.Context, r slog.Record) error {
	var errs [2]error
	for i, h := range b {
		if h.Enabled(ctx, r.Level) {
			errs[i] = h.Handle(ctx, r.Clone())
		}
	}
	return errors.Join(errs[:]...)
}

// WithAttrs adds attributes in both places.
func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(attrs), b[1].WithAttrs(attrs)}
}

// WithGroup begins a group in both places.
func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}
