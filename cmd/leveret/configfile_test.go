package main

import (
	"crypto/tls"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func configOf(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "leveret.conf")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func settingsOf(t *testing.T, text string, args ...string) (settings, error) {
	return parseSettings(append([]string{"--config", configOf(t, text)}, args...), io.Discard)
}

// A file sets everything that flags set.
func TestConfigFile(t *testing.T) {
	s, err := settingsOf(t, `
# a node in production
listeners.tcp.local = 127.0.0.1:5673
listeners.tcp.all   = 5672
listeners.ssl.1     = 10.0.0.1:5671
ssl_options.certfile   = /etc/cert.pem
ssl_options.keyfile    = /etc/key.pem
ssl_options.cacertfile = /etc/ca.pem
ssl_options.verify     = verify_peer
ssl_options.fail_if_no_peer_cert = true
ssl_options.versions.1 = tlsv1.3
ssl_cert_login_from    = common_name
management.tcp.port = 8080
management.tcp.ip   = 127.0.0.1
loopback_users.ann  = true
loopback_users.bob  = true
default_user = ann
default_pass = 'se#cret'
default_user_tags.management = true
default_user_tags.monitoring = true
default_user_tags.administrator = false
default_permissions.configure = ^$
default_permissions.write = ^orders
default_permissions.read = .*
auth_mechanisms.1 = PLAIN
auth_mechanisms.2 = AMQPLAIN
auth_mechanisms.3 = ANONYMOUS
anonymous_login_user = none
load_definitions = /etc/definitions.json
definitions.import_backend = local_filesystem
cluster_name = farm
heartbeat = 30
handshake_timeout = 5000
frame_max = 65536
channel_max = 128
max_message_size = 1048576
consumer_timeout = 20000
max_connections = 100
channel_max_per_node = 200
consumer_max_per_channel = infinity
vhost_max = 3
deprecated_features.permit.global_qos = false
default_queue_type = quorum
vm_memory_high_watermark.absolute = 2GB
log.dir = /var/log/leveret
log.console = false
log.console.level = debug
log.file = leveret.log
log.file.level = warning
log.file.formatter = json
leveret.profile = 3.10
leveret.control = none
`)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:5673,:5672", s.amqp)
	assert.Equal(t, "10.0.0.1:5671", s.amqps)
	assert.Equal(t, httpSettings{"127.0.0.1:8080", true}, s.http)
	assert.Equal(t, []any{"/etc/cert.pem", "/etc/key.pem", "/etc/ca.pem", true, []uint16{tls.VersionTLS13}},
		[]any{s.tls.cert, s.tls.key, s.tls.clientCA, s.tls.demand, s.tls.versions})
	assert.Equal(t, userSettings{"ann", "se#cret", "management,monitoring", leveret.Permissions{Configure: "^$", Write: "^orders", Read: ".*"},
		[]string{"ann", "bob"}, []string{"PLAIN", "AMQPLAIN"}, login{"none", "guest"}}, s.users)
	assert.Equal(t, clientSettings{30 * time.Second, 5 * time.Second, 20 * time.Second, 65536, 128, 1 << 20, false, "quorum",
		leveret.NodeLimits{MaxConnections: 100, MaxChannels: 200, MaxVHosts: 3}}, s.clients)
	assert.Equal(t, "/etc/definitions.json", s.definitions)
	assert.Equal(t, "farm", s.clusterName)
	assert.Equal(t, "2GB", s.watermark.Given)
	assert.Equal(t, logSettings{logPlace{levels[none], false}, logPlace{levels["warn"], true}, "/var/log/leveret/leveret.log"}, s.log)
	assert.Equal(t, leveret.RabbitMQ310, s.profile)
	assert.Empty(t, s.control)
	assert.Empty(t, s.ignored)
}

// What a later line says replaces what an earlier one has said.
func TestConfigFileLines(t *testing.T) {
	for text, want := range map[string]func(settings) any{
		"heartbeat = 10\nheartbeat = 0": func(s settings) any { return s.clients.heartbeat == 0 },
		"listeners.tcp = none\nlisteners.ssl.1 = 1\nssl_options.certfile = c\nssl_options.keyfile = k": func(s settings) any { return s.amqp == "" },
		"listeners.tcp = none\nlisteners.tcp.1 = 7":                                                    func(s settings) any { return s.amqp == ":7" },
		"loopback_users = none":                                                       func(s settings) any { return len(s.users.loopback) == 0 },
		"loopback_users.guest = false":                                                func(s settings) any { return len(s.users.loopback) == 0 },
		"loopback_users.guest = false\nloopback_users.ann = true":                     func(s settings) any { return strings.Join(s.users.loopback, ",") == "ann" },
		"management.tcp.ip = ::1":                                                     func(s settings) any { return s.http.addr == "[::1]:15672" },
		"vm_memory_high_watermark.relative = 1.0":                                     func(s settings) any { return s.watermark.Given == "1" },
		"loopback_users = none\nloopback_users.guest = true":                          func(s settings) any { return len(s.users.loopback) == 0 },
		"loopback_users.ann = false":                                                  func(s settings) any { return len(s.users.loopback) == 0 },
		"loopback_users.ann = true\nloopback_users.ann = false":                       func(s settings) any { return len(s.users.loopback) == 0 },
		"default_user_tags.administrator = false":                                     func(s settings) any { return s.users.tags == "" },
		"default_user = ann":                                                          func(s settings) any { return s.users.name == "ann" && s.users.password == "guest" },
		"default_pass = secret":                                                       func(s settings) any { return s.users.name == "guest" && s.users.password == "secret" },
		"max_connections = 7\nconnection_max = 5":                                     func(s settings) any { return s.clients.node.MaxConnections == 7 },
		"connection_max = 5\nmax_connections = 7":                                     func(s settings) any { return s.clients.node.MaxConnections == 7 },
		"connection_max = 5\nconnection_max = 6":                                      func(s settings) any { return s.clients.node.MaxConnections == 6 },
		"max_channels_per_connection = 7\nchannel_max = 5":                            func(s settings) any { return s.clients.channelMax == 7 },
		"default_vhost = /\npassword_hashing_module = rabbit_password_hashing_sha256": func(s settings) any { return s.ignored == nil },
		"log.file = a.log\nlog.file = false":                                          func(s settings) any { return s.log.path == "" },
		"log.console = false\nlog.console = true\nlog.console.level = critical":       func(s settings) any { return s.log.console.level == levels["error"] },
		"max_channels_per_connection = 0":                                             func(s settings) any { return s.clients.channelMax == 0 },
	} {
		s, err := settingsOf(t, text)
		require.NoError(t, err, text)
		assert.True(t, want(s).(bool), text)
	}
}

// A client is asked for its certificate only where the file says so, as with RabbitMQ.
func TestConfigFileVerifies(t *testing.T) {
	const rest = "\nlisteners.ssl.1 = 1\nssl_options.certfile = c\nssl_options.keyfile = k\nssl_options.cacertfile = ca"
	for verify, ca := range map[string]string{"": "", "ssl_options.verify = verify_none": "", "ssl_options.verify = verify_peer": "ca"} {
		s, err := settingsOf(t, verify+rest)
		require.NoError(t, err)
		assert.Equal(t, ca, s.tls.clientCA, verify)
	}
}

func TestConfigFileRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\nlistener.tcp.default = 5672":            "FILE:2: listener.tcp.default is not known; probably listeners.tcp.default is meant",
		"vm_memory_high_watermark.relative = 1":    `FILE:1: vm_memory_high_watermark.relative: "1" is not a fraction of 0.0 to 1.0`,
		"vm_memory_high_watermark.relative = .5":   `FILE:1: vm_memory_high_watermark.relative: ".5" is not a fraction of 0.0 to 1.0`,
		"disk_free_limit.relative = 1":             `FILE:1: disk_free_limit.relative: "1" is not a multiple of the machine's memory, such as 1.0`,
		"max_message_size = 16MB":                  `FILE:1: max_message_size: "16MB" is not a whole number`,
		"default_permissions.read = .*":            "FILE:1: default_permissions.read: default_permissions needs configure, write and read",
		"default_vhost = other":                    `FILE:1: default_vhost: "other" is not /: leveret's first virtual host is /`,
		"password_hashing_module = x":              `FILE:1: password_hashing_module: "x" is not rabbit_password_hashing_sha256: leveret hashes passwords by SHA-256`,
		"heartbeats = 1":                           "FILE:1: heartbeats is not known; probably heartbeat is meant",
		"loopback_user.guest = false":              "FILE:1: loopback_user.guest is not known; probably loopback_users.guest is meant",
		"mqtt.listeners.tcp.default = 1883":        "FILE:1: mqtt.listeners.tcp.default: leveret has no plugins",
		"heartbeat = soon":                         `FILE:1: heartbeat: "soon" is not a whole number`,
		"heartbeat = 65536":                        "FILE:1: heartbeat is 18h12m16s, not whole seconds from 0s to 65535s",
		"listeners.tcp.1 = host":                   `FILE:1: listeners.tcp.1: "host" is not a port, or an address and a port`,
		"listeners.tcp = all":                      "FILE:1: listeners.tcp: only none is expected",
		"loopback_users = guest":                   "FILE:1: loopback_users: only none is expected",
		"loopback_users.guest = no":                `FILE:1: loopback_users.guest: "no" is not true or false`,
		"ssl_options.verify = peer":                `FILE:1: ssl_options.verify: "peer" is not one of verify_none, verify_peer`,
		"ssl_options.versions.1 = tlsv1.1":         `FILE:1: ssl_options.versions.1: "tlsv1.1" is not one of tlsv1.2, tlsv1.3`,
		"log.console.level = loud":                 `FILE:1: log.console.level: "loud" is not one of alert, critical, debug, emergency, error, info, none, notice, warning`,
		"frame_max = a":                            `FILE:1: frame_max: "a": parse error`,
		"frame_max = 4096":                         "FILE:1: frame_max is 4096, not from 8192 to 2147483647",
		"vm_memory_high_watermark.relative = 1.5":  `FILE:1: vm_memory_high_watermark.relative: "1.5" is not a fraction of 0.0 to 1.0`,
		"vm_memory_high_watermark.absolute = lots": `FILE:1: vm_memory_high_watermark.absolute is "lots", not a fraction of 0 to 1, a size such as 2GB, or none`,
		"definitions.import_backend = https":       `FILE:1: definitions.import_backend: "https" is not local_filesystem: leveret reads definitions from a file`,
		"connection_max = many":                    `FILE:1: connection_max: "many" is not a whole number or infinity`,
		"vhost_max = 0":                            "FILE:1: vhost_max: leveret has no limit of 0",
		"auth_mechanisms.1 = PLAINLY":              `FILE:1: auth_mechanisms.1: "PLAINLY" is not one of AMQPLAIN, ANONYMOUS, EXTERNAL, PLAIN`,
		"default_queue_type = stream":              "FILE:1: default_queue_type is stream: leveret has no streams",
		"default_queue_type = quorums":             `FILE:1: default_queue_type is "quorums", not classic or quorum`,
		"default_queue_type = rabbit_quorum":       `FILE:1: default_queue_type: "rabbit_quorum" is no queue type`,
		"message_interceptors.incoming.set_header_timestamp.overwrite = true": "FILE:1: message_interceptors.incoming.set_header_timestamp.overwrite: leveret has no interceptors",
		"management.path_prefix = /x":                                         "FILE:1: management.path_prefix: leveret's management API has no such setting",
		"log.syslog = true":                                                   "FILE:1: log.syslog: leveret has no such setting of its log",
		"deprecated_features.permit.transient_nonexcl_queues = false":         "FILE:1: deprecated_features.permit.transient_nonexcl_queues: leveret does not deny it",
		"leveret.profile = 5":                                                 `FILE:1: leveret.profile is "5", not 4.3 or 3.10`,
		"nonsense":                                                            `FILE:1: "nonsense" is not KEY = VALUE`,
		"a = 1\nb = 2":                                                        "FILE:1: a is not known\nFILE:2: b is not known",
	} {
		file := configOf(t, text)
		_, err := parseSettings([]string{"--config", file}, io.Discard)
		assert.EqualError(t, err, strings.ReplaceAll(want, "FILE", file), "%q", text)
	}
	_, err := parseSettings([]string{"--config", "/nonexistent"}, io.Discard)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What cannot matter here is told, and nothing else is refused for it.
