package definitions_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/firehose"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// explanation returns RabbitMQ's part of an error.
func explanation(t testing.TB, err error) string {
	t.Helper()
	var e *leveret.Error
	require.ErrorAs(t, err, &e)
	return e.Reason
}

func readDefinitions(t testing.TB, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return decodeDocument(t, data)
}

func decodeDocument(t testing.TB, data []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var doc map[string]any
	require.NoError(t, d.Decode(&doc))
	return doc
}

func encode(t testing.TB, doc any) []byte {
	t.Helper()
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	return data
}

// withoutStream drops the queue that leveret does not have.
func withoutStream(doc map[string]any) map[string]any {
	doc["queues"] = slices.DeleteFunc(doc["queues"].([]any), func(q any) bool { return q.(map[string]any)["name"] == "str" })
	return doc
}

// withoutDangling drops the bindings of what RabbitMQ 4.3 does not export: exclusive queues
// and internal exchanges. It does not import them either.
func withoutDangling(doc map[string]any) map[string]any {
	var kept []any
	for _, b := range doc["bindings"].([]any) {
		if d := b.(map[string]any)["destination"]; d != "excl" && d != "inner" {
			kept = append(kept, b)
		}
	}
	doc["bindings"] = kept
	return doc
}

var exports = []struct {
	profile leveret.Profile
	file    string
}{{leveret.RabbitMQ43, "rabbitmq-4.3"}, {leveret.RabbitMQ310, "rabbitmq-3.10"}}

func TestImportWhatRabbitMQExported(t *testing.T) {
	for _, c := range exports {
		b := leveret.New(leveret.WithProfile(c.profile))
		defer b.Close()
		doc := readDefinitions(t, c.file+".json")
		err := definitions.Import(b, encode(t, doc))
		require.ErrorContains(t, err, "leveret has no streams: queue 'str' in vhost 'shop'")
		doc = withoutStream(doc)
		if c.profile == leveret.RabbitMQ43 {
			err = definitions.Import(b, encode(t, doc))
			require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
			assert.Contains(t, err.Error(), `': {resources_missing,[{not_found,{resource,<<"shop">>,`)
			assert.Contains(t, err.Error(), "bindings[")
			assert.NotContains(t, explanation(t, err), "bindings[", "the explanation is RabbitMQ's alone")
			_, err = b.VHost("shop")
			assert.ErrorIs(t, err, leveret.ErrNotFound, "nothing has changed")
			assert.Len(t, b.Users(), 1)
			doc = withoutDangling(doc)
		}
		require.NoError(t, definitions.Import(b, encode(t, doc)), c.file)

		require.NoError(t, b.Authenticate("ann", "secret"))
		ann := b.Users()[0]
		assert.Equal(t, []any{"ann", []string{"monitoring", "impersonator"}, leveret.UserLimits{MaxConnections: 7, MaxChannels: leveret.NoLimit}}, []any{ann.Name, ann.Tags, ann.Limits})
		v, err := b.VHost("shop")
		require.NoError(t, err)
		assert.Equal(t, leveret.Permissions{Configure: "^c", Read: ".*"}, v.Permissions()[0].Permissions)
		assert.Equal(t, []leveret.TopicPermissionInfo{{User: "ann", VHost: "shop", Exchange: "amq.topic",
			TopicPermissions: leveret.TopicPermissions{Write: "^a", Read: ".*"}}}, v.TopicPermissions())
		assert.Equal(t, leveret.VHostLimits{MaxConnections: 20, MaxQueues: 50}, v.Info().Limits)
		assert.Equal(t, "guard", v.OperatorPolicies()[0].Name)
		q, err := v.Queue("work")
		require.NoError(t, err)
		ttl, _ := q.Effective().Get("message-ttl")
		assert.Equal(t, leveret.Setting{Key: "message-ttl", Value: int64(5000), Source: leveret.SourcePolicy}, ttl)
		odd, err := v.Queue("odd")
		require.NoError(t, err)
		args := odd.Info().Arguments
		assert.Equal(t, 3.0, args["whole"])
		assert.Equal(t, int64(1700000000), args["ts"])
		assert.Equal(t, "undefined", args["v"])
		qq, err := v.Queue("qq")
		require.NoError(t, err)
		assert.Equal(t, leveret.QueueType("quorum"), qq.Info().Type)
		if c.profile == leveret.RabbitMQ43 {
			assert.Equal(t, []any{"a test", []string{"a", "b"}}, []any{v.Info().Description, v.Info().Tags})
		}

		// What comes out is what went in, but for the broker's name.
		data, err := definitions.Export(b)
		require.NoError(t, err)
		assertSameDefinitions(t, doc, decodeDocument(t, data))
		data, err = definitions.ExportVHost(v)
		require.NoError(t, err)
		one := withoutStream(readDefinitions(t, c.file+"-vhost.json"))
		if c.profile == leveret.RabbitMQ43 {
			one["queues"], one["bindings"], one["exchanges"] = stripped(doc["queues"]), stripped(doc["bindings"]), stripped(doc["exchanges"])
		}
		assertSameDefinitions(t, one, decodeDocument(t, data))

		// Once more changes nothing, and neither does importing what was exported.
		require.NoError(t, definitions.Import(b, encode(t, doc)))
		require.NoError(t, definitions.ImportVHost(v, data))
		again, err := definitions.ExportVHost(v)
		require.NoError(t, err)
		assert.JSONEq(t, string(data), string(again))
	}
}

