package main

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// configKeys are the keys of a configuration file that leveret knows. Those below leveret are its own.
var configKeys []configKey

func init() { // functions of the table look up the table
	configKeys = []configKey{
		{"listeners.tcp", noListener("amqp")}, {"listeners.tcp.{name}", listener("amqp")},
		{"listeners.ssl", noListener("amqps")}, {"listeners.ssl.{name}", listener("amqps")},
		{"ssl_options.certfile", same("cert")}, {"ssl_options.keyfile", same("key")},
		{"ssl_options.cacertfile", setCAFile}, {"ssl_options.verify", setVerify},
		{"ssl_options.fail_if_no_peer_cert", boolean("client-cert-required")},
		{"ssl_options.versions.{n}", oneMore("tls-versions", map[string]string{"tlsv1.2": "tlsv1.2", "tlsv1.3": "tlsv1.3"})},
		{"ssl_cert_login_from", choice("cert-login", map[string]string{"distinguished_name": "distinguished-name", "common_name": "common-name"})},
		{"management.tcp.ip", setHTTPAddress}, {"management.tcp.port", setHTTPPort},
		{"loopback_users", setNoLoopbackUsers}, {"loopback_users.{name}", named("loopback-users")},
		{"default_user", same("default-user")}, {"default_pass", same("default-pass")},
		{"default_user_tags.{tag}", named("default-user-tags")},
		{"default_vhost", only("/", "leveret's first virtual host is /")},
		{"default_permissions.configure", same("default-configure")}, {"default_permissions.write", same("default-write")},
		{"default_permissions.read", same("default-read")},
		{"credential_validator.validation_backend", setValidator}, {"credential_validator.min_length", setMinLength},
		{"credential_validator.regexp", setPasswordPattern},
		{"password_hashing_module", only("rabbit_password_hashing_sha256", "leveret hashes passwords by SHA-256")},
		{"load_definitions", same("definitions")}, {"definitions.local.path", same("definitions")}, {"management.load_definitions", same("definitions")},
		{"definitions.import_backend", checkBackend},
		{"auth_backends.{n}", checkAuth}, {"auth_backends.{n}.authn", checkAuth}, {"auth_backends.{n}.authz", checkAuth},
		{"auth_mechanisms.{n}", oneMore("auth-mechanisms", authMechanisms)},
		{"anonymous_login_user", same("anonymous-login-user")}, {"anonymous_login_pass", same("anonymous-login-pass")},
		{"cluster_name", same("cluster-name")},
		{"consumer_timeout", duration("consumer-timeout", "ms")},
		{"heartbeat", duration("heartbeat", "s")}, {"handshake_timeout", duration("handshake-timeout", "ms")},
		{"frame_max", same("frame-max")},
		{"channel_max", oldName("channel-max", same)}, {"max_channels_per_connection", newName("channel-max", same)},
		{"max_connections", newName("max-connections", limit)}, {"connection_max", oldName("max-connections", limit)},
		{"channel_max_per_node", limit("max-channels")}, {"consumer_max_per_channel", limit("max-consumers-per-channel")},
		{"vhost_max", limit("max-vhosts")},
		{"max_message_size", duration("max-message-size", "")},
		{"default_queue_type", queueType},
		{"deprecated_features.permit.global_qos", boolean("global-qos")},
		{"deprecated_features.permit.transient_nonexcl_queues", checkPermitted},
		{"deprecated_features.permit.management_metrics_collection", checkPermitted},
		{"vm_memory_high_watermark.relative", setRelativeWatermark}, {"vm_memory_high_watermark.absolute", size("vm-memory-high-watermark")},
		{"disk_free_limit.absolute", size("disk-free-limit")}, {"disk_free_limit.relative", setRelativeDiskLimit},
		{"log.console", setConsole}, {"log.console.level", level("log")}, {"log.console.formatter", formatter("log-format")},
		{"log.dir", setLogDir}, {"log.file", setLogFile}, {"log.file.level", level("log-file-level")}, {"log.file.formatter", formatter("log-file-format")},
		{"leveret.profile", same("profile")}, {"leveret.control", same("control")}, {"leveret.clock", same("clock")}, {"leveret.pid_file", same("pid-file")},
		{"leveret.faults", boolean("faults")},
		{"leveret.data", same("data")}, {"leveret.sync", same("sync")},
	}
	configKeys = append(configKeys, defaultKeys()...)
}

