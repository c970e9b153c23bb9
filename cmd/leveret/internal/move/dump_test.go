package move

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every type of AMQP, and texts that are no UTF-8, come out of a dump as they went in.
func TestLetterJSON(t *testing.T) {
	sent := Letter{Queue: "q", Exchange: "x", RoutingKey: "k\xff", Redelivered: true, Message: amqp.Publishing{
		Headers: amqp.Table{
			"t": true, "b": int8(-1), "B": uint8(1), "s": int16(-2), "u": uint16(2), "I": int32(-3), "i": uint32(3), "l": int64(math.MaxInt64), "f": float32(0.1),
			"d": math.Inf(1), "S": "ü", "S2": "\xff", "x": []byte{0}, "V": nil, "D": amqp.Decimal{Scale: 1, Value: -2}, "T": time.Unix(17, 0),
			"F": amqp.Table{"a": []any{}}, "A": []any{int32(1), amqp.Table{}, nil},
		},
		ContentType: "a", ContentEncoding: "b", DeliveryMode: 1, Priority: 9, CorrelationId: "\xfe", ReplyTo: "c", Expiration: "1", MessageId: "d",
		Timestamp: time.Unix(18, 0), Type: "e", UserId: "f", AppId: "g", Body: []byte("\xff"),
	}}
	for _, body := range []string{"\xff", "text", ""} {
		sent.Message.Body = []byte(body)
		text, err := json.Marshal(sent)
		require.NoError(t, err)
		var got Letter
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, sent, got, string(text))
	}
	for _, wrong := range []string{`{"headers":{"a":["?",1]}}`, `{"headers":{"a":["b",1000]}}`, `{"headers":{"a":1}}`, `{"properties":{"priority":["S","x"]}}`, `{"properties":{"p":["S","x"]}}`} {
		assert.Error(t, json.Unmarshal([]byte(wrong), &Letter{}), wrong)
	}
}

// dump writes what the job says to a file.
func (p pair) dump(file string, j Job) *Report {
	p.t.Helper()
	d, err := CreateDump(file, "/")
	require.NoError(p.t, err)
	j.From, j.To, j.Patience = sideOf(p.t, p.from), d, 2*time.Second
	r := p.run(&j)
	require.NoError(p.t, d.Finish())
	require.NoError(p.t, d.Close())
	return r
}

// load loads a dump, or what there is of it.
func (p pair) load(text string, journal *Journal) (*Report, error) {
	p.t.Helper()
	j := p.job()
	j.Journal = journal
	defer j.To.Close()
	return j.Load(context.Background(), strings.NewReader(text))
}

func TestDumpAndLoad(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		p := newPair(t)
		declare(t, p.from, "work", leveret.Table{"x-queue-type": kind})
		sent := fill(t, p.from, "work", 300)
		file := filepath.Join(t.TempDir(), "dump")
		r := p.dump(file, Job{Copy: true})
		assert.Equal(t, 300, r.Moved)
		assert.Equal(t, sent, bodies(t, p.from, "work"), "the messages stay, in their order")
		text, err := os.ReadFile(file)
		require.NoError(t, err)

		_, err = p.load(string(text), nil)
		require.NoError(t, err)
		assert.Equal(t, sent, bodies(t, p.to, "work"), kind)
	}
}

// A load that breaks off anywhere goes on where it was. Each message comes, and what comes twice is counted.
func TestLoadGoesOn(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 20)
	file := filepath.Join(t.TempDir(), "dump")
	p.dump(file, Job{Copy: true})
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for nth := 1; nth <= len(sent); nth++ {
		p.to = leverettest.New(t)
		leverettest.Inject(t, p.to, leverettest.Fault{On: leverettest.OnConfirm, Nth: nth, Do: leverettest.Cut()})
		name := filepath.Join(t.TempDir(), "journal")
		journal, err := OpenJournal(name)
		require.NoError(t, err)
		_, err = p.load(string(text), journal)
		require.Error(t, err)
		journal, err = OpenJournal(name)
		require.NoError(t, err)
		r, err := p.load(string(text), journal)
		require.NoError(t, err)
		assert.Equal(t, len(sent), r.Moved)
		checkCounted(t, sent, bodies(t, p.to, "work"), r.Again)
	}
}

// A message that is refused in the middle is not passed over when the load goes on, though messages after it were taken.
func TestLoadGoesOnAfterRefusal(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 10)
	file := filepath.Join(t.TempDir(), "dump")
	p.dump(file, Job{Copy: true})
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	leverettest.Inject(t, p.to, leverettest.Fault{On: leverettest.OnPublish, Nth: 4, Do: leverettest.Nack()})
	journal := NewJournal()
	_, err = p.load(string(text), journal)
	require.ErrorAs(t, err, new(refusal))
	r, err := p.load(string(text), journal)
	require.NoError(t, err)
	checkCounted(t, sent, bodies(t, p.to, "work"), r.Again)
}

// A dump that takes messages is continued after it broke off, also in the middle of a line.
func TestDumpTakes(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 10)
	file := filepath.Join(t.TempDir(), "dump")
	d, err := CreateDump(file, "/")
	require.NoError(t, err)
	p.run(&Job{From: sideOf(t, p.from), To: d, Most: 4})
	require.NoError(t, d.Close())
	assert.Equal(t, sent[4:], bodies(t, p.from, "work"))
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"queue":"work","body":"` + strings.Repeat("longer than what follows", 1000))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = p.load(string(text), nil)
	require.ErrorContains(t, err, "the dump has no end: after 4 messages it breaks off")

	d, err = ContinueDump(file)
	require.NoError(t, err)
	p.run(&Job{From: sideOf(t, p.from), To: d})
	require.NoError(t, d.Finish())
	require.NoError(t, d.Close())
	assert.Empty(t, bodies(t, p.from, "work"))
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(text), "\n{\"end\":{\"messages\":10}}\n"), "nothing is left of the line that broke off")
	p.to = leverettest.New(t)
	_, err = p.load(string(text), nil)
	require.NoError(t, err)
	assert.Equal(t, sent, bodies(t, p.to, "work"))
	_, err = ContinueDump(file)
	assert.ErrorContains(t, err, "the dump is whole")
}

func TestLoadRefusesOtherFiles(t *testing.T) {
	p := newPair(t)
	for says, text := range map[string]string{
		"this is no dump":                                 "{}\n",
		"of version 2, not 1":                             `{"leveret_dump":2}` + "\n",
		"after message 0 of the dump":                     `{"leveret_dump":1}` + "\nnonsense\n",
		"message 1 of the dump":                           `{"leveret_dump":1}` + "\n" + `{"queue":1}` + "\n",
		"has 0 messages, and its end says 1":              `{"leveret_dump":1}` + "\n" + `{"end":{"messages":1}}` + "\n",
		"not taken over: POST /api/definitions/%2F: 400 ": `{"leveret_dump":1}` + "\n" + `{"definitions":{"exchanges":[{"name":"x","type":"x-random"}]}}` + "\n",
	} {
		_, err := p.load(text, nil)
		assert.ErrorContains(t, err, says)
	}
}
