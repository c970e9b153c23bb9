package ctl

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func listening(t *testing.T) *Node {
	b := leveret.New()
	t.Cleanup(func() { b.Close() })
	return &Node{Broker: b, Name: "n@h", Listeners: []Listener{{"127.0.0.1", 5672, "amqp"}, {"::", 15672, "http"}, {"127.0.0.1", 672, "amqp"}}}
}

func answerOf(n *Node, line string) Response { return n.Run(Request{Args: strings.Fields(line)}) }

// What rabbitmq-diagnostics of 4.3.6 printed; its listeners are others.
func TestListenerChecks(t *testing.T) {
	n := listening(t)
	for line, want := range map[string]Response{
		"check_port_listener 5672":                      {Stdout: "Asking node n@h if there's an active listener on port 5672 ...\nA listener for port 5672 is running on node n@h.\n"},
		"check_port_listener 5672 -s":                   {Stdout: "A listener for port 5672 is running on node n@h.\n"},
		"check_port_listener 5672 --formatter json":     {Stdout: `{"node":"n@h","port":"5672","result":"ok"}` + "\n"},
		"check_port_listener 1 -q":                      {Stderr: "No listener for port 1 is active on node n@h. Found listeners that use the following ports: 672, 5672, 15672\n", Status: 69},
		"check_protocol_listener mqtt -q":               {Stderr: "Error:\nNo listener for protocol mqtt is active on node n@h. Found listeners for the following protocols: amqp, http\n", Status: 69},
		"check_protocol_listener management -q":         {Stdout: "A listener for protocol http is running on node n@h.\n"},
		"listeners -q":                                  {Stdout: "Interface: 127.0.0.1, port: 5672, protocol: amqp, purpose: AMQP 0-9-1\nInterface: ::, port: 15672, protocol: http, purpose: HTTP API\nInterface: 127.0.0.1, port: 672, protocol: amqp, purpose: AMQP 0-9-1\n"},
		"check_protocol_listener amqp --formatter json": {Stdout: `{"node":"n@h","protocol":"amqp","result":"ok"}` + "\n"},
	} {
		assert.Equal(t, want, answerOf(n, line), line)
	}
	failure := answerOf(n, "check_port_listener 1 --formatter json")
	assert.Equal(t, 69, failure.Status)
	assert.Contains(t, failure.Stderr, `{"node":"n@h","port":5672,"protocol":"amqp","interface":"127.0.0.1","purpose":"AMQP 0-9-1"}`)
	assert.Contains(t, failure.Stderr, `"missing":"1"`)
}

func TestCheckAlarms(t *testing.T) {
	n := listening(t)
	answerOf(n, "eval rabbit_alarm:set_alarm({{resource_limit,memory,node()},[]}).")
	answerOf(n, "eval rabbit_alarm:set_alarm({{resource_limit,disk,node()},[]}).")
	assert.Equal(t, Response{Stdout: "Asking node n@h to report any local resource alarms ...\n",
		Stderr: "Memory alarm on node n@h\nFree disk space alarm on node n@h\n", Status: 69}, answerOf(n, "check_alarms"))
	assert.Equal(t, 69, answerOf(n, "check_alarms -s").Status)
	assert.JSONEq(t, `{"result":"error","local":["Memory alarm on node n@h","Free disk space alarm on node n@h"],"global":[],"message":"Node n@h reported alarms"}`,
		answerOf(n, "check_alarms --formatter json").Stderr)
	assert.Equal(t, Response{Stdout: "Memory alarm on node n@h\nFree disk space alarm on node n@h\n"}, answerOf(n, "alarms -q"))
}

func TestCheckConnectivity(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	n := listening(t)
	n.Listeners = []Listener{{"127.0.0.1", port, "amqp"}}
	p := strconv.Itoa(port)
	assert.Equal(t, Response{Stdout: "Testing TCP connections to all active listeners on node n@h using hostname resolution ...\nWill connect to localhost:" + p +
		"\nSuccessfully connected to ports " + p + " on node n@h (using node hostname resolution)\n"}, answerOf(n, "check_port_connectivity"))
	require.NoError(t, l.Close())
	assert.Equal(t, Response{Stderr: "Error:\nConnection to ports of the following listeners on node n@h failed: \nInterface: 127.0.0.1, port: " + p +
		", protocol: amqp, purpose: AMQP 0-9-1\n", Status: 69}, answerOf(n, "check_port_connectivity -q --address 127.0.0.1"))
}

func TestCheckCertificates(t *testing.T) {
	n := listening(t)
	n.Certificates = []*x509.Certificate{{Subject: pkix.Name{CommonName: "farm"}, NotAfter: time.Now().AddDate(0, 0, 10)}}
	assert.Equal(t, Response{Stdout: "No certificates are expiring within 1 week.\n"}, answerOf(n, "check_certificate_expiration -q --within 1"))
	soon := answerOf(n, "check_certificate_expiration -q --within 11 --unit days")
	assert.Equal(t, 69, soon.Status)
	assert.Contains(t, soon.Stderr, "CN=farm on ")
	assert.Equal(t, 69, answerOf(n, "check_certificate_expiration").Status, "within four weeks")
}