func TestConfigFileWithoutEffect(t *testing.T) {
	file := configOf(t, "heartbeat = 7\nnum_acceptors.tcp = 5\ncluster_formation.peer_discovery_backend = dns\n")
	s, err := parseSettings([]string{"--config", file}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []string{file + ":2: num_acceptors.tcp: has no effect: leveret has no acceptors",
		file + ":3: cluster_formation.peer_discovery_backend: has no effect: leveret is one node"}, s.ignored)
}

// RabbitMQ has these keys, whose effects leveret has not.
func TestConfigKeysWithoutEffect(t *testing.T) {
	for _, text := range []string{"background_gc_enabled = true", "memory_monitor_interval = 3000", "net_ticktime = 20", "delegate_count = 3",
		"raft.wal_max_size_bytes = 1", "quorum_queue.segment_max_entries = 1", "quorum_queue.continuous_membership.enabled = true",
		"classic_queue.default_version = 2", "stream.read_ahead = true", "metadata_store.khepri.default_timeout = 1",
		"session_max_per_connection = 1", "deprecated_features.permit.ram_node_type = true", "ssl_options.honor_cipher_order = true"} {
		s, err := parseSettings([]string{"--config", configOf(t, text)}, io.Discard)
		require.NoError(t, err, text)
		assert.Len(t, s.ignored, 1, text)
	}
	for _, text := range []string{"auth_backends.1 = internal", "auth_backends.1.authn = rabbit_auth_backend_internal"} {
		s, err := parseSettings([]string{"--config", configOf(t, text)}, io.Discard)
		require.NoError(t, err, text)
		assert.Empty(t, s.ignored, text)
	}
	_, err := parseSettings([]string{"--config", configOf(t, "auth_backends.1 = ldap")}, io.Discard)
	assert.ErrorContains(t, err, `auth_backends.1: "ldap" is not internal: leveret has no other users than its own`)
}

