package leveret

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlobalParameters(t *testing.T) {
	b := New()
	defer b.Close()
	assert.Empty(t, b.GlobalParameters())
	value := json.RawMessage(`"x"`)
	require.NoError(t, b.SetGlobalParameter(GlobalParameter{"cluster_name", value}))
	require.NoError(t, b.SetGlobalParameter(GlobalParameter{"a", json.RawMessage(`[1]`)}))
	require.NoError(t, b.SetGlobalParameter(GlobalParameter{"cluster_name", json.RawMessage(`"y"`)}))
	want := []GlobalParameter{{"cluster_name", json.RawMessage(`"y"`)}, {"a", json.RawMessage(`[1]`)}}
	assert.Equal(t, want, b.GlobalParameters(), "the first one set stays first")
	b.GlobalParameters()[0].Value[1] = 'z'
	assert.Equal(t, want, b.GlobalParameters(), "what is returned is a copy")

	require.NoError(t, b.ClearGlobalParameter("cluster_name"))
	assert.Equal(t, want[1:], b.GlobalParameters())
	assert.ErrorIs(t, b.ClearGlobalParameter("cluster_name"), ErrNotFound)
	b.Close()
	assert.ErrorIs(t, b.SetGlobalParameter(want[0]), ErrClosed)
	assert.ErrorIs(t, b.ClearGlobalParameter("a"), ErrClosed)
}

func TestVHostInfo(t *testing.T) {
	b := New()
	defer b.Close()
	v, err := b.CreateVHost("shop")
	require.NoError(t, err)
	_, err = v.DeclareQueue("q", QueueConfig{})
	require.NoError(t, err)
	require.NoError(t, v.SetMetadata("a test", "x"))
	want := VHostInfo{Name: "shop", Description: "a test", Tags: []string{"x"}, DefaultQueueType: "classic", Limits: VHostLimits{NoLimit, NoLimit}, Queues: 1}
	assert.Equal(t, want, v.Info())
	assert.Equal(t, want, b.VHosts()[1])
	assert.Same(t, b, v.Broker())
	v.Info().Tags[0] = "changed"
	assert.Equal(t, want, v.Info(), "what is returned is a copy")
}

func TestListedPoliciesAreWhatTheBrokerUnderstood(t *testing.T) {
	b := New()
	defer b.Close()
	given := Table{"max-length": uint8(5), "dead-letter-exchange": []byte("x")}
	require.NoError(t, b.SetPolicy(Policy{Name: "p", Definition: given}))
	given["max-length"] = 7
	want := Policy{Name: "p", ApplyTo: ApplyToAll, Definition: Table{"max-length": int64(5), "dead-letter-exchange": "x"}}
	assert.Equal(t, []Policy{want}, b.Policies())
	b.Policies()[0].Definition["max-length"] = 8
	assert.Equal(t, []Policy{want}, b.Policies(), "what is returned is a copy")
}
