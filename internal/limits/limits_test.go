package limits

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  Limits
		wrong []string
	}{
		{`{}`, Limits{}, nil},
		{`{"max-connections":5,"max-queues":-7}`, Limits{"max-connections": 5, "max-queues": -7}, nil},
		{`{"max-queues":100000000000000000000}`, Limits{"max-queues": 1<<63 - 1}, nil},
		{`{"max-queues":-100000000000000000000}`, Limits{"max-queues": -1<<63 + 1}, nil},
		{`{"max-queues":"x"}`, Limits{}, []string{`max-queues should be a number, actually was <<"x">>`}},
		{`{"max-queues":null}`, Limits{}, []string{`max-queues should be a number, actually was null`}},
		{`{"max-queues":{"a":[1]}}`, Limits{}, []string{`max-queues should be a number, actually was #{<<"a">> => [1]}`}},
		{`{"max-queues":5.0,"b":{"c":true},"a":null,"max-connections":1}`, Limits{"max-connections": 1}, []string{
			`Unrecognised terms [{<<"a">>,null},{<<"b">>,#{<<"c">> => true}}] in limits`,
			`max-queues should be a number, actually was 5.0`,
		}},
	} {
		given, err := Read([]byte(c.in))
		require.NoError(t, err, c.in)
		parsed, wrong := Parse(given, "limits", "max-connections", "max-queues")
		assert.Equal(t, c.want, parsed, c.in)
		assert.Equal(t, strings.Join(c.wrong, "\n"), Text(wrong, erl.Unicode), c.in)
	}
	of := Limits{MaxConnections: 5}
	assert.Equal(t, leveret.UserLimits{MaxConnections: 5, MaxChannels: 6}, of.OfUser(leveret.UserLimits{MaxConnections: 4, MaxChannels: 6}))
	assert.Equal(t, leveret.VHostLimits{MaxConnections: 5, MaxQueues: leveret.NoLimit}, of.OfVHost(NoneOfVHost))
	for _, in := range []string{`5`, `[1]`, `"x"`} {
		_, err := Read([]byte(in))
		assert.EqualError(t, err, "limits are not an object", in)
	}
}

func TestTerm(t *testing.T) {
	_, wrong := Parse(map[string]any{"max-channels": 1.0, "b": map[string]any{"c": int64(1)}}, "user-limits", "max-channels")
	require.Len(t, wrong, 2)
	assert.Equal(t, `{"Unrecognised terms ~tp in ~ts",`+"\n "+`[[{<<"b">>,#{<<"c">> => 1}}],<<"user-limits">>]}`, erl.Format(wrong[0].Term(), 0))
	assert.Equal(t, `{"~ts should be a number, actually was ~tp",[<<"max-channels">>,1.0]}`, erl.Format(wrong[1].Term(), 0))
}