// Rules: A-20.
func TestDefaultQueueTypeOfConfigFiles(t *testing.T) {
	for value, want := range map[string]string{"quorum": "quorum", "rabbit_quorum_queue": "quorum", "classic": "classic", "rabbit_classic_queue": "classic"} {
		s, err := settingsOf(t, "default_queue_type = "+value)
		require.NoError(t, err)
		assert.Equal(t, want, s.clients.queueType, value)
	}
}

// The reason is told, and not a key that is called alike.
func TestConfigKeysThatAreMissing(t *testing.T) {
	for _, name := range []string{"cluster_queue_limit", "cluster_exchange_limit",
		"message_interceptors.outgoing.timestamp.enabled", "definitions.skip_if_unchanged", "definitions.https.url",
		"ranch_connection_max", "proxy_protocol", "auth_ldap.servers.1", "management.ssl.port", "management.cors.allow_origins.1", "prometheus.tcp.port",
		"mqtt.allow_anonymous", "stream.listeners.tcp.1", "ssl_options.depth", "ssl_options.ciphers.1", "log.exchange", "log.connection.level",
		"queue_types.stream.enabled", "quorum_queue.property_equivalence.relaxed_checks_on_redeclaration"} {
		_, err := settingsOf(t, name+" = x")
		assert.ErrorContains(t, err, ":1: "+name+": leveret", name)
	}
}