// stripped is the entries without their virtual host.
func stripped(entries any) []any {
	var out []any
	for _, e := range entries.([]any) {
		m := map[string]any{}
		for k, v := range e.(map[string]any) {
			if k != "vhost" {
				m[k] = v
			}
		}
		out = append(out, m)
	}
	return out
}

func assertSameDefinitions(t *testing.T, want, got map[string]any) {
	t.Helper()
	for key, w := range want {
		switch key {
		case "explanation", "original_cluster_name":
			assert.NotEmpty(t, got[key])
			continue
		case "vhosts": // the default one's description is RabbitMQ's own
			continue
		}
		if list, ok := w.([]any); ok {
			g, ok := got[key].([]any)
			require.True(t, ok, key)
			assert.ElementsMatch(t, texts(t, list), texts(t, g), key)
			continue
		}
		assert.Equal(t, w, got[key], key)
	}
	for key := range got {
		assert.Contains(t, want, key)
	}
}

func texts(t *testing.T, list []any) []string {
	var out []string
	for _, e := range list {
		s := string(encode(t, e))
		out = append(out, strings.ReplaceAll(s, "1.0e300", "1.0e+300"))
	}
	return out
}

func TestImportRefusals(t *testing.T) {
	const queue = `{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":%s}`
	const policy = `{"vhost":"/","name":"p","pattern":%s,"apply-to":"all","definition":{"max-length":%s},"priority":0}`
	const user = `{"name":"u","password_hash":"","hashing_algorithm":"rabbit_password_hashing_sha256","tags":"a,b"}`
	for _, c := range []struct{ in, want string }{
		{`{`, "failed_to_parse_json"},
		{`[]`, "failed_to_parse_json"},
		{`{"queues":[]} x`, "failed_to_parse_json"},
		{`null`, "failed_to_parse_json"},
		{`{"queues":{}}`, "queues: not a list"},
		{`{"queues":null}`, "queues: not a list"},
		{`{"queues":[5]}`, "queues[0] '': not an object"},
		{`{"queues":[{"vhost":"/"}]}`, "queues[0] '': the name is missing"},
		{`{"queues":[{"name":5}]}`, "queues[0] '': name should be a string, actually was a number"},
		{`{"queues":[{"name":"q","durable":"yes"}]}`, "queues[0] 'q': durable should be true or false, actually was a string"},
		{`{"queues":[{"name":"q"}]}`, "queues[0] 'q': the virtual host is missing: if the document is of a single virtual host, use ImportVHost or POST /api/definitions/VHOST"},
		{`{"queues":[{"name":"q","vhost":"no"}]}`, `queues[0] 'q': Please create virtual host "no" prior to importing definitions.`},
		{`{"queues":[` + fmt.Sprintf(queue, `{"a":null}`) + `]}`, "queues[0] 'q': null_not_allowed"},
		{`{"queues":[` + fmt.Sprintf(queue, `5`) + `]}`, "queues[0] 'q': arguments are not an object"},
		{`{"queues":[` + fmt.Sprintf(queue, `{"x":1e999}`) + `]}`, "line 1, column 147: failed_to_parse_json: number 1e999 is out of range"},
		{`{"queues":[` + fmt.Sprintf(queue, `{"x-max-length":"s"}`) + `]}`,
			`queues[0] 'q': precondition_failed: invalid arg 'x-max-length' for queue 'q' in vhost '/': "expected integer, got longstr"`},
		{`{"queues":[` + fmt.Sprintf(queue, `{"x-max-length":5.0}`) + `]}`,
			`queues[0] 'q': precondition_failed: invalid arg 'x-max-length' for queue 'q' in vhost '/': "expected integer, got double"`},
		{`{"queues":[` + fmt.Sprintf(queue, `{"x-queue-type":"nope"}`) + `]}`,
			`queues[0] 'q': precondition_failed: invalid arg 'x-queue-type' for queue 'q' in vhost '/': "unsupported queue type 'nope'"`},
		{`{"topic_permissions":[{"user":"guest","vhost":"/","write":"","read":""}]}`, "topic_permissions[0] 'guest': {no_such_exchange,undefined}"},
		{`{"topic_permissions":[{"user":"nope","vhost":"/","write":"","read":""}]}`, `topic_permissions[0] 'nope': {no_such_user,<<"nope">>}`},
		{`{"parameters":[{"component":"vhost-limits","name":"x","vhost":"/","value":{"max-queues":5}}]}`,
			`parameters[0] 'x': the parameter with a virtual host's limits is called limits (vhost: "/" / component: "vhost-limits" / key: "x")`},
		{`{"exchanges":[{"name":"x","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}`,
			"exchanges[0] 'x': precondition_failed: invalid exchange type 'undefined'"},
		{`{"exchanges":[{"name":"x","vhost":"/","type":"nope","durable":true,"auto_delete":false,"arguments":{}}]}`,
			`exchanges[0] 'x': precondition_failed: unknown exchange type 'nope'`},
		{`{"bindings":[{"source":"no","vhost":"/","destination":"q","destination_type":"queue","routing_key":"","arguments":{}}]}`,
			`bindings[0] 'no -> q': {resources_missing,[{not_found,{resource,<<"/">>,exchange,<<"no">>}},` + "\n                    " + `{not_found,{resource,<<"/">>,queue,<<"q">>}}]}`},
		{`{"bindings":[{"source":"amq.direct","vhost":"/","destination":"q","destination_type":"x"}]}`,
			"bindings[0] 'amq.direct -> q': destination_type should be queue or exchange, actually was 'x'"},
		{`{"queues":[` + fmt.Sprintf(queue, `{}`) + `],"bindings":[{"source":"amq.headers","vhost":"/","destination":"q","destination_type":"queue","arguments":{"x-match":"foo"}}]}`,
			`bindings[0] 'amq.headers -> q': precondition_failed: Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`},
		{`{"policies":[` + fmt.Sprintf(policy, `"^a"`, "-1") + `]}`,
			"policies[0] 'p': Validation failed\n\n-1 is not a valid maximum length\n (vhost: \"/\" key: \"p\")"},
		{`{"policies":[{"vhost":"/","name":"p","definition":{"max-length":1}}]}`,
			"policies[0] 'p': Validation failed\n\npattern should be a binary but was undefined\n (vhost: \"/\" key: \"p\")"},
		{`{"policies":[{"vhost":"/","name":"p","pattern":"a","definition":[]}]}`,
			"policies[0] 'p': Validation failed\n\nno policy provided\n (vhost: \"/\" key: \"p\")"},
		{`{"policies":[{"vhost":"/","name":"p","pattern":"a","definition":{"max-length":1},"priority":"x"}]}`,
			"policies[0] 'p': Validation failed\n\npriority should be a number, actually was <<\"x\">>\n (vhost: \"/\" key: \"p\")"},
		{`{"parameters":[{"component":"nope","vhost":"/","name":"n","value":{}}]}`,
			"parameters[0] 'n': Validation failed\n\ncomponent nope not found\n (vhost: \"/\" / component: \"nope\" / key: \"n\")"},
		{`{"parameters":[{"component":"operator_policy","vhost":"/","name":"n","value":{"pattern":"a","definition":{"foo":1},"priority":0}}]}`,
			"parameters[0] 'n': Validation failed\n\n[{<<\"foo\">>,1}] are not recognised policy settings\n (vhost: \"/\" / component: \"operator_policy\" / key: \"n\")"},
		{`{"parameters":[{"component":"operator_policy","vhost":"/","name":"n","value":{"pattern":"a","definition":{"max-length":1}}}]}`,
			"parameters[0] 'n': Validation failed\n\nKey \"priority\" not found in n\n (vhost: \"/\" / component: \"operator_policy\" / key: \"n\")"},
		{`{"parameters":[{"component":"vhost-limits","vhost":"/","name":"limits","value":{"max-queues":"x"}}]}`,
			"parameters[0] 'limits': Validation failed\n\nmax-queues should be a number, actually was <<\"x\">>\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{`{"parameters":[{"component":"vhost-limits","vhost":"/","name":"limits","value":{"max-queues":5.0}}]}`,
			"parameters[0] 'limits': Validation failed\n\nmax-queues should be a number, actually was 5.0\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{`{"parameters":[{"component":"vhost-limits","vhost":"/","name":"limits","value":"x"}]}`,
			"parameters[0] 'limits': Validation failed\n\nlimits not a list <<\"x\">>\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{`{"parameters":[{"component":"vhost-limits","vhost":"/","name":"limits","value":{"foo":1}}]}`,
			"parameters[0] 'limits': Validation failed\n\nUnrecognised terms [{<<\"foo\">>,1}] in limits\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{`{"parameters":[{"component":"policy","vhost":"/","name":"n","value":{}}]}`,
			"parameters[0] 'n': policies may not be set using this method (vhost: \"/\" / component: \"policy\" / key: \"n\")"},
		{`{"users":[{"name":"u","password_hash":"!!","tags":[]}]}`, `users[0] 'u': {not_base64,<<"!!">>}`},
		{`{"users":[{"name":"u","password_hash":""}]}`, `users[0] 'u': tags_not_present`},
		{`{"users":[{"name":"u","tags":5}]}`, `users[0] 'u': tags are neither a list nor a string`},
		{`{"users":[{"name":"u","password_hash":"","tags":[],"limits":{"max-connections":"x"}}]}`,
			"users[0] 'u': {errors,[{\"~ts should be a number, actually was ~tp\",\n          [<<\"max-connections\">>,<<\"x\">>]}]}"},
		{`{"users":[` + user + `],"permissions":[{"user":"no","vhost":"/","configure":"","write":"","read":""}]}`, `permissions[0] 'no': {no_such_user,<<"no">>}`},
		{`{"users":[` + user + `],"permissions":[{"user":"u","vhost":"/","configure":"(","write":"","read":""}]}`,
			`permissions[0] 'u': {invalid_regexp,"(",{"missing closing parenthesis",1}}`},
		{`{"users":[` + user + `],"permissions":[{"user":"u","vhost":"/","configure":"","write":""}]}`, `permissions[0] 'u': key "read" is missing`},
		{`{"topic_permissions":[{"user":"guest","vhost":"/","exchange":"no","write":"","read":""}]}`, `topic_permissions[0] 'guest': {no_such_exchange,<<"no">>}`},
		{`{"topic_permissions":[{"user":"nobody","vhost":"/","exchange":"no","write":"","read":""}]}`, `topic_permissions[0] 'nobody': {no_such_user,<<"nobody">>}`},
		{`{"topic_permissions":[{"user":"nobody","vhost":"/","exchange":"no","write":"","read":"("}]}`,
			`topic_permissions[0] 'nobody': {invalid_regexp,<<"(">>,{"missing closing parenthesis",1}}`},
		{`{"vhosts":[{"name":"v","metadata":{"default_queue_type":"nope"}}]}`, `vhosts[0] 'v': nope is not a valid queue type`},
		{`{"vhosts":[{"name":"v","metadata":{"default_queue_type":"stream"}}]}`,
			`vhosts[0] 'v': not_implemented: leveret has no streams: they cannot be the default type of vhost 'v'`},
		{`{"policies":[{"vhost":"/","name":"p","pattern":"","apply-to":"streams","definition":{"max-age":"1D"}}]}`,
			"policies[0] 'p': leveret has no streams: policy 'p' applies to nothing else (vhost: \"/\" key: \"p\")"},
		{`{"vhosts":[{}]}`, `vhosts[0] '': the name is missing`},
	} {
		b := leveret.New()
		_, err := b.DeclareQueue("there", leveret.QueueConfig{Durable: true})
		require.NoError(t, err)
		before, err := definitions.Export(b)
		require.NoError(t, err)
		// Good entries in front must not be applied either.
		in := c.in
		if strings.HasPrefix(in, "{\"") && !strings.Contains(in, `"users"`) && !strings.HasSuffix(in, "x") {
			in = `{"users":[{"name":"new","password_hash":"","tags":[]}],` + in[1:]
		}
		err = definitions.Import(b, []byte(in))
		code := leveret.PreconditionFailed
		if strings.Contains(c.want, "Please create virtual host") {
			code = leveret.NotFound
		}
		require.ErrorIs(t, err, code, c.in)
		if strings.HasPrefix(c.want, "failed_to") {
			assert.Contains(t, explanation(t, err), c.want)
		} else {
			assert.EqualError(t, err, c.want, c.in)
		}
		after, err := definitions.Export(b)
		require.NoError(t, err)
		assert.JSONEq(t, string(before), string(after), "nothing has changed")
		b.Close()
	}
}