func TestListMatchingPolicies(t *testing.T) {
	n := listening(t)
	_, err := n.Broker.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, p := range []leveret.Policy{
		{Name: "low", Pattern: "^o"}, {Name: "high", Pattern: "rs$", Priority: 5, ApplyTo: leveret.ApplyToQueues},
		{Name: "other", Pattern: "^x"}, {Name: "kind", Pattern: "^o", ApplyTo: leveret.ApplyToExchanges},
		{Name: "quorum", Pattern: "^o", ApplyTo: leveret.ApplyToQuorumQueues},
	} {
		p.Definition = leveret.Table{"max-length": 1}
		if p.ApplyTo == leveret.ApplyToExchanges {
			p.Definition = leveret.Table{"alternate-exchange": "ae"}
		}
		require.NoError(t, n.Broker.SetPolicy(p))
	}
	names := func(line string) (all []string) {
		for line := range strings.Lines(answerOf(n, line+" -s --formatter table").Stdout) {
			if cells := strings.Split(line, "\t"); len(cells) > 1 {
				all = append(all, cells[1])
			}
		}
		return all
	}
	assert.Equal(t, []string{"high", "low"}, names("list_policies_that_match orders"))
	assert.Contains(t, answerOf(n, "list_policies_that_match orders -q").Stdout, "high", "in a frame")
	assert.Contains(t, answerOf(n, "list_policies_that_match orders --formatter json").Stdout, `{"policies":[{`)
	assert.Empty(t, names("list_policies_that_match --object-type exchange amq.topic"))
}

// A hash is one that the broker takes for the password.
func TestHashPassword(t *testing.T) {
	n := listening(t)
	for algorithm, name := range map[string]string{"": "", " --hashing-algorithm sha512": "rabbit_password_hashing_sha512", " --hashing-algorithm MD5": "rabbit_password_hashing_md5"} {
		r := answerOf(&Node{}, "hash_password -q secret"+algorithm)
		require.Zero(t, r.Status)
		hash, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Stdout))
		require.NoError(t, err)
		require.NoError(t, n.Broker.SetUser("ann", leveret.PasswordHash{Hash: hash, Algorithm: name}))
		assert.NoError(t, n.Broker.Authenticate("ann", "secret"), algorithm)
		assert.Error(t, n.Broker.Authenticate("ann", "Secret"), algorithm)
	}
	assert.NotEqual(t, answerOf(n, "hash_password secret"), answerOf(n, "hash_password secret"), "the salt is random")
	assert.Contains(t, answerOf(n, "hash_password a --hashing-algorithm crc").Stderr, "Bad argument: unsupported hashing algorithm: crc")
}

func TestGlobalPermissions(t *testing.T) {
	n := listening(t)
	_, err := n.Broker.CreateVHost("other")
	require.NoError(t, err)
	require.NoError(t, n.Broker.AddUser("ann", "secret"))
	assert.Equal(t, Response{Stdout: "Setting permissions for user \"ann\" in all virtual hosts ...\n"}, answerOf(n, "set_permissions_globally ann ^a ^b ^c"))
	assert.Equal(t, "vhost\tconfigure\twrite\tread\n/\t^a\t^b\t^c\nother\t^a\t^b\t^c\n", answerOf(n, "list_user_permissions -q ann").Stdout)
	assert.Zero(t, answerOf(n, "set_vhost_tags other z b z a").Status)
	assert.Contains(t, answerOf(n, "list_vhosts -s name tags").Stdout, "other\t[a, b, z]\n")
	assert.Equal(t, Response{Stdout: "Setting cluster name to farm ...\n"}, answerOf(n, "set_cluster_name farm"))
	assert.Contains(t, answerOf(n, "list_global_parameters -s").Stdout, "cluster_name\t\"farm\"\n")
	assert.Contains(t, answerOf(n, "list_global_parameters -q --formatter erlang").Stdout, "{name,cluster_name},{value,<<\"\\\"farm\\\"\">>}")
	assert.Contains(t, answerOf(n, "set_parameter policy p {}").Stderr, "policies may not be set using this method")
	assert.Zero(t, answerOf(n, `set_parameter vhost-limits limits {"max-queues":3}`).Status)
	assert.Contains(t, answerOf(n, "list_parameters -s").Stdout, "vhost-limits\tlimits\t{\"max-queues\":3}")
	assert.Zero(t, answerOf(n, "clear_parameter vhost-limits limits").Status)
	assert.Equal(t, "\n", answerOf(n, "list_parameters -q").Stdout)
}

// What rabbitmqctl of 3.10.8 printed, where the scripts, which are of 4.3, have something else.
func TestCommandsOf310(t *testing.T) {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()
	n := &Node{Broker: b, Name: "n@h"}
	assert.Equal(t, "Error:\nValidation failed\n\nUnrecognised terms [{<<\"max-queues\">>,1}] in p\nKey \"definition\" not found in p\n"+
		"Key \"pattern\" not found in p\nKey \"priority\" not found in p\n\n", answerOf(n, `set_parameter operator_policy p {"max-queues":1}`).Stderr)
	assert.Equal(t, "Error:\nValidation failed\n\nUnrecognised terms [{<<\"b\">>,1}] in limits\n\n",
		answerOf(n, `set_parameter vhost-limits limits {"b":1}`).Stderr)
	assert.Zero(t, answerOf(n, "set_vhost_tags / z b z").Status)
	assert.Equal(t, "/\t[z, b, z]\n", answerOf(n, "list_vhosts -s name tags").Stdout)
}
