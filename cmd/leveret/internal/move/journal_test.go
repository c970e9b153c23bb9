package move

import (
	"os"
	"path/filepath"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parcelOf(body string, repeated bool) parcel {
	return parcel{Letter: Letter{Queue: "work", Message: amqp.Publishing{Body: []byte(body)}}, repeated: repeated}
}

// A journal that was left by a run that was killed counts what comes again, and nothing else.
func TestJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j, err := OpenJournal(name)
	require.NoError(t, err)
	var slots []int
	for _, body := range []string{"a", "b", "c"} {
		i, err := j.take(parcelOf(body, false))
		require.NoError(t, err)
		slots = append(slots, i)
	}
	require.NoError(t, j.settled(slots[1:2])) // the file has an empty line between two messages

	j, err = OpenJournal(name)
	require.NoError(t, err)
	assert.Equal(t, 2, j.Unsettled())
	for _, p := range []parcel{parcelOf("a", false), parcelOf("b", true), parcelOf("c", true), parcelOf("c", true)} {
		i, err := j.take(p)
		require.NoError(t, err)
		require.NoError(t, j.settled([]int{i}))
	}
	moved, again := j.Moved()
	assert.Equal(t, 5, moved)
	assert.Equal(t, 1, again, "only c was on its way and comes redelivered")
	require.NoError(t, j.drained("work"))

	j, err = OpenJournal(name)
	require.NoError(t, err)
	assert.Zero(t, j.Unsettled())
	moved, again = j.Moved()
	assert.Equal(t, []int{5, 1}, []int{moved, again})

	require.NoError(t, os.WriteFile(name, []byte("something else"), 0o600))
	_, err = OpenJournal(name)
	assert.ErrorContains(t, err, "no journal")
}