// A letter alone is a power of 1000 in 4.3 and of 1024 in 3.10.
func TestSizesOfConfigFiles(t *testing.T) {
	for given, want := range map[string][2]int64{"1024M": {1024e6, 1 << 30}, "2g": {2e9, 2 << 30}, "3k": {3000, 3 << 10}, "5": {5, 5},
		"2TB": {2e12, 2e12}, "2tib": {2 << 40, 2 << 40}, "1Gi": {1 << 30, 1 << 30}, "1GB": {1e9, 1e9}, "1gb": {1e9, 1e9}, "1P": {1e15, 1 << 50}} {
		for i, head := range []string{"", "leveret.profile = 3.10\n"} {
			s, err := parseSettings([]string{"--config", configOf(t, head+"vm_memory_high_watermark.absolute = "+given+"\ndisk_free_limit.absolute = "+given)}, io.Discard)
			require.NoError(t, err, given)
			assert.Equal(t, want[i], s.watermark.Bytes, given)
			assert.Equal(t, want[i], s.diskFree, given)
		}
	}
	_, err := parseSettings([]string{"--config", configOf(t, "disk_free_limit.absolute = 99999999999PB")}, io.Discard)
	assert.ErrorContains(t, err, `disk_free_limit.absolute: "99999999999PB" is not a size such as 2GB`)
}

// RabbitMQ's addresses of IPv6 have no brackets.
func TestListenersOfIPv6(t *testing.T) {
	for given, want := range map[string]string{"::1:5672": "[::1]:5672", ":::5672": "[::]:5672", "fe80::2acf:e9ff:fe17:f97b:5672": "[fe80::2acf:e9ff:fe17:f97b]:5672",
		"[::1]:5672": "[::1]:5672", "127.0.0.1:5672": "127.0.0.1:5672", "5672": ":5672"} {
		s, err := parseSettings([]string{"--config", configOf(t, "listeners.tcp.1 = "+given)}, io.Discard)
		require.NoError(t, err, given)
		assert.Equal(t, want, s.amqp, given)
	}
}

// A flag comes before a variable of the environment, and that before the file.
func TestLayers(t *testing.T) {
	file := configOf(t, "heartbeat = 1\nmax_message_size = 1\ncluster_name = file")
	t.Setenv("LEVERET_CONFIG", file)
	t.Setenv("LEVERET_HEARTBEAT", "2s")
	t.Setenv("LEVERET_MAX_MESSAGE_SIZE", "2")
	t.Setenv("LEVERET_DEFAULT_USER", "") // as a variable of a shell that is not set
	s, err := parseSettings([]string{"--heartbeat", "3s"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []any{3 * time.Second, 2, "file", "guest"}, []any{s.clients.heartbeat, s.clients.maxMessageSize, s.clusterName, s.users.name})

	t.Setenv("LEVERET_HEARTBEAT", "1500ms")
	_, err = parseSettings(nil, io.Discard)
	assert.EqualError(t, err, "LEVERET_HEARTBEAT is 1.5s, not whole seconds from 0s to 65535s")
	t.Setenv("LEVERET_HEARTBEAT", "often")
	_, err = parseSettings(nil, io.Discard)
	assert.ErrorContains(t, err, `LEVERET_HEARTBEAT: "often": `)
}
