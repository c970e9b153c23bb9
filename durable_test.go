package leveret_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func openDir(t *testing.T, dir string, opts ...leveret.Option) *leveret.Broker {
	t.Helper()
	b, err := leveret.Open(dir, opts...)
	require.NoError(t, err)
	return b
}

// What was confirmed is there, in another broker on the directory. What is not persistent is not.
func TestOpenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	b := openDir(t, dir)
	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	for _, mode := range []uint8{1, 2, 2} {
		_, err = b.Publish("", "q", leveret.Message{Body: []byte{'0' + mode}, Properties: &leveret.Properties{DeliveryMode: mode}})
		require.NoError(t, err)
	}
	require.NoError(t, b.Close())
	require.NoError(t, b.Close(), "twice")
	assert.Zero(t, leveret.New().Recovered())

	b = openDir(t, dir)
	defer b.Close()
	found := b.Recovered()
	assert.Equal(t, 2, found.Messages)
	assert.False(t, found.Killed)
	assert.Empty(t, found.Cut)
	assert.Positive(t, found.Records)
	q, err := b.Queue("q")
	require.NoError(t, err)
	assert.Equal(t, 2, q.Info().Ready)
}

// A directory is one broker's, and one profile's.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	b := openDir(t, dir)
	_, err := leveret.Open(dir)
	require.ErrorIs(t, err, leveret.ErrInUse)
	assert.EqualError(t, err, "leveret: "+dir+": journal: take lock: in use by another broker or process")
	require.NoError(t, b.Close())

	_, err = leveret.Open(dir, leveret.WithProfile(leveret.RabbitMQ310))
	assert.ErrorContains(t, err, "it is the directory of a broker with the profile RabbitMQ 4.3, not RabbitMQ 3.10")
	openDir(t, dir).Close() // who was refused has not changed it, and has let go of it

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = leveret.Open(file)
	assert.Error(t, err)
	assert.Panics(t, func() { leveret.WithSync(9)(leveret.New()) })
}

// Copies that only an earlier kill of the node has seen keep their numbers: a new message is not taken for one of them.
func TestNumbersOfLostCopiesAreNotGivenAgain(t *testing.T) {
	fs := &crashfs.FS{}
	b, err := leveret.OpenFS(fs, smallSegments)
	require.NoError(t, err)
	_, err = b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	for range 5 {
		_, err = b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
	}
	require.NoError(t, b.Restart(leveret.KilledNode))
	require.NoError(t, b.Close())

	b, err = leveret.OpenFS(fs, smallSegments)
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Properties: persistent})
	require.NoError(t, err)
	require.NoError(t, b.Close())

	b, err = leveret.OpenFS(fs, smallSegments)
	require.NoError(t, err)
	q, err := b.Queue("q")
	require.NoError(t, err)
	d, ok, err := q.Get()
	require.NoError(t, err)
	require.True(t, ok)
	assert.False(t, d.Redelivered)
	require.NoError(t, b.Close())
}

// After a failure of the disk nothing is confirmed any more, and the broker can be closed.
func TestDiskFails(t *testing.T) {
	publish := func(b *leveret.Broker) error {
		_, err := b.Publish("", "q", leveret.Message{Properties: persistent})
		return err
	}
	publishAll := func(b *leveret.Broker) error {
		message := leveret.Message{Properties: persistent}
		_, err := b.PublishAll([]leveret.Publishing{{RoutingKey: "q", Message: message}, {RoutingKey: "q", Message: message}})
		return err
	}
	confirmed := func(b *leveret.Broker) error {
		ch := openChannel(t, b)
		require.NoError(t, ch.Confirm())
		_, err := ch.PublishAll([]leveret.Publishing{{RoutingKey: "q", Message: leveret.Message{Properties: persistent}}})
		return err
	}
	for _, op := range []string{"write", "sync"} {
		for _, publish := range []func(*leveret.Broker) error{publish, publishAll, confirmed} {
			fails := false
			fs := &crashfs.FS{}
			fs.Fail = func(_ int, what, _ string) error {
				if fails && what == op {
					return errors.New("no such luck")
				}
				return nil
			}
			b, err := leveret.OpenFS(fs, smallSegments)
			require.NoError(t, err)
			_, err = b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
			require.NoError(t, err)
			require.NoError(t, b.SyncLog())
			require.NoError(t, b.Err())
			fails = true
			for range 2 { // it does not get better by itself
				err = publish(b)
				require.ErrorIs(t, err, leveret.ErrInternal)
				assert.ErrorContains(t, err, "the message store has failed: ")
				assert.ErrorContains(t, err, "no such luck")
			}
			_, err = b.DeclareQueue("r", leveret.QueueConfig{Durable: true})
			assert.ErrorIs(t, err, leveret.ErrInternal)
			assert.ErrorIs(t, b.AddUser("ann", "secret"), leveret.ErrInternal)
			assert.ErrorIs(t, b.SetGlobalParameter(leveret.GlobalParameter{Name: "n"}), leveret.ErrInternal)
			_, err = b.CreateVHost("v")
			assert.ErrorIs(t, err, leveret.ErrInternal)
			assert.ErrorIs(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 1}}), leveret.ErrInternal)
			assert.ErrorIs(t, b.Err(), leveret.ErrInternal)
			assert.ErrorIs(t, b.Close(), leveret.ErrInternal)
			assert.NoError(t, b.Err(), "it is closed")
		}
	}
}

