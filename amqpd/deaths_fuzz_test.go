package amqpd

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// historyEntry is an entry of x-death as brokers write it.
func historyEntry(queue, reason string, count uint64) string {
	return "F" + ls(ss("count")+"l"+u64(count)+ss("exchange")+"S"+ls("")+ss("queue")+"S"+ls(queue)+
		ss("reason")+"S"+ls(reason)+ss("routing-keys")+"A"+ls("S"+ls(queue))+ss("time")+"T"+u64(1_700_000_000)+
		ss("original-expiration")+"S"+ls("100"))
}

// FuzzDeaths publishes a message with any headers, among them made-up histories, and lets it die in every way: rejected,
// expired, over a limit, and over a delivery limit; on a way that leads in a circle. Whatever the history says, the broker
// stays in order, and what comes out can be sent to a client.
func FuzzDeaths(f *testing.F) {
	for _, headers := range []string{
		"", ss("x-death") + "A" + ls(""), ss("x-death") + "V", ss("x-death") + "S" + ls("no array"),
		ss("x-death") + "A" + ls(historyEntry("a", "rejected", 1)),
		ss("x-death") + "A" + ls(historyEntry("a", "expired", 1)+historyEntry("b", "maxlen", 2)+historyEntry("a", "expired", 3)),
		ss("x-death") + "A" + ls(historyEntry("quorum", "delivery_limit", 1<<63)+"V"+"F"+ls("")),
		ss("x-death") + "A" + ls("F"+ls(ss("queue")+"I"+u32(1)+ss("reason")+"F"+ls("")+ss("count")+"S"+ls("many")+
			ss("time")+"V")),
		ss("x-first-death-queue") + "S" + ls("b") + ss("x-first-death-reason") + "I" + u32(1) +
			ss("x-last-death-exchange") + "V" + ss("x-delivery-count") + "S" + ls("x"),
		ss("CC") + "A" + ls("S"+ls("a")+"S"+ls("b")) + ss("BCC") + "A" + ls("S"+ls("c")) +
			ss("x-death") + "A" + ls(historyEntry("c", "rejected", 7)),
		ss("x-death") + "A" + ls(historyEntry("a", "rejected", 1)) +
			ss("x-death") + "A" + ls(historyEntry("b", "rejected", 1)),
	} {
		for _, expiration := range []string{"", "0", "50"} {
			f.Add([]byte(headers), expiration)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, expiration string) {
		headers, ok := decodeFields(in)
		if !ok {
			return
		}
		for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			letDie(t, profile, &leveret.Properties{HeaderFields: headers, Expiration: expiration})
		}
	})
}

func letDie(t *testing.T, profile leveret.Profile, properties *leveret.Properties) {
	clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	b := leveret.New(leveret.WithProfile(profile), leveret.WithClock(clock), leveret.WithSeed(1))
	defer b.Close()
	deadTo := func(key string, more leveret.Table) leveret.QueueConfig {
		args := leveret.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": key}
		for k, v := range more {
			args[k] = v
		}
		return leveret.QueueConfig{Durable: true, Arguments: args}
	}
	for name, cfg := range map[string]leveret.QueueConfig{
		"a":      deadTo("b", nil),
		"b":      deadTo("c", leveret.Table{"x-message-ttl": 10}),
		"c":      deadTo("quorum", leveret.Table{"x-max-length": 0}),
		"quorum": deadTo("a", leveret.Table{"x-queue-type": "quorum", "x-delivery-limit": 1}),
	} {
		if _, err := b.DeclareQueue(name, cfg); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Publish("", "a", leveret.Message{Properties: properties}); err != nil {
		return // the headers CC and BCC, or the expiration
	}
	_, cc := properties.HeaderFields.Get("CC")
	_, bcc := properties.HeaderFields.Get("BCC")
	tellsDeaths := !cc && !bcc // it got into a only, alive
	for range 4 {
		for _, name := range []string{"a", "b", "quorum"} {
			take(t, b, name, tellsDeaths && name != "a")
		}
		clock.Advance(time.Second)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// take gets what is in a queue, sends it as a listener does, and rejects it; from the quorum queue it comes back first.
func take(t *testing.T, b *leveret.Broker, name string, died bool) {
	q, err := b.Queue(name)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d, ok, err := q.Get()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		encoded := appendFields(nil, d.WireHeaders())
		if _, ok := decodeFields(encoded[4:]); !ok {
			t.Fatalf("headers that no client can read: %q", encoded)
		}
		if deaths := d.Deaths(); died && !tellsADeath(deaths) {
			t.Fatalf("%s: the last death is not told: %+v", name, deaths)
		}
		requeue := name == "quorum"
		if err := d.Nack(requeue); err != nil {
			t.Fatal(err)
		}
	}
}

// tellsADeath reports whether a history begins with a death. Its count may be any number: 3.10 goes on counting from what a client
// made up.
func tellsADeath(history []leveret.Death) bool {
	return len(history) > 0 && history[0].Queue != "" && history[0].Reason != ""
}