func TestLimitsWithoutALimit(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	const none = `{"parameters":[{"component":"vhost-limits","name":"limits","vhost":"/","value":{}}]}`
	assert.Empty(t, definitions.Of(b).Parameters)
	require.NoError(t, definitions.Import(b, []byte(none)))
	exported := definitions.Of(b)
	require.Len(t, exported.Parameters, 1)
	assert.JSONEq(t, `[]`, string(exported.Parameters[0].Value), "RabbitMQ keeps an object without members so")
	require.NoError(t, b.ClearLimits())
	assert.Empty(t, definitions.Of(b).Parameters)
	again, err := json.Marshal(exported)
	require.NoError(t, err)
	require.NoError(t, definitions.Import(b, again))
	assert.Equal(t, exported.Parameters, definitions.Of(b).Parameters)
}

func TestImportIntoWhatIsThere(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgMaxLength: 5}})
	require.NoError(t, err)
	named, err := b.DeclareQueue("", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	require.NoError(t, b.SetLimits(leveret.VHostLimits{MaxConnections: -1, MaxQueues: 4}))
	doc := `{"queues":[
		{"name":"q","vhost":"/","arguments":{"x-max-length":6}},
		{"name":"amq.foo","vhost":"/"},
		{"name":"new","vhost":"/"}%s],
	 "exchanges":[{"name":"amq.foo","vhost":"/","type":"direct"},{"name":"amq.topic","vhost":"/","type":"fanout"},{"name":"","vhost":"/","type":"direct"}],
	 "bindings":[{"source":"","vhost":"/","destination":"q","destination_type":"queue","routing_key":"q"},
		{"source":"amq.topic","vhost":"/","destination":"` + named.Name() + `","destination_type":"queue","routing_key":"k"},
		{"source":"amq.topic","vhost":"/","destination":"q","destination_type":"queue","routing_key":"k","arguments":{}}],
	 "global_parameters":[{"name":"cluster_name","value":"x"}]}`
	err = definitions.Import(b, fmt.Appendf(nil, doc, `,{"name":"more","vhost":"/"}`))
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	assert.Contains(t, err.Error(), `queues: Adding 3 queue(s) to virtual host "/" would exceed the limit of 4 queue(s).`)
	require.NoError(t, definitions.Import(b, fmt.Appendf(nil, doc, "")))
	q, err := b.Queue("q")
	require.NoError(t, err)
	assert.Equal(t, int64(5), q.Info().Arguments[leveret.ArgMaxLength], "what is there stays")
	_, err = b.Queue("amq.foo")
	assert.ErrorIs(t, err, leveret.ErrNotFound)
	assert.Len(t, b.Queues(), 3)
	assert.Len(t, b.Bindings(), 3+3, "that of the default exchange is there twice: by itself, and as imported")
	n, err := b.Queue("new")
	require.NoError(t, err)
	assert.True(t, n.Info().Durable, "durable is the default")
	require.NoError(t, definitions.Import(b, []byte(`{"global_parameters":[{"name":"cluster_name","value":"y"},{"name":"z","value":[]}]}`)))
	data, err := definitions.Export(b)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"global_parameters":[{"name":"cluster_name","value":"y"},{"name":"z","value":[]}]`)
}

// A virtual host that the import makes may have a limit from its beginning. Users and virtual hosts are looked at first.
// Rules: J-9, A-16.
func TestImportBeyondTheLimitOfANewVHost(t *testing.T) {
	b := leveret.New(leveret.WithVHostSetup(func(v *leveret.VHost) error {
		return v.SetLimits(leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: 1})
	}))
	const rest = `"vhosts":[{"name":"new"}],"permissions":[{"user":"nobody","vhost":"new","configure":"","write":"","read":""}],
		"queues":[{"vhost":"new","name":"q1"},{"vhost":"new","name":"q2"}]}`
	err := definitions.Import(b, []byte(`{`+rest))
	assert.ErrorContains(t, err, `queues: Adding 2 queue(s) to virtual host "new" would exceed the limit of 1 queue(s).`)
	assert.ErrorContains(t, err, `This virtual host currently has 0 queue(s) defined.`)
	_, err = b.VHost("new")
	assert.Error(t, err, "nothing is made")
	assert.ErrorContains(t, definitions.Import(b, []byte(`{"users":[{"name":"ann"}],`+rest)), "users[0] 'ann'")
	require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"new"}],"queues":[{"vhost":"new","name":"q1"}]}`)))
}