// same gives a flag the value.
func same(flag string) func(*line) error {
	return func(l *line) error { l.give(flag, l.Value); return nil }
}

func boolean(flag string) func(*line) error {
	return func(l *line) error {
		yes, err := l.yes()
		l.give(flag, strconv.FormatBool(yes))
		return err
	}
}

// duration gives a flag a number with a unit.
func duration(flag, unit string) func(*line) error {
	return func(l *line) error {
		n, err := l.number()
		l.give(flag, strconv.Itoa(n)+unit)
		return err
	}
}

// limit gives a flag a limit, or that there is none.
func limit(flag string) func(*line) error {
	return func(l *line) error {
		n, err := l.number()
		switch {
		case l.Value == "infinity":
			l.give(flag, "0")
			return nil
		case err != nil:
			return fmt.Errorf("%q is not a whole number or infinity", l.Value)
		case n == 0:
			return errors.New("leveret has no limit of 0")
		}
		l.give(flag, l.Value)
		return nil
	}
}

// A key that has got a new name keeps the old one. The new name decides where a file has both.
func newName(flag string, set func(flag string) func(*line) error) func(*line) error {
	return func(l *line) error {
		l.renamed[flag] = true
		return set(flag)(l)
	}
}

func oldName(flag string, set func(flag string) func(*line) error) func(*line) error {
	return func(l *line) error {
		before := l.flags[flag]
		err := set(flag)(l)
		if l.renamed[flag] {
			l.flags[flag] = before
		}
		return err
	}
}

// only takes the one value that leveret has.
func only(value, reason string) func(*line) error {
	return func(l *line) error {
		if l.Value != value {
			return fmt.Errorf("%q is not %s: %s", l.Value, value, reason)
		}
		return nil
	}
}

// named adds the name in the key to a flag's list, or takes it out. The list begins empty, whatever the flag's default is.
func named(flag string) func(*line) error {
	return func(l *line) error {
		yes, err := l.yes()
		if err != nil {
			return err
		}
		names := slices.DeleteFunc(l.names[flag].all, func(name string) bool { return name == l.variable })
		if yes {
			names = append(names, l.variable)
		}
		l.names[flag] = nameList{names, l.origin()}
		return nil
	}
}

// choice gives a flag what one of some words means.
func choice(flag string, words map[string]string) func(*line) error {
	return func(l *line) error {
		w, err := l.oneOf(words)
		if err == nil {
			l.give(flag, w)
		}
		return err
	}
}

// oneMore adds one of some words to a flag's list.
func oneMore(flag string, words map[string]string) func(*line) error {
	return func(l *line) error {
		w, err := l.oneOf(words)
		if err == nil {
			l.add(flag, w)
		}
		return err
	}
}

// listener adds an address. A port alone is one of all addresses of the machine.
func listener(flag string) func(*line) error {
	return func(l *line) error {
		addr := l.Value
		if _, err := l.number(); err == nil {
			addr = ":" + addr
		}
		if host, port, ok := cutLast(addr, ":"); ok && strings.Contains(host, ":") && net.ParseIP(host) != nil {
			addr = net.JoinHostPort(host, port) // RabbitMQ's addresses of IPv6 have no brackets
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("%q is not a port, or an address and a port", l.Value)
		}
		l.add(flag, addr)
		return nil
	}
}

// cutLast is strings.Cut around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

var errOnlyNone = errors.New("only none is expected")

func noListener(flag string) func(*line) error {
	return func(l *line) error {
		if l.Value != none {
			return errOnlyNone
		}
		l.give(flag, "")
		return nil
	}
}

func setCAFile(l *line) error {
	l.caFile = given{l.Value, l.origin()}
	return nil
}

