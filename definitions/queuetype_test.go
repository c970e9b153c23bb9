package definitions_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A virtual host that is described without a type has the node's, also one that had another.
// Rules: A-20.
func TestDefaultQueueTypeOfTheNode(t *testing.T) {
	b := leveret.New(leveret.WithDefaultQueueType(leveret.QueueTypeQuorum))
	defer b.Close()
	for _, c := range []struct {
		metadata string
		want     leveret.QueueType
	}{
		{`{}`, "quorum"},
		{`{"default_queue_type":"classic"}`, "classic"},
		{`{"default_queue_type":"undefined"}`, "quorum"},
		{`{"default_queue_type":"classic"}`, "classic"},
		{`{"description":"d"}`, "quorum"},
	} {
		require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v","metadata":`+c.metadata+`}]}`)))
		v, err := b.VHost("v")
		require.NoError(t, err)
		assert.Equal(t, c.want, v.Info().DefaultQueueType, c.metadata)
	}
}