// What new virtual hosts have from their beginning is not given anew to those that are there, not even to try the definitions.
func TestImportIsTriedOnVHostsAsTheyAre(t *testing.T) { // J-8, A-16
	b := leveret.New(leveret.WithVHostSetup(func(v *leveret.VHost) error {
		return v.Broker().SetUser("bob", leveret.PasswordHash{})
	}))
	defer b.Close()
	_, err := b.CreateVHost("old")
	require.NoError(t, err)
	require.NoError(t, b.DeleteUser("bob"))
	err = definitions.Import(b, []byte(`{"users":[{"name":"ann","password_hash":"","tags":[]}],
		"permissions":[{"user":"bob","vhost":"old","configure":"","write":"","read":""}]}`))
	assert.ErrorContains(t, err, "permissions[0]")
	_, err = b.User("ann")
	assert.ErrorIs(t, err, leveret.ErrNotFound, "nothing is made")
}

// A broker may have more virtual hosts than its limit permits to make.
func TestImportIntoMoreVHostsThanTheLimit(t *testing.T) {
	dir := t.TempDir()
	b, err := leveret.Open(dir)
	require.NoError(t, err)
	_, err = b.CreateVHost("old")
	require.NoError(t, err)
	require.NoError(t, b.Close())
	b, err = leveret.Open(dir, leveret.WithNodeLimits(leveret.NodeLimits{MaxVHosts: 1}))
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"old"}],"exchanges":[{"vhost":"old","name":"x","type":"fanout"}]}`)))
	assert.ErrorContains(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"new"}]}`)), "cannot create vhost 'new'")
}

