package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every script of the repository reads back as it is written: recording changes expectations only.
func TestScriptsKeepTheirText(t *testing.T) {
	scripts, err := Load(os.DirFS("../../testdata/scenarios"))
	require.NoError(t, err)
	require.Greater(t, len(scripts), 200)
	for _, s := range scripts {
		text, err := os.ReadFile("../../testdata/scenarios/" + s.Name + ".txt")
		require.NoError(t, err)
		again, err := Parse(s.Name, s.Text())
		require.NoError(t, err, s.Name)
		require.Equal(t, s.Text(), again.Text(), s.Name)
		require.Equal(t, statements(string(text)), statements(s.Text()), s.Name)
		require.NotEmpty(t, s.Rules, s.Name)
	}
}

// statements are the lines of a script without what it expects.
func statements(text string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		before, _, _ := cutTop(line, "->")
		out = append(out, strings.TrimSpace(before))
	}
	return out
}

func TestExpectations(t *testing.T) {
	s, err := Parse("x", `rule: D-1, D-2
profile: 4.3

# A comment.
get q -> a | "b | c" headers={k="x -> y"}
get q
  [4.3]  -> a
  [4.3]  -> b
  [3.10] -> empty
[3.10] get q -> ok
@conn.ch get q
`)
	require.NoError(t, err)
	require.Equal(t, []string{"D-1", "D-2"}, s.Rules)
	require.Len(t, s.Steps, 4)
	require.Equal(t, []string{"a", `"b | c" headers={k="x -> y"}`}, s.Steps[0].Want("3.10"))
	require.Equal(t, []string{"a", "b"}, s.Steps[1].Want("4.3"))
	require.Equal(t, []string{"empty"}, s.Steps[1].Want("3.10"))
	require.Empty(t, s.Steps[2].Want("3.10"))
	require.Equal(t, "3.10", s.Steps[2].Profile)
	require.Equal(t, "conn.ch", s.Steps[3].Actor)
	require.True(t, s.For("4.3", "go"))
	require.False(t, s.For("3.10", "go"))
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                    "x:1: a statement begins with a word",
		"frobnicate q":          "x:1: no such statement: frobnicate",
		"\nget q -> a\n  what":  "x:3: neither a statement nor an observation",
		"  -> a":                "x:1: neither a statement nor an observation",
		`publish q "a`:          `x:1: bad quoting at "\"a"`,
		"publish q a headers={": "x:1: = is missing at \"\"",
		"publish q a p=":        "x:1: a value is missing at \"\"",
		"publish q a h=dec(1)":  "x:1: no such value: dec",
		"profile: 4.2":          "x:1: profile: 4.2 is neither 4.3 nor 3.10",
		"rule: D-1\ndriver: x":  "x:2: driver: x is neither go nor amqp",
	} {
		_, err := Parse("x", text)
		require.EqualError(t, err, want)
	}
}

// Words that a statement does not know are mistakes, and so is one that says nothing.
func TestMistakesInStatements(t *testing.T) {
	for text, want := range map[string]string{
		"get":                     "get needs a queue",
		"get left":                "get needs a queue",
		"get q flags=1":           "get: what is flags=?",
		"publish q":               "publish needs a body",
		"publish q a mandatry=1":  "publish: what is mandatry=?",
		"ack":                     "ack needs a message",
		"nack a":                  "nack needs requeue or discard",
		"count":                   "count needs a queue",
		"confirm now":             "confirm: what is now?",
		"tx select now":           "tx: what is now?",
		"tx begin":                "tx what: begin?",
		"flow up":                 "flow what: up?",
		"qos many":                "qos: many is no number",
		"close it":                "close: what is it?",
		"advance":                 "advance needs a duration",
		"advance -1s":             "advance: time does not go back",
		"advance 1":               `time: missing unit in duration "1"`,
		"field-order on":          "field-order: what is on?",
		"delete message q":        "delete what: message?",
		"declare user u":          "declare what: user?",
		"deliveries c total a=1":  "deliveries: what is a=?",
		"show q again":            "show: what is again?",
		"bind q":                  "bind needs a target",
		"policy p":                "policy needs a pattern",
		"policy p .* {a=1} rank=": "x:2: a value is missing at \"\"",
	} {
		s, err := Parse("x", "declare queue q\n"+text)
		if err == nil {
			want = "x:2: " + want
			_, err = Run(s, NewDirect(leveret.RabbitMQ43))
		}
		require.EqualError(t, err, want)
	}
}

