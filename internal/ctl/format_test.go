package ctl

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func formatCall(options map[string]string) *call {
	return &call{line: &line{options: options}, node: &Node{Name: "n@h"}, command: &command{}}
}

func TestFormatListing(t *testing.T) {
	rows := []row{
		{{"name", `a"b`}, {"n", 1}, {"f", 2.0}, {"args", arguments{{Name: "x", Value: int32(5)}}}, {"none", nil}},
		{{"name", "c,d"}, {"n", 2}, {"f", 0.5}, {"args", arguments{}}, {"none", true}},
	}
	r := result{rows: rows, listing: true}
	for _, c := range []struct {
		options map[string]string
		format  func(*call, result) string
		want    string
	}{
		{nil, formatPlain, "name\tn\tf\targs\tnone\na\"b\t1\t2.0\t[{\"x\",5}]\t\nc,d\t2\t0.5\t[]\ttrue\n"},
		{map[string]string{"silent": "true"}, formatPlain, "a\"b\t1\t2.0\t[{\"x\",5}]\t\nc,d\t2\t0.5\t[]\ttrue\n"},
		{map[string]string{"table-headers": "false"}, formatPlain, "a\"b\t1\t2.0\t[{\"x\",5}]\t\nc,d\t2\t0.5\t[]\ttrue\n"},
		{nil, formatJSON, `[
{"name":"a\"b","n":1,"f":2.0,"args":[["x","signedint",5]],"none":""}
,{"name":"c,d","n":2,"f":0.5,"args":[],"none":true}
]
`},
		{nil, formatCSV, "\"name\",\"n\",\"f\",\"args\",\"none\"\n" +
			"\"a\"\"b\",\"1\",\"2.0\",\"[{\"\"x\"\",5}]\",\"\"\n\"c,d\",\"2\",\"0.5\",\"\",\"true\"\n"},
		{nil, formatErlang, `[[{name,<<"a\"b">>},{n,1},{f,2.0},{args,[{<<"x">>,signedint,5}]},{none,''}],
 [{name,<<"c,d">>},{n,2},{f,0.5},{args,[]},{none,true}]]
`},
		{nil, formatPretty, drawn(`lqqqqqqwqqqwqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqk
| *name* | *n* | *f*        | *args*                  | *none* |
tqqqqqqnqqqnqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqu
| a"b  | 1 | 2.000000 | {<<"x">>,signedint,5} |      |
tqqqqqqnqqqnqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqu
| c,d  | 2 | 0.500000 |                       | true |
mqqqqqqvqqqvqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqj
`)},
	} {
		assert.Equal(t, c.want, c.format(formatCall(c.options), r))
	}
}

// drawn puts the escape sequences of a terminal into a table: | is a vertical line, *…* is bold.
func drawn(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line[0] != '|' {
			b.WriteString("\x1b(0" + strings.TrimSuffix(line, "\n") + "\x1b(B\n")
			continue
		}
		line = strings.ReplaceAll(line, "|", "\x1b(0x\x1b(B")
		b.WriteString(regexp.MustCompile(`\*(\w+)\*`).ReplaceAllString(line, "\x1b[1m$1\x1b[0m"))
	}
	return b.String()
}

func TestPrettyCells(t *testing.T) {
	r := result{listing: true, rows: []row{
		{{"a", "one\r\ntwo\tx"}, {"b", "\xff"}},
		{{"a", names{"p", "q r"}}, {"b", arguments{{Name: "k", Value: "v"}, {Name: "l", Value: []any{}}}}},
	}}
	assert.Equal(t, drawn(`lqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqk
| *a*         | *b*                                           |
tqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqu
| one       | <<"ÿ">>                                     |
| two     x |                                             |
tqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqu
| pq r      | {<<"k">>,longstr,<<"v">>}{<<"l">>,array,[]} |
mqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj
`), formatPretty(nil, r))
}