// Users, permissions and operator policies are replaced.
func TestImportReplaces(t *testing.T) { // J-10
	b := leveret.New()
	defer b.Close()
	for _, n := range []string{"1", "2"} {
		require.NoError(t, definitions.Import(b, []byte(strings.ReplaceAll(`{
			"users":[{"name":"ann","password":"secret-N","tags":["tag-N"]}],
			"permissions":[{"user":"ann","vhost":"/","configure":"^cN","write":"^wN","read":"^rN"}],
			"topic_permissions":[{"user":"ann","vhost":"/","exchange":"amq.topic","write":"^twN","read":"^trN"}],
			"parameters":[{"vhost":"/","component":"operator_policy","name":"o","value":{"pattern":"^qN","definition":{"max-length":N},"priority":0,"apply-to":"queues"}}]}`,
			"N", n))))
	}
	assert.NoError(t, b.Authenticate("ann", "secret-2"))
	assert.Equal(t, []string{"tag-2"}, b.Users()[0].Tags)
	for _, p := range b.Permissions() {
		if p.User == "ann" {
			assert.Equal(t, leveret.Permissions{Configure: "^c2", Write: "^w2", Read: "^r2"}, p.Permissions)
		}
	}
	assert.Equal(t, leveret.TopicPermissions{Write: "^tw2", Read: "^tr2"}, b.TopicPermissions()[0].TopicPermissions)
	assert.Len(t, b.OperatorPolicies(), 1)
	assert.Equal(t, "^q2", b.OperatorPolicies()[0].Pattern)
}

