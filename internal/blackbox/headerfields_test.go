package blackbox_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// What a Go program publishes as HeaderFields becomes what a client can be sent, whatever Go types it used.
func TestPublishedHeaderFieldsAreCanonical(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	copied, err := b.DeclareQueue("copied", leveret.QueueConfig{})
	require.NoError(t, err)
	given := leveret.Fields{{Name: "n", Value: uint64(1)}, {Name: "CC", Value: []string{"copied"}},
		{Name: "in", Value: leveret.Table{"d": time.Second}}}
	_, err = b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{HeaderFields: given}})
	require.NoError(t, err)
	for _, q := range []*leveret.Queue{q, copied} {
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, leveret.Table{"n": int64(1), "CC": []any{"copied"}, "in": leveret.Table{"d": int64(1000)}},
			d.Headers)
	}
	require.Equal(t, uint64(1), given[0].Value, "the publisher's own are left alone")

	_, err = b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{HeaderFields: leveret.Fields{{Name: "c", Value: 1i}}}})
	require.ErrorIs(t, err, leveret.ErrSyntax)
	require.ErrorContains(t, err, `"c": no AMQP field type for Go type complex128`)
}
