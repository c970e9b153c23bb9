package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/cmd/leveret/internal/conf"
	"github.com/leveretmq/leveret/internal/similar"
)

// A configuration file has the keys of rabbitmq.conf. Each key stands for flags of leveret serve, so that a setting means
// the same wherever it is given.

// A configFile collects what a file gives the flags.
type configFile struct {
	name    string
	flags   map[string]given
	ignored []string // keys of RabbitMQ's that change nothing here, each with its line and the reason

	http       httpKeys
	caFile     given
	verifyPeer bool
	logDir     string
	sizes      []fileSize
	vhosts     vhostDefaults
	passwords  passwordRule
	silent     given // the line that turns the log on standard error off
	errs       []error
}

// given is a flag's value, and the line that gives it.
type given struct{ value, origin string }

// httpKeys are the two parts of the management API's address.
type httpKeys struct{ ip, port, origin string }

// A line is one setting of a file, as the function of its key gets it.
type line struct {
	*configFile
	conf.Entry
	variable string // what stands for the part of the key that is a name, such as tcp.NAME
}

// readConfig reads a file. The error has a line for each fault.
func readConfig(name string) (*configFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &configFile{name: name, flags: map[string]given{}, vhosts: newVHostDefaults(),
		passwords: passwordRule{minLength: defaultMinLength}}
	entries, err := conf.Parse(data)
	c.faults(err)
	for _, e := range entries {
		c.read(e)
	}
	c.finish()
	return c, errors.Join(c.errs...)
}

// faults adds the errors of a file's lines.
func (c *configFile) faults(err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, fault := range joined.Unwrap() {
			c.errs = append(c.errs, fmt.Errorf("%s:%w", c.name, fault))
		}
	}
}

func (c *configFile) read(e conf.Entry) {
	l := &line{configFile: c, Entry: e}
	for _, k := range configKeys {
		if variable, ok := k.match(e.Key); ok {
			l.variable = variable
			if err := k.set(l); err != nil {
				c.errs = append(c.errs, fmt.Errorf("%s: %w", l.origin(), err))
			}
			return
		}
	}
	if reason := ineffective(e.Name()); reason != "" {
		c.ignored = append(c.ignored, l.origin()+": "+reason)
		return
	}
	c.errs = append(c.errs, fmt.Errorf("%s is not known%s", l.origin(), suggestKey(e.Key)))
}

// finish makes flags of what several keys say together.
func (c *configFile) finish() {
	c.giveSizes()
	if h := c.http; h.origin != "" {
		c.flags["http"] = given{net.JoinHostPort(h.ip, cmp.Or(h.port, "15672")), h.origin}
	}
	if c.verifyPeer && c.caFile.origin != "" {
		c.flags["client-ca"] = c.caFile
	}
	if c.silent.origin != "" {
		c.flags["log"] = given{none, c.silent.origin}
	}
	if file, ok := c.flags["log-file"]; ok && c.logDir != "" && !strings.HasPrefix(file.value, "/") && file.value != none {
		c.flags["log-file"] = given{c.logDir + "/" + file.value, file.origin}
	}
}

// origin is how errors call a setting.
func (l *line) origin() string { return fmt.Sprintf("%s:%d: %s", l.name, l.Line, l.Name()) }

// give sets a flag. A later line replaces what an earlier one has set.
func (l *line) give(flag, value string) { l.flags[flag] = given{value, l.origin()} }

// add adds to a flag with a list.
func (l *line) add(flag, value string) {
	if old, ok := l.flags[flag]; ok && old.value != none && old.value != "" {
		value = old.value + "," + value
	}
	l.give(flag, value)
}

// A configKey is a key with what it does. A part of the key in braces stands for a name.
type configKey struct {
	pattern string
	set     func(*line) error
}

func (k configKey) match(key []string) (variable string, ok bool) {
	parts := strings.Split(k.pattern, ".")
	if len(parts) != len(key) {
		return "", false
	}
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "{"):
			variable = key[i]
		case part != key[i]:
			return "", false
		}
	}
	return variable, true
}

// suggestKey says which key was probably meant. A name inside of a key may be any.
func suggestKey(key []string) string {
	var candidates []string
	for _, k := range configKeys {
		parts := strings.Split(k.pattern, ".")
		for i, part := range parts {
			if strings.HasPrefix(part, "{") && i < len(key) {
				parts[i] = key[i]
			}
		}
		candidates = append(candidates, strings.Join(parts, "."))
	}
	if meant := similar.Name(strings.Join(key, "."), candidates); meant != "" {
		return "; probably " + meant + " is meant"
	}
	return ""
}