// What RabbitMQ made of the entries of virtual hosts, by its management API.
func TestImportedVHosts(t *testing.T) {
	for _, c := range []struct {
		profile                  leveret.Profile
		entry, description, tags string
		queueType                string
	}{
		{leveret.RabbitMQ43, `"default_queue_type":"quorum","limits":{"max-queues":"x"}`, "", "[]", "classic"},
		{leveret.RabbitMQ43, `"default_queue_type":"quorum","metadata":{"description":"m"}`, "m", "[]", "classic"},
		{leveret.RabbitMQ43, `"metadata":{"default_queue_type":"quorum"}`, "", "[]", "quorum"},
		{leveret.RabbitMQ43, `"description":"x","tags":["y"],"metadata":{"description":"m","tags":["t"]}`, "m", "[t]", "classic"},
		{leveret.RabbitMQ43, `"description":"x","tags":["y"],"metadata":{}`, "x", "[y]", "classic"},
		{leveret.RabbitMQ43, `"tags":"a,, \u2028b,\u200e"`, "", "[a  b ]", "classic"},
		{leveret.RabbitMQ43, `"tags":[" a","b\n","\u00a0"],"metadata":{}`, "", "[a b \u00a0]", "classic"},
		{leveret.RabbitMQ43, `"metadata":{"tags":[" a"]}`, "", "[ a]", "classic"},
		{leveret.RabbitMQ310, `"tags":"a,, \u2028b"`, "", "[a  \u00e2\u0080\u00a8b]", "classic"},
		{leveret.RabbitMQ310, `"metadata":{"tags":[" a","\u00e9\u0085"]}`, "", "[a \u00c3\u00a9\u00c2]", "classic"},
		{leveret.RabbitMQ310, `"description":"x","tags":["y"],"metadata":{"description":"m","tags":["t"]}`, "x", "[y]", "classic"},
		{leveret.RabbitMQ310, `"limits":{"max-queues":3},"metadata":{"description":"m","tags":["t"]}`, "m", "[t]", "classic"},
	} {
		b := leveret.New(leveret.WithProfile(c.profile))
		defer b.Close()
		require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v",`+c.entry+`}]}`)), c.entry)
		v, err := b.VHost("v")
		require.NoError(t, err)
		info := v.Info()
		assert.Equal(t, []string{c.description, c.tags, c.queueType}, []string{info.Description, fmt.Sprint(info.Tags), string(info.DefaultQueueType)}, c.entry)
		assert.Equal(t, leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit}, info.Limits, c.entry)
	}
}