func TestErlangReport(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	b.SetAlarm(leveret.MemoryAlarm, true)
	n := &Node{Broker: b, Name: "n@h", Listeners: []Listener{{"127.0.0.1", 5672, "amqp"}}}
	r := result{message: "text", report: true, object: statusReport{release: "4.3"}.object(n)}
	out := formatErlang(nil, r)
	assert.True(t, strings.HasPrefix(out, "[{pid,"), out)
	assert.Contains(t, out, `{rabbitmq_version,"4.3"}`)
	assert.Contains(t, out, `{totals,[{connection_count,0},{queue_count,0},{virtual_host_count,0}]}`)
	assert.Contains(t, out, `{alarms,[[{node,"n@h"},{type,"resource_limit"},{resource,"memory"}]]}`)
	assert.Contains(t, out, "{tags,[]}")
}

// The names are those of Erlang's ssl:str_to_suite.
func TestCiphers(t *testing.T) {
	for suite, want := range map[string]cipher{
		"TLS_AES_128_GCM_SHA256":                        {"any", "aes_128_gcm", "aead"},
		"TLS_CHACHA20_POLY1305_SHA256":                  {"any", "chacha20_poly1305", "aead"},
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256":         {"ecdhe_rsa", "aes_128_gcm", "aead"},
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": {"ecdhe_ecdsa", "chacha20_poly1305", "aead"},
		"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA":            {"ecdhe_rsa", "aes_128_cbc", "sha"},
		"TLS_RSA_WITH_3DES_EDE_CBC_SHA":                 {"rsa", "3des_ede_cbc", "sha"},
		"TLS_RSA_WITH_RC4_128_SHA":                      {"rsa", "rc4_128", "sha"},
		"TLS_RSA_WITH_AES_128_CBC_SHA256":               {"rsa", "aes_128_cbc", "sha256"},
		"0x1234":                                        {},
	} {
		assert.Equal(t, want, parseCipher(suite), suite)
	}
	for version, want := range map[string]word{"TLS 1.3": "tlsv1.3", "TLS 1.2": "tlsv1.2", "TLS 1.1": "tlsv1.1", "TLS 1.0": "tlsv1"} {
		assert.Equal(t, want, tlsItem(leveret.TLSInfo{Version: version}, "ssl_protocol"))
	}
	assert.Equal(t, none, tlsItem(leveret.TLSInfo{}, "ssl_protocol"))
}

func TestFormatEmptyAndSingle(t *testing.T) {
	for _, c := range []struct {
		r           result
		plain, json string
	}{
		{result{listing: true}, "", "[\n]\n"},
		{result{listing: true, blank: true}, "\n", "[]\n"},
		{result{}, "", `{"node":"n@h","result":"ok"}` + "\n"},
		{result{message: "text"}, "text\n", `{"message":"text"}` + "\n"},
		{result{message: "text", done: true}, "text\n", `{"node":"n@h","value":"text","result":"ok"}` + "\n"},
		{result{message: "text", object: row{{"a<b", 1}}}, "text\n", `{"a<b":1}` + "\n"},
		{result{message: "{}", raw: true}, "{}", "{}"},
	} {
		assert.Equal(t, c.plain, formatPlain(formatCall(nil), c.r))
		assert.Equal(t, c.json, formatJSON(formatCall(nil), c.r))
	}
}

