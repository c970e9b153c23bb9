package leveret

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// testQueue is how error texts name the queue of these tests.
const testQueue = "queue 'q' in vhost '/'"

var testSubject = subject{"q", testQueue}

// testArgs returns arguments as a client's arrive.
func testArgs(t testing.TB, table Table) Fields {
	t.Helper()
	f, err := table.Fields()
	require.NoError(t, err)
	return f
}

// reasonOf is empty without an error.
func reasonOf(err *Error) string {
	if err == nil {
		return ""
	}
	return err.Reason
}

// releases has the rules of both releases, by the names that tests say they hold for.
var releases = map[string]*rules{"4.3": RabbitMQ43.rules(), "3.10": RabbitMQ310.rules()}

// testPolicy compiles a policy of 4.3 that matches every name.
func testPolicy(t testing.TB, name string, priority float64, definition Table) *policy {
	t.Helper()
	p, err := compilePolicy(Policy{Name: name, Pattern: "", Priority: priority, Definition: definition}, userPolicies,
		RabbitMQ43.rules())
	require.NoError(t, err)
	return p
}

// seconds is a timestamp as AMQP has them.
func seconds(s int64) time.Time { return time.Unix(s, 0).UTC() }

// valueGen draws canonical values of every field type, nested at most depth deep.
func valueGen(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.SampledFrom([]string{"", "a", "b", "all"}).AsAny(),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b"}), func(s string) any { return []byte(s) }),
		rapid.Int8Range(-1, 2).AsAny(), rapid.Uint8Range(0, 2).AsAny(),
		rapid.Int16Range(-1, 2).AsAny(), rapid.Uint16Range(0, 2).AsAny(),
		rapid.Int32Range(-1, 2).AsAny(), rapid.Uint32Range(0, 2).AsAny(),
		rapid.Int64Range(-1, 2).AsAny(), rapid.SampledFrom([]int64{1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64}).AsAny(),
		rapid.SampledFrom([]float32{0, 1, 0.1, -1}).AsAny(),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 0.1, 1 << 53, math.MaxInt64, math.Inf(1)}).AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			return Decimal{rapid.Uint8Range(0, 1).Draw(t, "scale"), rapid.Int32Range(0, 1).Draw(t, "value")}
		}),
		rapid.Map(rapid.Int64Range(0, 2), func(s int64) any { return time.Unix(s, 0).UTC() }),
	}
	if depth > 0 {
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return valueGen(depth - 1) }), 0, 2),
				func(l []any) any { return append([]any{}, l...) }),
			rapid.Map(fieldsGen(depth-1), func(f Fields) any { return f }))
	}
	return rapid.OneOf(gens...)
}

func fieldsGen(depth int) *rapid.Generator[Fields] {
	return rapid.Custom(func(t *rapid.T) Fields {
		f := Fields{}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			f = append(f, Field{rapid.SampledFrom([]string{"a", "b", "x-match", "x-c", ""}).Draw(t, "name"),
				valueGen(depth).Draw(t, "value")})
		}
		return f
	})
}