// setVerify says whether clients are asked for certificates. Without it they are not, as with RabbitMQ.
func setVerify(l *line) error {
	w, err := l.oneOf(map[string]string{"verify_peer": "yes", "verify_none": ""})
	l.verifyPeer = w != ""
	return err
}

func setHTTPAddress(l *line) error {
	l.http.ip, l.http.origin = l.Value, l.origin()
	return nil
}

func setHTTPPort(l *line) error {
	_, err := l.number()
	l.http.port, l.http.origin = l.Value, l.origin()
	return err
}

func setNoLoopbackUsers(l *line) error {
	if l.Value != none {
		return errOnlyNone
	}
	l.give("loopback-users", none)
	return nil
}

// queueType takes a default queue type by its own name, or by the name of RabbitMQ's module.
func queueType(l *line) error {
	name := strings.TrimSuffix(strings.TrimPrefix(l.Value, "rabbit_"), "_queue")
	if l.Value != name && l.Value != "rabbit_"+name+"_queue" {
		return fmt.Errorf("%q is no queue type", l.Value)
	}
	l.give("default-queue-type", name)
	return nil
}

// checkPermitted takes that a feature is permitted which leveret does not deny.
func checkPermitted(l *line) error {
	yes, err := l.yes()
	if err == nil && !yes {
		return errors.New("leveret does not deny it")
	}
	return err
}

func checkBackend(l *line) error {
	if l.Value != "local_filesystem" && l.Value != "local" {
		return fmt.Errorf("%q is not local_filesystem: "+fromFile, l.Value)
	}
	return nil
}

// authMechanisms are the mechanisms by which clients may log in.
var authMechanisms = map[string]string{"PLAIN": "PLAIN", "AMQPLAIN": "AMQPLAIN", "ANONYMOUS": "ANONYMOUS", "EXTERNAL": "EXTERNAL"}

// checkAuth takes no other users than the broker's own.
func checkAuth(l *line) error {
	if l.Value != "internal" && l.Value != "rabbit_auth_backend_internal" {
		return fmt.Errorf("%q is not internal: "+ownUsers, l.Value)
	}
	return nil
}

// pointNumber is how RabbitMQ has numbers that need not be whole.
var pointNumber = regexp.MustCompile(`^[0-9]+\.[0-9]+(e[-+]?[0-9]+)?$`)

// setRelativeWatermark gives the flag a fraction of the machine's memory.
func setRelativeWatermark(l *line) error {
	fraction, err := strconv.ParseFloat(l.Value, 64)
	if err != nil || fraction > 1 || !pointNumber.MatchString(l.Value) {
		return fmt.Errorf("%q is not a fraction of 0.0 to 1.0", l.Value)
	}
	l.give("vm-memory-high-watermark", l.Value)
	return nil
}

// setRelativeDiskLimit gives the flag a multiple of the machine's memory.
func setRelativeDiskLimit(l *line) error {
	if !pointNumber.MatchString(l.Value) {
		return fmt.Errorf("%q is not a multiple of the machine's memory, such as 1.0", l.Value)
	}
	l.give("disk-free-limit", l.Value)
	return nil
}

// levelWords are RabbitMQ's levels of the log. leveret has four.
var levelWords = map[string]string{"debug": "debug", "info": "info", "notice": "info", "warning": "warn", "error": "error",
	"critical": "error", "alert": "error", "emergency": "error", none: none}

func level(flag string) func(*line) error { return choice(flag, levelWords) }

func formatter(flag string) func(*line) error {
	return choice(flag, map[string]string{"plaintext": "text", "json": "json"})
}

// setConsole turns the log on standard error on or off, whatever its level. It is on by default.
func setConsole(l *line) error {
	yes, err := l.yes()
	l.silent = given{origin: l.origin()}
	if yes {
		l.silent = given{}
	}
	return err
}

func setLogDir(l *line) error {
	l.logDir = l.Value
	return nil
}

func setLogFile(l *line) error {
	if l.Value == "false" {
		l.give("log-file", none)
		return nil
	}
	l.give("log-file", l.Value)
	return nil
}
