package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

var start = time.Unix(1_800_000_000, 0)

// fields makes a table of names and values in turn.
func fields(list ...any) leveret.Fields {
	out := leveret.Fields{}
	for i := 0; i < len(list); i += 2 {
		out = append(out, leveret.Field{Name: list[i].(string), Value: list[i+1]})
	}
	return out
}

func entry(reason, queue string, count any) leveret.Fields {
	return leveret.Fields{{Name: "count", Value: count}, {Name: "reason", Value: reason}, {Name: "queue", Value: queue},
		{Name: "time", Value: start.UTC()}, {Name: "exchange", Value: ""}, {Name: "routing-keys", Value: []any{queue}}}
}

func TestDeliveries(t *testing.T) {
	r := &renderer{release: "4.3", started: start}
	died := leveret.Fields{{Name: "x-death", Value: []any{entry("rejected", "q", int64(1))}},
		{Name: "x-first-death-reason", Value: "rejected"}, {Name: "x-first-death-queue", Value: "q"},
		{Name: "x-first-death-exchange", Value: ""},
		{Name: "x-last-death-reason", Value: "rejected"}, {Name: "x-last-death-queue", Value: "q"},
		{Name: "x-last-death-exchange", Value: ""}}
	for want, d := range map[string]*Delivery{
		`a`: {RoutingKey: "q", Body: []byte("a")},
		`a from x/k redelivered priority=0`: {Exchange: "x", RoutingKey: "k", Redelivered: true, Body: []byte("a"),
			Properties: &leveret.Properties{Present: leveret.PropPriority}},
		`"" headers={}`:                   {RoutingKey: "q", Fields: leveret.Fields{}},
		`a death(rejected q x1 "" [q])`:   {RoutingKey: "q", Body: []byte("a"), Fields: died},
		`a headers={z=1 a=[] z="1"}`:      {RoutingKey: "q", Body: []byte("a"), Fields: fields("z", int32(1), "a", []any{}, "z", "1")},
		`a headers={x-death=[{count=5}]}`: {RoutingKey: "q", Body: []byte("a"), Fields: fields("x-death", []any{fields("count", int32(5))})},
	} {
		require.Equal(t, want, r.delivery(d, "q"))
	}
}

// The short form of x-death hides nothing: a wrong type, a missing last death or an old time shows.
func TestDeathsShowWhatIsUnusual(t *testing.T) {
	r := &renderer{release: "4.3", started: start}
	first := leveret.Fields{{Name: "x-first-death-reason", Value: "rejected"}, {Name: "x-first-death-queue", Value: "q"},
		{Name: "x-first-death-exchange", Value: ""}}
	require.Equal(t, []string{`death(rejected q x1 "" [q])`, "last()"},
		r.headers(append(leveret.Fields{{Name: "x-death", Value: []any{entry("rejected", "q", int64(1))}}}, first...)))
	r.release = "3.10"
	require.Equal(t, []string{`death(rejected q x1 "" [q])`},
		r.headers(append(leveret.Fields{{Name: "x-death", Value: []any{entry("rejected", "q", int64(1))}}}, first...)))
	require.Equal(t, []string{`death(expired p x1 "" [p])`, `death(rejected r x2 "" [r])`, `first(rejected q "")`},
		r.headers(append(leveret.Fields{{Name: "x-death",
			Value: []any{entry("expired", "p", int64(1)), entry("rejected", "r", int64(2))}}}, first...)))
	require.Equal(t, []string{`headers={x-death=[{count=1 reason=rejected queue=q time=time(now) exchange="" routing-keys=[q]}]}`},
		r.headers(leveret.Fields{{Name: "x-death", Value: []any{entry("rejected", "q", int32(1))}}}))
	r.started = start.Add(time.Hour)
	require.Contains(t, r.headers(append(leveret.Fields{{Name: "x-death", Value: []any{entry("rejected", "q", int64(1))}}}, first...))[0],
		"time=1800000000")
}

func TestFailures(t *testing.T) {
	r := &renderer{vhost: "s000000001"}
	e := &leveret.Error{Code: leveret.NotFound, Reason: "no queue 'q' in vhost 's000000001'"}
	require.Equal(t, "channel closed: 404 NOT_FOUND - no queue 'q' in vhost '/'", r.failure(e, "channel"))
	long := "RESOURCE_ERROR - failed to deliver message: {not_found,{resource,<<\"/\">>,queue,<<\"" + strings.Repeat("n", 170)
	require.Equal(t, cutAlike(long[:200]+"..."), cutAlike(long[:211]+"..."), "cut behind virtual hosts of 10 and of 1 octets")
	require.Equal(t, long[:211], cutAlike(long[:211]))
	unnamed := strings.Repeat("n", 200) + "..."
	require.Equal(t, unnamed, cutAlike(unnamed))
	require.Equal(t, "amq.gen-*", generated("amq.gen-JzTY20BRgKO-HjmUJj0wLg"))
	require.Equal(t, "amq.gen-short", generated("amq.gen-short"))
}