func TestExportLeavesOut(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for name, cfg := range map[string]leveret.QueueConfig{"transient": {}, "auto": {Durable: true, AutoDelete: true}} {
		_, err := b.DeclareQueue(name, cfg)
		require.NoError(t, err)
	}
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("private", leveret.QueueConfig{Exclusive: true})
	require.NoError(t, err)
	require.NoError(t, ch.BindQueue("private", "amq.direct", "k", nil))
	_, err = b.DeclareExchange("inner", leveret.Direct, leveret.ExchangeConfig{Internal: true})
	require.NoError(t, err)
	require.NoError(t, b.BindExchange("inner", "amq.direct", "k", nil))
	data, err := definitions.Export(b)
	require.NoError(t, err)
	doc := decodeDocument(t, data)
	assert.Len(t, doc["queues"], 2)
	assert.Empty(t, doc["exchanges"])
	assert.Len(t, doc["bindings"], 2, "as RabbitMQ does, although no broker imports them without the queue and the exchange")
	other := leveret.New()
	defer other.Close()
	assert.ErrorContains(t, definitions.Import(other, data), "resources_missing")
	_, err = other.DeclareQueue("private", leveret.QueueConfig{})
	require.NoError(t, err)
	copyInternalExchanges(t, b, other)
	require.NoError(t, definitions.Import(other, data))
	assert.Len(t, other.Queues(), 3)
}

// copyInternalExchanges declares the exchanges that RabbitMQ 4.3 does not export.
func copyInternalExchanges(t *testing.T, from, to *leveret.Broker) {
	for _, info := range from.VHosts() {
		v, err := from.VHost(info.Name)
		require.NoError(t, err)
		w, err := to.CreateVHost(info.Name)
		require.NoError(t, err)
		for _, x := range v.Exchanges() {
			if x.Internal && !strings.HasPrefix(x.Name, "amq.") {
				_, err := w.DeclareExchange(x.Name, x.Type, leveret.ExchangeConfig{Internal: true})
				require.NoError(t, err)
			}
		}
	}
}

func TestArgumentValuesInDefinitions(t *testing.T) {
	for _, c := range []struct {
		v    any
		json string
		back any
	}{
		{int8(5), `5`, int64(5)},
		{int64(-9223372036854775808), `-9223372036854775808`, int64(-9223372036854775808)},
		{"é", `"é"`, "é"},
		{[]byte("abc"), `"abc"`, "abc"},
		{[]byte{0xff, 1}, `"Not UTF-8, base64 is: /wE="`, "Not UTF-8, base64 is: /wE="},
		{2.5, `2.5`, 2.5},
		{3.0, `3.0`, 3.0},
		{1e300, `1.0e+300`, 1e300},
		{float32(1.5), `1.5`, 1.5},
		{true, `true`, true},
		{nil, `"undefined"`, "undefined"},
		{time.Unix(1700000000, 0), `1700000000`, int64(1700000000)},
		{leveret.Decimal{Scale: 2, Value: 314}, `2.314`, 2.314},
		{[]any{int32(1), "x", nil}, `[1,"x","undefined"]`, []any{int64(1), "x", "undefined"}},
		{leveret.Table{"n": int16(1)}, `{"n":1}`, leveret.Table{"n": int64(1)}},
		{leveret.Fields{{Name: "n", Value: int16(1)}}, `{"n":1}`, leveret.Table{"n": int64(1)}},
	} {
		data, err := json.Marshal(definitions.Arguments{leveret.Table{"k": c.v}})
		require.NoError(t, err)
		assert.Equal(t, `{"k":`+c.json+`}`, string(data))
		var back definitions.Arguments
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, c.back, back.Table["k"])
	}
	var table definitions.Arguments
	require.NoError(t, json.Unmarshal([]byte(`{"a":1,"a":"s","b":1e3}`), &table))
	assert.Equal(t, leveret.Table{"a": int64(1), "b": 1000.0}, table.Table, "the first of two counts")
}

// Of an argument that was given twice the last one is exported, also within tables. RabbitMQ's own queues go by the
// first.
func TestArgumentsGivenTwice(t *testing.T) {
	twice := leveret.Fields{{Name: "z", Value: "1"}, {Name: "z", Value: "2"}}
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{ArgumentFields: append(leveret.Fields{
		{Name: "in", Value: twice}, {Name: "list", Value: []any{twice}},
	}, twice...)})
	require.NoError(t, err)
	data, err := definitions.Export(b)
	require.NoError(t, err)
	assert.Contains(t, string(data), `{"in":{"z":"2"},"list":[{"z":"2"}],"x-queue-type":"classic","z":"2"}`)
}