// Play tells of each statement, until it is told to stop. What differs is marked, but not in a script without arrows.
func TestPlay(t *testing.T) {
	const text = "declare queue q\npublish q a\nget q%s\nget q\n"
	played := func(arrow string, most int) string {
		s, err := Parse("x", fmt.Sprintf(text, arrow))
		require.NoError(t, err)
		var out strings.Builder
		l, err := Play(s, NewDirect(leveret.RabbitMQ43), func(l *Log, e Entry) bool {
			out.WriteString(l.Report(e))
			return len(l.Entries) < most
		})
		require.NoError(t, err)
		require.Len(t, l.Entries, most)
		return out.String()
	}
	begin := "     1  declare queue q\n     2  publish q a\n"
	require.Equal(t, begin+"     3  get q\n        -> a\n     4  get q\n        -> empty\n", played("", 4))
	require.Equal(t, begin+"✗    3  get q\n        want -> b\n        got  -> a\n", played(" -> b", 3))
	s, err := Parse("x", fmt.Sprintf(text, " -> ok"))
	require.NoError(t, err)
	require.True(t, s.Expects())
	require.False(t, s.Unanswered().Expects())
}

// What Format writes reads back as the same value of the same type.
func TestValuesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		got, err := (&reader{s: Format(v)}).value()
		require.NoError(t, err, Format(v))
		require.Equal(t, v, got, Format(v))
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	plain := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int8().AsAny(), rapid.Uint8().AsAny(), rapid.Int16().AsAny(),
		rapid.Uint16().AsAny(), rapid.Int32().AsAny(), rapid.Uint32().AsAny(), rapid.Int64().AsAny(), rapid.String().AsAny(),
		rapid.Float32Range(-1e6, 1e6).AsAny(), rapid.Float64Range(-1e6, 1e6).AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			return leveret.Decimal{Scale: rapid.Uint8().Draw(t, "scale"), Value: rapid.Int32().Draw(t, "value")}
		}),
		rapid.Custom(func(t *rapid.T) any {
			return time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "seconds"), 0).UTC()
		}),
		rapid.Custom(func(t *rapid.T) any { return []byte(rapid.StringN(1, 20, -1).Draw(t, "bytes")) }),
	}
	if depth > 0 {
		plain = append(plain,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "array") }),
			rapid.Custom(func(t *rapid.T) any {
				return leveret.Fields(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) leveret.Field {
					return leveret.Field{Name: rapid.String().Draw(t, "name"), Value: anyValue(depth-1).Draw(t, "value")}
				}), 0, 3).Draw(t, "table"))
			}))
	}
	return rapid.OneOf(plain...)
}

// Recording one release leaves what is expected of the other.
func TestRecord(t *testing.T) {
	s, err := Parse("x", "rule: D-1\n\nget q -> a\n# end\n")
	require.NoError(t, err)
	s.Record(&Log{Script: s, Release: "3.10", Entries: []Entry{{s.Steps[0], []string{"b"}}}})
	require.Equal(t, "rule: D-1\n\nget q\n  [4.3]  -> a\n  [3.10] -> b\n# end\n", s.Text())
	s.Record(&Log{Script: s, Release: "4.3", Entries: []Entry{{s.Steps[0], []string{"b"}}}})
	require.Equal(t, "rule: D-1\n\nget q -> b\n# end\n", s.Text())
	require.Empty(t, (&Log{Script: s, Release: "4.3", Entries: []Entry{{s.Steps[0], []string{"b"}}}}).Diff())
	require.Equal(t, "x.txt:3 [4.3] get q\n  want -> b\n  got  -> c\n",
		(&Log{Script: s, Release: "4.3", Entries: []Entry{{s.Steps[0], []string{"c"}}}}).Diff())
}

func TestProperties(t *testing.T) {
	p, err := Properties(`expiration=1000 priority=5 headers={tenant=blue n=[1 2]} message-id="a b"`)
	require.NoError(t, err)
	require.Equal(t, "1000", p.Expiration)
	require.Equal(t, uint8(5), p.Priority)
	require.Equal(t, "a b", p.MessageID)
	require.Equal(t, fields("tenant", "blue", "n", []any{int32(1), int32(2)}), p.HeaderFields)
	p, err = Properties("  ")
	require.NoError(t, err)
	require.Nil(t, p)
	for text, want := range map[string]string{
		"expire=1":      "properties: what is expire=?",
		"persistent":    "properties: what is persistent?",
		"priority=high": "priority must be a number",
		"headers=1":     "headers must be a table",
		"timestamp=now": `timestamp: strconv.ParseUint: parsing "now": invalid syntax`,
		"headers={":     `= is missing at ""`,
	} {
		_, err := Properties(text)
		require.EqualError(t, err, want)
	}
}
