package main

import (
	"slices"
	"strings"
)

// Keys of RabbitMQ's that leveret has not, with the reasons.

// ineffectiveKeys are keys of RabbitMQ's that cannot matter here, by how they begin. A file that has them serves all the
// same.
var ineffectiveKeys = []reasonedKey{
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
	{"ssl_handshake_timeout", "handshake_timeout is for TLS, too"},
	{"node_tags.", notShown}, {"cluster_tags.", notShown}, {"product.", notShown}, {"motd_file", notShown},
	{"cluster_keepalive_interval", oneNode}, {"consumer_disconnected_timeout", oneNode}, {"quorum_queue.member_placement_tag", oneNode},
	{"prevent_startup_if_node_was_reset", oneNode},
	{"sysmon_handler.", noErlang}, {"erlang.", noErlang}, {"hipe_compile", noErlang}, {"vhost_restart_strategy", noErlang},
	{"log.error_logger_format_depth", noErlang}, {"log.summarize_process_state", noErlang},
	{"reverse_dns_lookups", "leveret asks for no names of its clients' addresses"},
}

// missingKeys are keys of RabbitMQ's that do matter, by how they begin, for what leveret has not. A file that has them is refused:
// clients would not find what it says.
var missingKeys = []reasonedKey{
	{"cluster_queue_limit", "leveret limits the queues of each virtual host, and not those of all; default_limits.vhosts does it"},
	{"cluster_exchange_limit", "leveret has no limit of exchanges"},
	{"message_interceptors.", "leveret has no interceptors"}, {"channel_interceptor.", "leveret has no interceptors"},
	{"queue_types.", "leveret does not turn off types of queues"}, {"exchange_types.", "leveret does not turn off types of exchanges"},
	{"quorum_queue.property_equivalence.", "leveret compares all arguments of a queue that is declared again"},
	{"definitions.skip_if_unchanged", "leveret imports the definitions at each start"},
	{"definitions.hashing.", "leveret imports the definitions at each start"}, {"definitions.https.", fromFile}, {"definitions.tls.", fromFile},
	{"deprecated_features.permit.", "leveret has no such deprecated feature"},
	{"total_memory_available_override_value", "leveret asks the system for the machine's memory"},
	{"ranch_connection_max", "leveret limits the connections by max_connections"},
	{"proxy_protocol", "leveret does not speak the PROXY protocol"},
	{"auth_ldap.", ownUsers}, {"auth_http.", ownUsers}, {"auth_oauth2.", ownUsers}, {"auth_cache.", ownUsers},
	{"prometheus.", "leveret's metrics are at the address of the management API"},
	{"mqtt.", noPlugins}, {"web_mqtt.", noPlugins}, {"stomp.", noPlugins}, {"web_stomp.", noPlugins}, {"stream.", noStreams}, {"trust_store.", noPlugins},
}

func init() {
	// Other keys that begin like these are known, and may be misspelt.
	for parent, of := range map[string]struct {
		children []string
		reason   string
	}{
		"management.": {[]string{"ssl.", "tcp.compress", "tcp.idle_timeout", "tcp.inactivity_timeout", "tcp.request_timeout", "tcp.shutdown_timeout", "cors.", "csp.", "hsts.",
			"headers.", "path_prefix", "login_session_timeout", "http_log_dir", "sample_retention_policies.", "disable_stats", "enable_queue_totals",
			"restrictions.", "oauth_", "require_auth_for_api", "disable_basic_auth", "content_security_policy", "db_cache_multiplier", "process_stats_gc_timeout",
			"stats_event_max_backlog"}, "leveret's management API has no such setting"},
		"ssl_options.": {[]string{"depth", "ciphers", "password", "dh", "key.", "crl_", "log_", "psk_"}, "leveret has no such setting of TLS"},
		"log.": {[]string{"exchange", "syslog", "journald", "default.", "connection.", "channel.", "queue.", "user.", "upgrade.", "ra.", "federation.", "mirroring.",
			"console.color_", "console.use_colors", "console.stdio", "console.formatter.", "file.formatter."}, "leveret has no such setting of its log"},
	} {
		for _, child := range of.children {
			missingKeys = append(missingKeys, reasonedKey{parent + child, of.reason})
		}
	}
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
	notShown  = "leveret does not show it"
	fromFile  = "leveret reads definitions from a file"
	ownUsers  = "leveret has no other users than its own"
	noPlugins = "leveret has no plugins"
)

type reasonedKey struct{ prefix, reason string }

// reasonOf returns the reason of the first of the keys that begins as name does; empty: there is none.
func reasonOf(keys []reasonedKey, name string) string {
	i := slices.IndexFunc(keys, func(k reasonedKey) bool { return strings.HasPrefix(name, k.prefix) })
	if i < 0 {
		return ""
	}
	return keys[i].reason
}