// ineffectiveKeys are keys of RabbitMQ's that cannot matter here, by how they begin. A file that has them serves all the
// same.
var ineffectiveKeys = []ineffectiveKey{
	{"vm_memory_high_watermark_paging_ratio", "leveret keeps messages in memory"},
	{"vm_memory_calculation_strategy", asksGo}, {"memory_monitor_interval", asksGo},
	{"background_gc_", noErlang}, {"delegate_count", noErlang}, {"default_worker_pool_size", noErlang},
	{"socket_writer.", noErlang}, {"lazy_queue_explicit_gc_run_operation_threshold", noErlang},
	{"queue_explicit_gc_run_operation_threshold", noErlang},
	{"cluster_formation.", oneNode}, {"cluster_partition_handling", oneNode}, {"net_ticktime", oneNode}, {"distribution.listener.", oneNode},
	{"mnesia_table_loading_retry_", oneNode}, {"metadata_store.", oneNode}, {"mirroring_", oneNode}, {"queue_master_locator", oneNode},
	{"queue_leader_locator", oneNode}, {"quorum_queue.initial_cluster_size", oneNode}, {"quorum_queue.continuous_membership.", oneNode},
	{"raft.", noRaft}, {"quorum_queue.compute_checksums", noRaft}, {"quorum_queue.compress_mem_tables", noRaft},
	{"quorum_queue.wal_", noRaft}, {"quorum_queue.segment_", noRaft}, {"quorum_queue.snapshot_chunk_size", noRaft},
	{"quorum_queue.max_append_entries_rpc_batch_size", noRaft}, {"quorum_queue.commands_soft_limit", noRaft},
	{"classic_queue.default_version", "leveret has one version of classic queues"},
	{"collect_statistics", "leveret has no interval of statistics"},
	{"management.rates_mode", "the rates of leveret's API are always basic"},
	{"num_acceptors.", "leveret has no acceptors"},
	{"log.file.rotation.", "leveret does not rotate its log"},
	{"queue_index_embed_msgs_below", "leveret keeps messages in memory"},
	{"message_store_shutdown_timeout", "leveret keeps messages in memory"},
	{"tcp_listen_options.", "leveret has the system's own values of socket options"},
	{"session_max_per_connection", noNewAMQP}, {"link_max_per_session", noNewAMQP}, {"deprecated_features.permit.amqp_address_v1", noNewAMQP},
	{"stream.replication.", noStreams}, {"stream.read_ahead", noStreams}, {"stream.data_dir", noStreams},
	{"runtime_parameters.limits.", "leveret has no parameters of plugins"},
	{"amqp_client.ssl_options.", "leveret connects to no broker"},
	{"deprecated_features.permit.classic_queue_mirroring", oneNode}, {"deprecated_features.permit.ram_node_type", oneNode},
	{"deprecated_features.permit.queue_master_locator", oneNode},
	{"ssl_options.honor_cipher_order", goTLS}, {"ssl_options.honor_ecc_order", goTLS}, {"ssl_options.secure_renegotiate", goTLS},
	{"ssl_options.client_renegotiation", goTLS}, {"ssl_options.reuse_sessions", goTLS}, {"ssl_options.bypass_pem_cache", goTLS},
	{"ssl_allow_poodle_attack", goTLS},
}

// Reasons that several keys have.
const (
	oneNode   = "leveret is one node"
	asksGo    = "leveret asks the Go runtime for its memory"
	noErlang  = "leveret has no processes of Erlang"
	noRaft    = "leveret keeps no log of Raft"
	noNewAMQP = "leveret has no AMQP 1.0"
	noStreams = "leveret has no streams"
	goTLS     = "Go's TLS decides"
)

type ineffectiveKey struct{ prefix, reason string }

// ineffective returns why a key does not matter; empty: it does.
func ineffective(key string) string {
	i := slices.IndexFunc(ineffectiveKeys, func(k ineffectiveKey) bool { return strings.HasPrefix(key, k.prefix) })
	if i < 0 {
		return ""
	}
	return "has no effect: " + ineffectiveKeys[i].reason
}

// number checks that the value is a whole number.
func (l *line) number() (int, error) {
	n, err := strconv.Atoi(l.Value)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a whole number", l.Value)
	}
	return n, nil
}

// yes reads true or false.
func (l *line) yes() (bool, error) {
	if l.Value != "true" && l.Value != "false" {
		return false, fmt.Errorf("%q is not true or false", l.Value)
	}
	return l.Value == "true", nil
}

// oneOf translates the value.
func (l *line) oneOf(words map[string]string) (string, error) {
	word, ok := words[l.Value]
	if !ok {
		known := make([]string, 0, len(words))
		for w := range words {
			known = append(known, w)
		}
		slices.Sort(known)
		return "", fmt.Errorf("%q is not one of %s", l.Value, strings.Join(known, ", "))
	}
	return word, nil
}
