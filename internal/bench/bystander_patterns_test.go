package bench_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
)

// hardPattern takes as long as a pattern may for longName, in which it is not found.
const hardPattern = `^(?:ok|((a+)+)\2!)$`

var longName = strings.Repeat("a", 200)

// policyHard sets a policy with a hard pattern over 300 queues with long names.
func policyHard(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	for i := range 300 {
		declare(b, br, longName+strconv.Itoa(i), nil)
	}
	return br, func() {
		must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: hardPattern, Definition: leveret.Table{"max-length": 10}}))
	}
}

// declareUnderHardPolicies declares queues under a hundred policies and a hundred operator policies with hard patterns.
func declareUnderHardPolicies(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	for i := range 100 {
		p := leveret.Policy{Name: strconv.Itoa(i), Pattern: hardPattern, Definition: leveret.Table{"max-length": 10}}
		must(b, br.SetPolicy(p))
		must(b, br.SetOperatorPolicy(p))
	}
	return br, func() {
		declare(b, br, longName, nil)
		_, err := br.DeclareExchange(longName, leveret.Fanout, leveret.ExchangeConfig{})
		must(b, err)
	}
}

// hardClients is eight users with hard permissions, each of whom asks fifty times for what takes too long to match.
func hardClients(setUp func(*testing.B, *leveret.Broker, string), ask func(ch *leveret.Channel, name string) error) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br := newBroker(b)
		var conns []*leveret.Conn
		for i := range 8 {
			user := "user-" + strconv.Itoa(i)
			must(b, br.AddUser(user, "x"))
			setUp(b, br, user)
			conn, err := br.Connect(user, "x", "/")
			must(b, err)
			conns = append(conns, conn)
		}
		return br, func() {
			var all sync.WaitGroup
			for _, conn := range conns {
				all.Go(func() {
					for i := range 50 {
						if err := refusal(conn, ask, longName+strconv.Itoa(i)); !errors.Is(err, leveret.ErrAccessRefused) {
							b.Errorf("the user was not refused: %v", err)
						}
					}
				})
			}
			all.Wait()
		}
	}
}

func refusal(conn *leveret.Conn, ask func(*leveret.Channel, string) error, name string) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	return ask(ch, name)
}

func hardPermissions(b *testing.B, br *leveret.Broker, user string) {
	must(b, br.SetPermissions(user, leveret.Permissions{Configure: hardPattern, Write: hardPattern, Read: hardPattern}))
}

func hardTopicPermissions(b *testing.B, br *leveret.Broker, user string) {
	must(b, br.SetPermissions(user, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	must(b, br.SetTopicPermissions(user, "amq.topic", leveret.TopicPermissions{Write: hardPattern, Read: hardPattern}))
}

func declareIt(ch *leveret.Channel, name string) error {
	_, err := ch.DeclareQueue(name, leveret.QueueConfig{})
	return err
}

func publishToTopic(ch *leveret.Channel, key string) error {
	_, err := ch.Publish("amq.topic", key, leveret.Message{Body: body100})
	return err
}
