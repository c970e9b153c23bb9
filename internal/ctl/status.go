package ctl

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/memory"
)

// The node: its state, its memory limit, and whether it is there at all.

func nodeCommands() []*command {
	return append([]*command{
		{
			name: "status", usage: "status [--unit <unit>]", about: "Shows the state of the node.", timeout: true,
			switches: map[string]kind{"unit": text}, validate: validateUnit, run: status,
			banner: func(c *call) string { return "Status of node " + c.node.Name + " ..." },
		},
		{
			name: "help", local: true, usage: "help (<command> | [--list-commands])", about: "Shows how a command is called.", max: 1,
			switches: map[string]kind{"list-commands": boolean}, run: help,
		},
		{
			name: "version", local: true, usage: "version", about: "Shows the version of leveret.",
			run: func(*call) (result, error) { return result{message: Version()}, nil },
		},
		{
			name: "ping", offline: true, usage: "ping", about: "Checks that the node answers.", timeout: true,
			run: func(*call) (result, error) { return result{message: "Ping succeeded"}, nil },
		},
	}, slices.Concat(memoryCommands(), diskCommands(), logCommands())...)
}

// Version returns the version of the module that the binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func help(c *call) (result, error) {
	if len(c.args) == 0 {
		return result{message: strings.TrimSuffix(Help(), "\n")}, nil
	}
	cmd := commands[c.args[0]]
	if cmd == nil {
		text := "\nCommand '" + c.args[0] + "' not found."
		if meant := suggestion(c.args[0]); meant != "" {
			text += " \nDid you mean '" + meant + "'? "
		}
		return result{}, failed(exitUsage, text)
	}
	return result{message: strings.TrimSuffix(cmd.help(), "\n")}, nil
}

// release is what RabbitMQ release a profile stands for.
var release = map[leveret.Profile]string{leveret.RabbitMQ43: "4.3.6", leveret.RabbitMQ310: "3.10.8"}

// units are bytes per unit of --unit.
var units = map[string]float64{
	"bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	"tib": 1 << 40,
}

func validateUnit(c *call) error {
	unit := c.text("unit", "gb")
	if units[strings.ToLower(unit)] == 0 {
		return &misuse{exitUsage, `"unit '` + unit + `' is not supported. Please use one of: bytes, mb, mib, gb, gib, tb, tib"`}
	}
	return nil
}

// inUnit shows a number of bytes in the unit that was asked for.
func (c *call) inUnit(bytes int64) string {
	unit := c.text("unit", "gb")
	if unit == "bytes" {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	const decimals = 1e4
	return oneLine(math.Round(float64(bytes)/units[strings.ToLower(unit)]*decimals)/decimals) + " " + unit
}

func status(c *call) (result, error) {
	s := c.takeStatus()
	return result{message: s.text(c), object: s.object(c.node), report: true}, nil
}

// A statusReport is what both formats of the status show.
type statusReport struct {
	uptime                      int64 // seconds
	process, bodies, limit      int64 // bytes; the first two are what the process and the bodies in it take
	watermark                   memory.Watermark
	space                       leveret.DiskInfo
	release                     string
	connections, queues, vhosts int
}

func (c *call) takeStatus() statusReport {
	b := c.node.Broker
	info := b.Memory()
	s := statusReport{
		uptime: int64(time.Since(c.node.Started).Seconds()), process: memory.InUse(), bodies: info.Bodies, space: b.DiskSpace(),
		release: release[b.Profile()], connections: len(b.Connections()),
	}
	s.watermark, s.limit = c.node.Memory.watermark(info.Limit), max(info.Limit, 0) // a limit of 0 is kept as a negative one
	for _, info := range b.VHosts() {
		s.vhosts++
		if v, err := b.VHost(info.Name); err == nil {
			s.queues += len(v.Queues())
		}
	}
	return s
}

func osName() string { return strings.ToUpper(runtime.GOOS[:1]) + runtime.GOOS[1:] }

func (s statusReport) text(c *call) string {
	setting, limit := "none", "none"
	if s.watermark.Given != "" {
		setting, limit = s.watermark.Given, c.inUnit(s.limit)
		if s.watermark.Bytes == 0 {
			setting += " of available memory"
		}
	}
	free := "unknown"
	if s.space.Free >= 0 {
		free = c.inUnit(s.space.Free)
	}
	alarms := c.alarmLines()
	if alarms == nil {
		alarms = []string{"(none)"}
	}
	listeners := []string{"(none)"}
	for i, l := range c.node.Listeners {
		listeners = slices.Insert(listeners[:i], i, l.line())
	}
	return strings.Join([]string{
		"Runtime\n", fmt.Sprintf("OS PID: %d", os.Getpid()), "OS: " + osName(), fmt.Sprintf("Uptime (seconds): %d", s.uptime),
		"Is under maintenance?: false", "Product name: leveret", "Product version: " + Version(),
		"RabbitMQ version: " + s.release, "Node name: " + c.node.Name, "Go version: " + runtime.Version(),
		"\nAlarms\n", strings.Join(alarms, "\n"),
		"\nTags\n", "(none)",
		"\nMemory\n", "Total memory used: " + c.inUnit(s.process), "Calculation strategy: allocated", "Message bodies: " + c.inUnit(s.bodies),
		"Memory high watermark setting: " + setting + ", computed to: " + limit,
		"\nFree Disk Space\n", "Low free disk space watermark: " + c.inUnit(s.space.Limit), "Free disk space: " + free,
		"\nTotals\n", fmt.Sprintf("Connection count: %d", s.connections), fmt.Sprintf("Queue count: %d", s.queues),
		fmt.Sprintf("Virtual host count: %d", s.vhosts),
		"\nListeners\n", strings.Join(listeners, "\n"),
	}, "\n")
}

// line describes the listener.
func (l Listener) line() string {
	return fmt.Sprintf("Interface: %s, port: %d, protocol: %s, purpose: %s", l.Interface, l.Port, l.Protocol, l.purpose())
}

func (l Listener) purpose() string {
	switch l.Protocol {
	case "amqp/ssl":
		return "AMQP 0-9-1 over TLS"
	case "http":
		return "HTTP API"
	}
	return "AMQP 0-9-1"
}

// setting is the watermark as rabbitmqctl shows it in JSON.
func (s statusReport) setting() row {
	if w := s.watermark; w.Given != "" && w.Bytes == 0 {
		return row{{"relative", w.Fraction}}
	}
	return row{{"absolute", s.limit}}
}

func (s statusReport) object(n *Node) row {
	var free any = "unknown"
	if s.space.Free >= 0 {
		free = s.space.Free
	}
	return row{
		{"pid", os.Getpid()}, {"os", osName()}, {"uptime", s.uptime}, {"is_under_maintenance", false},
		{"product_name", "leveret"}, {"product_version", Version()}, {"rabbitmq_version", s.release},
		{"go_version", runtime.Version()}, {"alarms", n.alarmObjects()}, {"tags", []any{}}, {"listeners", n.listenerObjects()},
		{"memory", row{{"total", row{{"allocated", s.process}}}, {"message_bodies", s.bodies}}},
		{"vm_memory_calculation_strategy", "allocated"}, {"vm_memory_high_watermark_setting", s.setting()},
		{"vm_memory_high_watermark_limit", s.limit}, {"disk_free_limit", s.space.Limit}, {"disk_free", free},
		{"totals", row{{"connection_count", s.connections}, {"queue_count", s.queues}, {"virtual_host_count", s.vhosts}}},
	}
}