func TestOldProfileImportsLeniently(t *testing.T) {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()
	require.NoError(t, definitions.Import(b, []byte(`{"bindings":[{"source":"no","vhost":"/","destination":"no","destination_type":"queue"}]}`)))
	err := definitions.Import(b, []byte(`{"policies":[{"vhost":"/","name":"p","pattern":"a","definition":{"max-length":-1}}]}`))
	require.Error(t, err)
	assert.Equal(t, "policies[0] 'p': Validation failed\n\n-1 is not a valid maximum length\n (//p)", err.Error())
}

// Whatever the document, it is imported whole or changes nothing, and what was imported can be
// exported and imported again.
func FuzzDefinitions(f *testing.F) {
	for _, name := range []string{"rabbitmq-4.3.json", "rabbitmq-3.10.json", "rabbitmq-4.3-vhost.json"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"queues":[{"name":"q","vhost":"/","arguments":{"x-max-length":5,"t":{"a":[null]}}}],"bindings":[{"source":"amq.topic","vhost":"/","destination":"q","destination_type":"queue","routing_key":"#.#.#"}]}`))
	f.Add([]byte(`{"vhosts":[{"name":"v"}],"users":[{"name":"u","tags":"a","password_hash":""}],"permissions":[{"user":"u","vhost":"v","configure":"(","write":"","read":""}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			importAndExport(t, profile, data)
		}
	})
}

func importAndExport(t *testing.T, profile leveret.Profile, data []byte) {
	still := func() *leveret.Broker {
		return leveret.New(leveret.WithProfile(profile), leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))))
	}
	b, strict, other := still(), still(), still()
	defer b.Close()
	defer strict.Close()
	defer other.Close()
	before, err := definitions.Export(b)
	require.NoError(t, err)
	leftOut, err := definitions.ImportSupported(b, data)
	if strictErr := definitions.Import(strict, data); len(leftOut) == 0 {
		require.Equal(t, err == nil, strictErr == nil, "nothing was left out")
	}
	after, xerr := definitions.Export(b)
	require.NoError(t, xerr)
	require.NoError(t, b.Check())
	if err != nil {
		require.JSONEq(t, string(before), string(after))
		return
	}
	copyInternalExchanges(t, b, other)
	require.NoError(t, definitions.Import(other, after))
}

// What RabbitMQ does not check in an import of users and virtual hosts.
func TestLenientEntries(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		require.NoError(t, definitions.Import(b, []byte(`{
			"users":[{"name":"u","password_hash":"AAAAAAAA","hashing_algorithm":"nope","tags":""}],
			"vhosts":[{"name":"a","limits":[{"name":"max-queues","value":0}]},{"name":"b","limits":5},{"name":"c","limits":{"max-queues":0}}]}`)))
		u, err := b.User("u")
		require.NoError(t, err)
		assert.Equal(t, "nope", u.Password.Algorithm)
		for _, name := range []string{"a", "b", "c"} {
			v, err := b.VHost(name)
			require.NoError(t, err)
			assert.Equal(t, leveret.NoLimit, v.Info().Limits.MaxQueues)
		}
		err = definitions.Import(b, []byte(`{"users":[{"name":"w","password":"x","password_hash":"AAAAAAAA","tags":""}]}`))
		assert.EqualError(t, err, "users[0] 'w': both_password_and_password_hash_are_provided")
		err = definitions.Import(b, []byte(`{"vhosts":[{"name":"d","metadata":{"default_queue_type":"nope"}}]}`))
		_, missing := b.VHost("d")
		assert.Error(t, missing, "%v: no virtual host either way", profile)
		assert.Equal(t, profile == leveret.RabbitMQ310, err == nil, "3.10 passes the entry over")
		err = definitions.Import(b, []byte(`{"queues":[{"vhost":"/","durable":true,"auto_delete":false}]}`))
		assert.EqualError(t, err, "queues[0] '': the name is missing")
		b.Close()
	}
}

// An entry may say whether the virtual host is traced. What it does not say stays, and an export does not have it.
// Rules: J-3.
func TestTracingOfImportedVHost(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for _, c := range []struct {
		entry  string
		traced bool
	}{{`"tracing":true`, true}, {`"description":"x"`, true}, {`"tracing":false`, false}, {`"metadata":{"tracing":true}`, false}, {`"tracing":true`, true}} {
		require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v",`+c.entry+`}]}`)))
		assert.Equal(t, c.traced, firehose.Traces(b, "v"), c.entry)
	}
	assert.Error(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v","tracing":false}],"queues":[{"name":"q","vhost":"nowhere"}]}`)))
	assert.True(t, firehose.Traces(b, "v"), "what is refused changes nothing")
	assert.Error(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v","tracing":"false"}]}`)))
	firehose.Stop(b, "v")
	assert.EqualError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"w","tracing":null}]}`)), "vhosts[0] 'w': {case_clause,null}")
}