// The notations are those of a RabbitMQ 4.3 node for a queue declared with such arguments.
func TestArguments(t *testing.T) {
	a := arguments(sortedFields(leveret.Table{
		"x-b": []byte{1, 200}, "x-c": "a\tb\"\\", "x-e": "", "x-em": []any{}, "x-f": 1e21, "x-f2": float32(1.1),
		"x-l": []any{int32(97), int32(98)}, "x-ttl": int32(5000000), "x-v": nil, "x-tm": leveret.Table{},
		"x-u": "λü", "x-ul": "ü", "x-d": leveret.Decimal{Scale: 2, Value: 314}, "x-t": leveret.Table{"a": []any{"x", int64(1)}},
		"x-bool": true, "x-u8": uint8(3),
	}))
	assert.Equal(t, `[{"x-b",<<1,200>>},{"x-bool",true},{"x-c","a\tb\"\\"},{"x-d",{2,314}},{"x-e",[]},{"x-em",[]},{"x-f",1.0e21},`+
		`{"x-f2",1.100000023841858},{"x-l","ab"},{"x-t",[{"a",["x",1]}]},{"x-tm",[]},{"x-ttl",5000000},{"x-u",[955,252]},`+
		`{"x-u8",3},{"x-ul","ü"},{"x-v",undefined}]`, a.plain())
	assert.Equal(t, `[["x-b","binary","Acg="],["x-bool","bool",true],["x-c","longstr","a\tb\"\\"],["x-d","decimal",[2,314]],`+
		`["x-e","longstr",""],["x-em","array",[]],["x-f","double",1.0e21],["x-f2","float",1.100000023841858],`+
		`["x-l","array",{"signedint":98}],["x-t","table",[["a","array",{"long":1,"longstr":"x"}]]],["x-tm","table",[]],`+
		`["x-ttl","signedint",5000000],["x-u","longstr","λü"],["x-u8","unsignedbyte",3],["x-ul","longstr","ü"],`+
		`["x-v","void","undefined"]]`, marshal(a.json()))
}

func TestPid(t *testing.T) {
	p := pid{"leveret@my.host", 12, 3}
	back, ok := parsePid(p.plain())
	require.True(t, ok)
	assert.Equal(t, p, back)
	for _, bad := range []string{"", "abc", "<>", "<a.1.2>", "<a@b.1.2.x>", "<a@b.1.2.70000>", "a@b.1.2.3", "<.1.2.3>", "<a@b.1.-2.3>"} {
		_, ok := parsePid(bad)
		assert.False(t, ok, bad)
	}
}

func TestUndecodable(t *testing.T) {
	assert.Equal(t, `Could not parse JSON document: {error,{failed_to_decode_json,<<"notjson">>}}`, undecodable("notjson"))
	assert.Equal(t, "Could not parse JSON document: {error,\n"+strings.Repeat(" ", 35)+"{failed_to_decode_json,\n"+
		strings.Repeat(" ", 39)+`<<"{\"max-length\":">>}}`, undecodable(`{"max-length":`))
}

func TestParseDefinition(t *testing.T) {
	d, err := (&call{node: &Node{Broker: leveret.New()}}).parseDefinition(` {"a":10,"b":1.5,"c":{"d":[1,"x"]},"e":1e2} `)
	require.NoError(t, err)
	assert.Equal(t, leveret.Table{"a": int64(10), "b": 1.5, "c": map[string]any{"d": []any{int64(1), "x"}}, "e": 100.0}, d)
	for _, bad := range []string{"", "[]", `"s"`, "1", "null", `{"a":1} x`, `{"a":1}{}`} {
		_, err := (&call{node: &Node{Broker: leveret.New()}}).parseDefinition(bad)
		assert.Error(t, err, bad)
	}
}

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{"5": 5, "2k": 2048, "2kB": 2000, "1MiB": 1 << 20, "1M": 1 << 20, "3GB": 3e9, "1G": 1 << 30} {
		n, err := parseBytes(s)
		require.NoError(t, err, s)
		assert.Equal(t, want, n, s)
	}
	for _, bad := range []string{"", "x", "0", "-1", "1XB", "1.5GB", "99999999999999999999", "9999999999G"} {
		_, err := parseBytes(bad)
		assert.Error(t, err, bad)
	}
}