// The log takes at most twice what is live, and four segments, also when few messages stay for long.
func TestDiskIsBounded(t *testing.T) {
	const size, each = 1000, 50
	n := 20_000
	if race.Enabled || testing.Short() {
		n = 4_000
	}
	const segment = 64 << 10
	fs := &crashfs.FS{}
	b, err := leveret.OpenFS(fs, journal.Options{SegmentSize: segment, MaxPending: segment / 2, Growing: true}, leveret.WithSync(leveret.SyncNever))
	require.NoError(t, err)
	_, err = b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	var kept []string
	for i := range n {
		body := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", size))
		_, err := b.Publish("", "q", leveret.Message{Body: body, Properties: persistent})
		require.NoError(t, err)
		d, ok, err := ch.Get("q", leveret.GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
		if i%each == 0 {
			kept = append(kept, string(body))
		} else {
			require.NoError(t, d.Ack())
		}
	}
	live := int64(len(kept)) * (size + 100)
	require.NoError(t, b.LogStats().Stuck)
	t.Logf("%+v, at most %d octets", b.LogStats(), fs.Largest())
	assert.Less(t, fs.Largest(), 2*live+4*segment)
	require.NoError(t, b.LogState())
	require.NoError(t, b.Close())

	b, err = leveret.OpenFS(fs, journal.Options{SegmentSize: segment, Growing: true})
	require.NoError(t, err)
	defer b.Close()
	assert.Equal(t, len(kept), b.Recovered().Messages)
	q, err := b.Queue("q")
	require.NoError(t, err)
	for _, body := range kept {
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, body, string(d.Body))
		require.True(t, d.Redelivered)
		require.NoError(t, d.Ack())
	}
}

// TestDamage cuts a log at every octet, and flips a bit of every octet. What is found is a state that was, or the directory is
// refused with file and offset.
func TestDamage(t *testing.T) {
	step := 3
	if race.Enabled || testing.Short() {
		step = 97
	}
	p := crashProgram{profile: leveret.RabbitMQ43, seed: 7, length: 100}
	states := make([]string, p.length+1)
	for n := range states {
		states[n] = p.after(t, n)
	}
	dir := t.TempDir()
	clock := p.clock()
	b, err := leveret.OpenFS(journal.Dir(dir), journal.Options{Growing: true}, p.options(clock)...)
	require.NoError(t, err)
	require.Equal(t, p.length, p.begin(b, clock).run(p.length))
	require.NoError(t, b.SyncLog())
	files, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, b.Close())

	refused, opened := 0, 0
	open := func(data []byte, what string) {
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), data, 0o600))
		b, err := leveret.OpenDown(journal.Dir(dir), journal.Options{Growing: true}, p.options(p.clock())...)
		if err != nil {
			refused++
			var e *journal.Error
			require.ErrorAs(t, err, &e, what)
			assert.Equal(t, filepath.Base(files[0]), e.File)
			return
		}
		opened++
		found := timeless(b.State())
		require.Contains(t, states, found, what)
		require.NoError(t, b.Close())
	}
	for n := 0; n < len(data); n += step {
		open(data[:n], fmt.Sprintf("cut at %d", n))
		flipped := slices.Clone(data)
		flipped[n] ^= 1 << (n % 8)
		open(flipped, fmt.Sprintf("bit %d of octet %d", n%8, n))
	}
	t.Logf("%d octets: refused %d, opened %d", len(data), refused, opened)
	assert.Positive(t, refused)
	assert.Positive(t, opened)
}
