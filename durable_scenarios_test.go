package leveret_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/stretchr/testify/require"
)

// A diskDriver plays on a broker with a directory. A restart ends the broker, and opens another one on the directory: what a killed
// one leaves is all that was written.
type diskDriver struct {
	scenario.Operator
	t       *testing.T
	clock   *leveret.ManualClock
	profile leveret.Profile
	fs      *crashfs.FS
	opened  uint64 // how often
	direct  *scenario.Direct
}

func newDiskDriver(t *testing.T, p leveret.Profile) *diskDriver {
	d := &diskDriver{t: t, clock: leveret.NewManualClock(time.Unix(1_800_000_000, 0)), profile: p, fs: &crashfs.FS{}}
	d.open()
	return d
}

// smallSegments has logs copy forward all the time.
var smallSegments = journal.Options{SegmentSize: 4 << 10, Growing: true}

// open opens the directory with another seed each time, or the names of direct replies would come again.
func (d *diskDriver) open() {
	d.opened++
	b, err := leveret.OpenFS(d.fs, smallSegments, leveret.WithClock(d.clock), leveret.WithProfile(d.profile), leveret.WithSeed(d.opened),
		leveret.WithSync(leveret.SyncNever))
	require.NoError(d.t, err)
	d.direct = scenario.DirectTo(b, d.clock)
	d.Operator = d.direct.Operator
}

func (d *diskDriver) Restart(killed bool, down time.Duration) error {
	if killed {
		require.NoError(d.t, d.Broker.SyncLog())
		left := d.fs.Crash(nil)
		if err := d.Broker.Stop(leveret.KilledNode); err != nil { // clients of the old one see it
			return err
		}
		require.NoError(d.t, d.Broker.Close())
		d.fs = left
	} else if err := d.Broker.Close(); err != nil {
		return err
	}
	d.clock.Advance(down)
	d.open()
	return nil
}

func (d *diskDriver) Kind() string                                    { return "go" }
func (d *diskDriver) Profile() leveret.Profile                        { return d.profile }
func (d *diskDriver) Advance(t time.Duration)                         { d.clock.Advance(t) }
func (d *diskDriver) Now() time.Time                                  { return d.clock.Now() }
func (d *diskDriver) MaxDelay() time.Duration                         { return 0 }
func (d *diskDriver) VHost() string                                   { return "/" }
func (d *diskDriver) Close() error                                    { return d.Broker.Close() }
func (d *diskDriver) Connect(l scenario.Login) (scenario.Conn, error) { return d.direct.Connect(l) }

// TestScenariosOnDisk plays every scenario on a broker with a directory. At its end the broker is stopped, or killed, and opened
// again: the queues have what a restart in memory leaves in them.
func TestScenariosOnDisk(t *testing.T) {
	scripts, err := scenario.Load(os.DirFS("testdata/scenarios"))
	require.NoError(t, err)
	for profile, release := range scenario.Releases {
		for _, killed := range []bool{false, true} {
			t.Run(map[bool]string{false: release + " stopped", true: release + " killed"}[killed], func(t *testing.T) {
				for _, s := range scripts {
					if s.For(release, "go") {
						t.Run(s.Name, func(t *testing.T) {
							t.Parallel()
							playOnDisk(t, s, profile, killed)
						})
					}
				}
			})
		}
	}
}

var (
	restartSeed     = flag.Uint64("restart-seed", 0, "the first random program of TestRandomRestartsOnDisk; 0: chosen at random")
	restartPrograms = flag.Int("restart-programs", 100, "how many seeds TestRandomRestartsOnDisk takes for each release")
)

// TestRandomRestartsOnDisk plays random programs that restart their broker on one with a directory.
func TestRandomRestartsOnDisk(t *testing.T) {
	first := *restartSeed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("-restart-seed %d", first)
	for profile, release := range scenario.Releases {
		for n := range uint64(*restartPrograms) {
			seed := first + n*103 // others than the next one have other restarts
			if s := conformance.RestartingProgram(profile, seed); s != nil {
				t.Run(fmt.Sprintf("%s seed %d", release, seed), func(t *testing.T) {
					t.Parallel()
					playOnDisk(t, s, profile, seed%2 == 1)
				})
			}
		}
	}
}

func playOnDisk(t *testing.T, s *scenario.Script, p leveret.Profile, killed bool) {
	d := newDiskDriver(t, p)
	defer func() { _ = d.Close() }()
	if s.Name == "restart/retry-killed" {
		t.Skip("nothing says when a node was killed: what somebody held begins to wait for its retry when the broker is opened")
	}
	l, err := scenario.Run(s, d)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	if diff := l.Diff(); diff != "" {
		t.Fatal("\n" + diff)
	}
	require.NoError(t, d.Broker.Check())
	require.NoError(t, d.Broker.LogState())
	require.NoError(t, d.Broker.SyncLog())
	left := d.fs.Crash(nil)
	as := leveret.StoppedNode
	if killed {
		as = leveret.KilledNode
	}
	b := d.Broker
	if !d.Broker.Serving() {
		return
	}
	require.NoError(t, b.Stop(as))
	want := b.State()
	require.NoError(t, b.Close())
	if killed {
		d.fs = left
	}
	again, err := leveret.OpenDown(d.fs, smallSegments, leveret.WithClock(d.clock), leveret.WithProfile(p))
	require.NoError(t, err)
	require.Equal(t, want, again.State())
	require.NoError(t, again.Start())
	require.NoError(t, again.Check())
	require.NoError(t, again.LogState())
	require.NoError(t, again.Close())
}