func TestAddresses(t *testing.T) {
	e := parseEnds("127.0.0.1:50508 -> 127.0.0.1:5672")
	assert.Equal(t, "127.0.0.1", address{e.peer.Addr()}.plain())
	assert.Equal(t, `[127,0,0,1]`, marshal(address{e.local.Addr()}.json()))
	assert.Equal(t, uint16(50508), port(e.peer))
	six := parseEnds("[::1]:1 -> [2001:db8::1]:2")
	assert.Equal(t, `[8193,3512,0,0,0,0,0,1]`, marshal(address{six.local.Addr()}.json()))
	unnamed := parseEnds("in memory")
	assert.Equal(t, "", address{unnamed.peer.Addr()}.plain())
	assert.Equal(t, none, port(unnamed.local))
}

func TestCharlist(t *testing.T) {
	assert.Equal(t, `~c"a\"b"`, charlist(`a"b`))
	assert.Equal(t, `[955, 97]`, charlist("λa"))
}

func TestSuggestion(t *testing.T) {
	assert.Equal(t, "list_queues", suggestion("list_qeues"))
	assert.Equal(t, "set_policy", suggestion("set_polcy"))
	assert.Empty(t, suggestion("nonsense"))
}

// The help of a list names the columns that it takes, all of them.
func TestHelpNamesTheColumns(t *testing.T) {
	n := testNode(t)
	for name, cmd := range commands {
		help := n.Run(Request{Args: []string{"help", name}}).Stdout
		_, rest, listed := strings.Cut(help, "\nColumns: ")
		takesColumns := strings.Contains(cmd.usage, "<column>")
		assert.Equal(t, takesColumns, listed, name)
		if !listed {
			continue
		}
		columns, _, _ := strings.Cut(rest, "\n\n")
		for column := range strings.SplitSeq(strings.ReplaceAll(columns, "\n", " "), ", ") {
			r := n.Run(Request{Args: []string{name, column}})
			assert.Zero(t, r.Status, "%s %s: %s", name, column, r.Stderr)
		}
		assert.NotZero(t, n.Run(Request{Args: []string{name, "nmae"}}).Status, name)
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	for name, cmd := range commands {
		assert.Contains(t, Help(), "   "+name+" ")
		assert.True(t, strings.HasPrefix(cmd.usage, name), name)
		assert.NotEmpty(t, cmd.about, name)
	}
}

func TestRowIsJSON(t *testing.T) {
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(marshal(row{{"a", pid{"n", 1, 2}}, {"b", names(nil)},
		{"c", definition{"k": 1}}})), &back))
	assert.Equal(t, map[string]any{"a": "Pid(#PID<1.1.2>)", "b": []any{}, "c": map[string]any{"k": 1.0}}, back)
}

// What RabbitMQ showed of a consumer with these arguments.
func TestUnsignedArguments(t *testing.T) {
	args := arguments(sortedFields(leveret.Table{"dec": leveret.Decimal{Scale: 3, Value: -5}, "ts": time.Unix(-1<<63+5, 0), "x-priority": int8(3)}))
	assert.Equal(t, `[{"dec",{3,4294967291}},{"ts",9223372036854775813},{"x-priority",3}]`, args.plain())
	assert.Equal(t, `[["dec","decimal",[3,4294967291]],["ts","timestamp",9223372036854775813],["x-priority","byte",3]]`, marshal(args.json()))
	assert.Equal(t, `[{<<"dec">>,decimal,{3,4294967291}},{<<"ts">>,timestamp,9223372036854775813},{<<"x-priority">>,byte,3}]`, oneLine(args.term()))
}

// 3.10 does not tell which document cannot be decoded.
func TestUndecodableDocumentOf310(t *testing.T) {
	for _, args := range [][]string{{"set_policy", "p", "x", "{"}, {"set_parameter", "nope", "x", "1 2"}, {"set_global_parameter", "x", ""}, {"set_user_limits", "guest", "{"}} {
		r := testNodeOf(t, leveret.RabbitMQ310).Run(Request{Args: args})
		assert.Contains(t, r.Stderr, "Error:\nJSON decoding error. Reason: badarg\n", args)
		assert.Equal(t, exitUnavailable, r.Status, args)
	}
}
