package ctl

import (
	"log/slog"
	"math"
)

// logLevels are RabbitMQ's levels as those of package log/slog.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "notice": slog.LevelInfo + 2, "warning": slog.LevelWarn, "error": slog.LevelError,
	"critical": slog.LevelError + 2, "alert": slog.LevelError + 3, "emergency": slog.LevelError + 4, "none": math.MaxInt,
}

func logCommands() []*command {
	return []*command{{
		name: "set_log_level", usage: "set_log_level <log_level>", min: 1, max: 1,
		about:    "Sets how much the log tells: debug, info, notice, warning, error, critical, alert, emergency or none.",
		validate: validateLogLevel,
		banner:   func(c *call) string { return "Setting log level to " + quoted(c.args[0]) + " ..." },
		run:      setLogLevel,
	}}
}

func validateLogLevel(c *call) error {
	if _, known := logLevels[c.args[0]]; known {
		return nil
	}
	return failed(exitUnavailable, "level "+c.args[0]+" is not supported. Try one of debug, info, warning, error, critical, none")
}

func setLogLevel(c *call) (result, error) {
	if c.node.SetLogLevel == nil {
		return result{}, failed(exitUnavailable, "this node has no log: start it with leveret serve, or set control.Config.SetLogLevel")
	}
	c.node.SetLogLevel(logLevels[c.args[0]])
	return c.okOf(nil)
}
