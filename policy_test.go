package leveret

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestPolicyValues gives definitions what Go programs and JSON have, and demands the types that a definition knows.
func TestPolicyValues(t *testing.T) {
	large, _ := new(big.Int).SetString("18446744073709551615", 10)
	for _, c := range []struct{ value, want any }{
		{nil, nil}, {true, true}, {"a", "a"}, {[]byte("a"), "a"}, {Topic, "topic"},
		{int8(-5), int64(-5)}, {uint16(5), int64(5)}, {5, int64(5)}, {uint(5), int64(5)}, {5 * time.Second, int64(5000)},
		{uint64(math.MaxUint64), large}, {large, large}, {json.Number("18446744073709551615"), large}, {json.Number("5"), int64(5)},
		{float32(0.5), 0.5}, {5.0, 5.0}, {json.Number("5.0"), 5.0},
		{[]string{"a"}, []any{"a"}}, {[]any{uint8(5)}, []any{uint8(5)}},
		{map[string]any{"a": uint8(5)}, Table{"a": uint8(5)}}, {Fields{{"a", "b"}}, Table{"a": "b"}},
	} {
		assert.Equal(t, c.want, policyValue(c.value), "%T %v", c.value, c.value)
	}
}

func TestPolicyValidation(t *testing.T) {
	const both = "4.3 3.10"
	indent := "\n" + strings.Repeat(" ", 54)
	regex := "pattern should be regular expression but is invalid: "
	for _, c := range []struct {
		in    string
		p     Policy
		level policyLevel
		want  string // without the frame; empty: accepted
	}{
		{both, Policy{}, userPolicies, "no policy provided"},
		{both, Policy{Definition: Table{"foo": "x", "bar": 5, "max-length": 3}}, userPolicies,
			`[{<<"bar">>,5},{<<"foo">>,<<"x">>}] are not recognised policy settings`},
		{both, Policy{Definition: Table{"foo": "x", "max-length": -3}}, userPolicies, `-3 is not a valid maximum length`},
		{both, Policy{Definition: Table{"max-length": "a", "max-length-bytes": "b", "expires": "c"}}, userPolicies,
			`<<"c">> is not a valid queue expiry`},
		{both, Policy{Definition: Table{strings.Repeat("a", 30): strings.Repeat("x", 20),
			strings.Repeat("b", 30): strings.Repeat("y", 20), "c": 1}}, userPolicies,
			`[{<<"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">>,<<"xxxxxxxxxxxxxxxxxxxx">>},` + "\n " +
				`{<<"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb">>,<<"yyyyyyyyyyyyyyyyyyyy">>},` + "\n " +
				`{<<"c">>,1}] are not recognised policy settings`},
		{both, Policy{Definition: Table{"max-length": 1.5}}, userPolicies, "1.5 is not a valid maximum length"},
		{both, Policy{Definition: Table{"max-length": json.Number("1.0")}}, userPolicies, "1.0 is not a valid maximum length"},
		{both, Policy{Definition: Table{"max-length": json.Number("1e3")}}, userPolicies, "1.0e3 is not a valid maximum length"},
		{both, Policy{Definition: Table{"max-length": nil}}, userPolicies, "null is not a valid maximum length"},
		{both, Policy{Definition: Table{"max-length": Table{"a": 1}}}, userPolicies,
			`#{<<"a">> => 1} is not a valid maximum length`},
		{both, Policy{Definition: Table{"max-length": Fields{{"a", 1}}}}, userPolicies,
			`#{<<"a">> => 1} is not a valid maximum length`},
		{both, Policy{Definition: Table{"max-length": []any{"a", 1.5, nil}}}, userPolicies,
			`[<<"a">>,1.5,null] is not a valid maximum length`},
		{both, Policy{Definition: Table{"message-ttl": json.Number("1000000000000000000000000000000")}}, userPolicies, ""},
		{both, Policy{Definition: Table{"message-ttl": 5 * time.Second, "expires": uint64(5)}}, userPolicies, ""},
		{both, Policy{Definition: Table{"max-length": 7.0}}, userPolicies, "7.0 is not a valid maximum length"},
		{both, Policy{Definition: Table{"max-length": float32(1e3)}}, userPolicies, "1.0e3 is not a valid maximum length"},
		{both, Policy{Definition: Table{"expires": 0}}, userPolicies, "0 is not a valid queue expiry"},
		{both, Policy{Definition: Table{"max-length-bytes": -1}}, userPolicies, "-1 is not a valid maximum length in bytes"},
		{both, Policy{Definition: Table{"max-in-memory-length": -1}}, userPolicies, "-1 is not a valid maximum memory in bytes"},
		{both, Policy{Definition: Table{"max-in-memory-bytes": -1}}, userPolicies, "-1 is not a valid maximum memory in bytes"},
		{both, Policy{Definition: Table{"overflow": "x"}}, userPolicies, `<<"x">> is not a valid overflow value`},
		{both, Policy{Definition: Table{"dead-letter-exchange": true}}, userPolicies,
			"true is not a valid dead letter exchange name"},
		{both, Policy{Definition: Table{"dead-letter-routing-key": 5}}, userPolicies, "5 is not a valid dead letter routing key"},
		{both, Policy{Definition: Table{"dead-letter-strategy": "x"}}, userPolicies, `<<"x">> is not a valid dead letter strategy`},
		{both, Policy{Definition: Table{"alternate-exchange": 5}}, userPolicies, "5 is not a valid alternate exchange name"},
		{both, Policy{Definition: Table{"queue-mode": "x"}}, userPolicies, `<<"x">> is not a valid queue-mode value`},
		{both, Policy{Definition: Table{"queue-version": 3}}, userPolicies, "3 is not a valid queue-version value"},
		{both, Policy{Definition: Table{"queue-leader-locator": "min-masters"}}, userPolicies,
			`<<"min-masters">> is not a valid queue leader locator value`},
		{both, Policy{Definition: Table{"max-age": "1X"}}, userPolicies, `<<"1X">> is not a valid max age`},
		{both, Policy{Definition: Table{"initial-cluster-size": -1}}, userPolicies, "-1 is not a valid cluster size"},
		{both, Policy{Definition: Table{"stream-max-segment-size-bytes": 3_000_000_001}}, userPolicies,
			"3000000001 is not a valid segment size"},
		{"4.3", Policy{Definition: Table{"stream-filter-size-bytes": 5}}, userPolicies,
			"5 is not a valid filter size. Valid range is 16-255"},
		{"3.10", Policy{Definition: Table{"stream-filter-size-bytes": 20}}, userPolicies,
			`[{<<"stream-filter-size-bytes">>,20}] are not recognised policy settings`},
		{"4.3", Policy{Definition: Table{"consumer-timeout": -1}}, userPolicies, "-1 is not a valid consumer timeout"},
		{"3.10", Policy{Definition: Table{"consumer-timeout": -1}}, userPolicies,
			`[{<<"consumer-timeout">>,-1}] are not recognised policy settings`},
		{"4.3", Policy{Definition: Table{"consumer-disconnected-timeout": -1}}, userPolicies,
			"-1 is not a valid consumer disconnected timeout"},
		{"4.3", Policy{Definition: Table{"delivery-limit": -1}}, userPolicies, ""},
		{"3.10", Policy{Definition: Table{"delivery-limit": -1}}, userPolicies, "-1 is not a valid delivery limit"},
		{both, Policy{Definition: Table{"max-priority": 5}}, userPolicies,
			`[{<<"max-priority">>,5}] are not recognised policy settings`},
		{"4.3", Policy{Definition: Table{"queue-master-locator": "random", "max-length": -1}}, userPolicies,
			"use of deprecated queue-master-locator argument is not permitted"},
		{"3.10", Policy{Definition: Table{"queue-master-locator": "x", "max-length": -1}}, userPolicies,
			`<<"x">> invalid queue-master-locator value`},
		{"3.10", Policy{Definition: Table{"queue-master-locator": "random"}}, userPolicies, ""},

		{"4.3", Policy{Definition: Table{"target-group-size": 0}}, userPolicies, "0 is not a valid qq target count value"},
		{"4.3", Policy{Definition: Table{"delayed-retry-type": "x"}}, userPolicies,
			`<<"x">> is not a valid delayed retry type. Must be one of: all, failed, returned, disabled`},
		{"4.3", Policy{Definition: Table{"delayed-retry-min": "a", "delayed-retry-max": 0}}, userPolicies,
			"0 is not a valid delayed retry maximum delay. Must be a positive integer"},
		{"4.3", Policy{Definition: Table{"delayed-retry-min": -1, "max-length": -1}}, userPolicies,
			"-1 is not a valid maximum length"},
		{"4.3", Policy{Definition: Table{"delayed-retry-min": -1}}, userPolicies,
			"-1 is not a valid delayed retry minimum delay. Must be a positive integer"},
		{"4.3", Policy{Definition: Table{"delayed-retry-type": "all"}}, userPolicies,
			"delayed-retry-min is required when delayed-retry-type is all"},
		{"4.3", Policy{Definition: Table{"delayed-retry-type": "disabled"}}, userPolicies, ""},
		{"4.3", Policy{Definition: Table{"delayed-retry-min": 5, "delayed-retry-max": 4}}, userPolicies,
			"delayed-retry-max (4) must not be smaller than delayed-retry-min (5)"},

		{"4.3", Policy{Definition: Table{"ha-mode": "all", "ha-sync-mode": "x"}}, userPolicies,
			`[{<<"ha-mode">>,<<"all">>},{<<"ha-sync-mode">>,<<"x">>}] are not recognised policy settings`},
		{"3.10", Policy{Definition: Table{"ha-mode": "all"}}, userPolicies, ""},
		{"3.10", Policy{Definition: Table{"ha-mode": "x"}}, userPolicies, `<<"x">> is not a valid ha-mode value`},
		{"3.10", Policy{Definition: Table{"ha-params": 2}}, userPolicies,
			"ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		{"3.10", Policy{Definition: Table{"ha-mode": "exactly"}}, userPolicies, `ha-mode="exactly" takes an integer, none given`},
		{"3.10", Policy{Definition: Table{"ha-mode": "nodes", "ha-params": 2}}, userPolicies,
			`ha-mode="nodes" takes a list, 2 given`},
		{"3.10", Policy{Definition: Table{"ha-mode": "nodes", "ha-params": []string{"a@b"}}}, userPolicies, ""},
		{"3.10", Policy{Definition: Table{"ha-mode": "all", "ha-promote-on-failure": "x"}}, userPolicies,
			`ha-promote-on-failure must be "always" or "when-synced", got <<"x">>`},
		{"3.10", Policy{Definition: Table{"ha-mode": "all", "ha-sync-mode": "x", "max-length": -1}}, userPolicies,
			"-1 is not a valid maximum length"},

		{"4.3", Policy{Definition: Table{"overflow": "drop-head", "queue-version": 2, "target-group-size": 1,
			"delayed-retry-min": 4, "delivery-limit": -1}}, operatorPolicies, ""},
		{"3.10", Policy{Definition: Table{"overflow": "drop-head"}}, operatorPolicies,
			`[{<<"overflow">>,<<"drop-head">>}] are not recognised policy settings`},
		{both, Policy{Definition: Table{"dead-letter-exchange": "x"}}, operatorPolicies,
			`[{<<"dead-letter-exchange">>,<<"x">>}] are not recognised policy settings`},
		{"4.3", Policy{Definition: Table{"consumer-timeout": 4}}, operatorPolicies,
			`[{<<"consumer-timeout">>,4}] are not recognised policy settings`},
		{both, Policy{Definition: Table{"max-in-memory-bytes": 4, "max-in-memory-length": 4, "expires": 4, "message-ttl": 4,
			"max-length": 4, "max-length-bytes": 4}}, operatorPolicies, ""},
		{"4.3", Policy{Definition: Table{"queue-master-locator": "x"}}, operatorPolicies,
			"use of deprecated queue-master-locator argument is not permitted"},
		{"3.10", Policy{Definition: Table{"queue-master-locator": "x"}}, operatorPolicies,
			`[{<<"queue-master-locator">>,<<"x">>}] are not recognised policy settings`},

		{"4.3", Policy{Definition: Table{"max-length": 1}, ApplyTo: "foo"}, userPolicies,
			"apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'"},
		{"3.10", Policy{Definition: Table{"max-length": 1}, ApplyTo: "quorum_queues"}, userPolicies,
			"apply-to 'quorum_queues' unrecognised; should be 'queues', 'exchanges' or 'all'"},
		{"4.3", Policy{Definition: Table{"max-length": 1}, ApplyTo: "quorum_queues"}, userPolicies, ""},
		{"4.3", Policy{Definition: Table{"max-length": 1}, ApplyTo: "exchanges"}, operatorPolicies, ""},

		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: "("}, userPolicies, regex + `{"missing closing parenthesis",` +
			indent + "1}"},
		{"3.10", Policy{Definition: Table{"max-length": 1}, Pattern: "("}, userPolicies, regex + `{"missing )",1}`},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: "["}, userPolicies, regex +
			`{"missing terminating ] for character class",` + indent + "1}"},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: `\`}, userPolicies, regex + `{"\\ at end of pattern",` +
			indent + "1}"},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: "*"}, userPolicies, regex +
			`{"quantifier does not follow a repeatable item",` + indent + "1}"},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: "a)"}, userPolicies, regex +
			`{"unmatched closing parenthesis",` + indent + "2}"},
		{"3.10", Policy{Definition: Table{"max-length": 1}, Pattern: "a)"}, userPolicies, regex + `{"unmatched parentheses",` +
			indent + "1}"},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: "a**"}, userPolicies, regex +
			`{"quantifier does not follow a repeatable item",` + indent + "3}"},
		{"3.10", Policy{Definition: Table{"max-length": 1}, Pattern: "*"}, userPolicies, regex + `{"nothing to repeat",0}`},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: strings.Repeat("é", 512)}, userPolicies, ""},
		{"4.3", Policy{Definition: Table{"max-length": 1}, Pattern: strings.Repeat("x", 1025)}, userPolicies,
			"pattern must not exceed 1024 bytes"},
		{"3.10", Policy{Definition: Table{"max-length": 1}, Pattern: strings.Repeat("x", 1025)}, userPolicies, ""},
		{"4.3", Policy{Definition: Table{"max-length": -1}, Pattern: "(", ApplyTo: "foo"}, userPolicies,
			"-1 is not a valid maximum length\n" +
				"apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'\n" +
				regex + `{"missing closing parenthesis",` + indent + "1}"},
	} {
		for name, r := range releases {
			if !strings.Contains(c.in, name) {
				continue
			}
			_, err := compilePolicy(c.p, c.level, r)
			if c.want == "" {
				assert.NoError(t, err, "%s: %v", name, c.p)
				continue
			}
			var e *Error
			require.True(t, errors.As(err, &e), "%s: %v", name, c.p)
			assert.Equal(t, PreconditionFailed, e.Code)
			assert.Equal(t, "Validation failed\n\n"+c.want+"\n", e.Reason, "%s: %v", name, c.p)
		}
	}
}

func TestPolicyMatching(t *testing.T) {
	r := RabbitMQ43.rules()
	for _, c := range []struct {
		applyTo                           ApplyTo
		definition                        Table
		classic, quorum, stream, exchange bool
	}{
		{"", Table{"max-length": 1}, true, true, false, true},
		{ApplyToQueues, Table{"queue-version": 2}, true, true, true, false},
		{ApplyToExchanges, Table{"alternate-exchange": "a"}, false, false, false, true},
		{ApplyToClassicQueues, Table{"max-length": 1}, true, false, false, false},
		{ApplyToQuorumQueues, Table{"max-length": 1}, false, true, false, false},
		{ApplyToStreams, Table{"max-length-bytes": 1}, false, false, true, false},
		{ApplyToQueues, Table{"max-length": 1, "delivery-limit": 5}, false, true, false, false},
		{ApplyToQueues, Table{"max-length": 1, "queue-mode": "lazy"}, true, false, false, false},
		{ApplyToQueues, Table{"max-in-memory-length": 1}, false, true, false, false},
		{ApplyToQueues, Table{"consumer-timeout": 1, "delayed-retry-min": 1, "queue-leader-locator": "balanced"}, true, true,
			true, false},
	} {
		p, err := compilePolicy(Policy{Name: "p", Pattern: "q$", ApplyTo: c.applyTo, Definition: c.definition}, userPolicies, r)
		require.NoError(t, err)
		assert.Equal(t, []bool{c.classic, c.quorum, c.stream, c.exchange},
			[]bool{isFor(p, "q", classicQueue), isFor(p, "q", quorumQueue), isFor(p, "q", streamQueue), isForExchange(p, "q")},
			"%s %v", c.applyTo, c.definition)
		assert.False(t, isFor(p, "r", classicQueue))
	}
	old, err := compilePolicy(Policy{Name: "p", Definition: Table{"queue-leader-locator": "balanced"}}, userPolicies,
		RabbitMQ310.rules())
	require.NoError(t, err)
	assert.False(t, isFor(old, "q", classicQueue))
	assert.True(t, isForExchange(testPolicy(t, "", 0, Table{"max-length": 1}), ""), "the default exchange, too")
}

func TestBestPolicy(t *testing.T) {
	a, b := testPolicy(t, "a", 5, Table{"delivery-limit": 3, "max-length": 7}), testPolicy(t, "b", 1,
		Table{"max-length": 2})
	var ps policies
	for _, p := range []*policy{testPolicy(t, "z", 5, Table{"max-length": 2, "delivery-limit": 1}), b, a, testPolicy(t, "c", 0.5, Table{"max-length": 2})} {
		ps.set(p)
	}
	best := func(kind queueKind) *policy {
		best, err := bestPolicy(ps, func(p *policy) (bool, *Error) { return p.matchesQueue("q", kind, someVHost) })
		require.Nil(t, err)
		return best
	}
	assert.Same(t, b, best(classicQueue))
	assert.Same(t, a, best(quorumQueue))
	none, err := bestPolicy(ps, func(*policy) (bool, *Error) { return false, nil })
	assert.Nil(t, none)
	assert.Nil(t, err)

	ps.set(testPolicy(t, "a", -1, Table{"max-length": 1})) // replaces a
	assert.Len(t, ps, 4)
	assert.Equal(t, "z", best(quorumQueue).Name)
	assert.NotNil(t, ps.clear("z"))
	assert.Nil(t, ps.clear("z"))
	assert.Same(t, b, best(quorumQueue))
}

func TestMergedDefinition(t *testing.T) {
	p := testPolicy(t, "p", 0, Table{"max-length": 7, "message-ttl": 5000, "overflow": "drop-head",
		"dead-letter-exchange": "x", "delivery-limit": 7,
		"delayed-retry-min": 10, "delayed-retry-max": 40, "delayed-retry-type": "all", "queue-version": 2})
	o := testPolicy(t, "o", 0, Table{"max-length": 9, "message-ttl": 4000, "overflow": "reject-publish",
		"expires": 1000000, "delivery-limit": -1,
		"delayed-retry-min": 20, "delayed-retry-max": 30, "delayed-retry-type": "failed", "queue-version": 1})
	assert.Equal(t, Table{"dead-letter-exchange": "x", "expires": int64(1000000), "max-length": int64(7), "message-ttl": int64(4000),
		"overflow": "reject-publish", "delivery-limit": int64(7), "delayed-retry-min": int64(20), "delayed-retry-max": int64(30),
		"delayed-retry-type": "failed", "queue-version": int64(1)}, mergedDefinition(p, o))
	assert.Equal(t, Table{"max-length": int64(3)}, mergedDefinition(nil, testPolicy(t, "o", 0, Table{"max-length": 3})))
	assert.Equal(t, Table{}, mergedDefinition(nil, nil))
	assert.Equal(t, int64(3), mergedDefinition(testPolicy(t, "p", 0, Table{"delivery-limit": 7}),
		testPolicy(t, "o", 0, Table{"delivery-limit": 3}))["delivery-limit"])
}

func TestSettings(t *testing.T) {
	r := RabbitMQ43.rules()
	parse := func(kind string, args Table) *queueArgs {
		args[ArgQueueType] = kind
		a, err := parseQueueArgs(testArgs(t, args), r, "", testSubject)
		require.Nil(t, err)
		return &a
	}
	def := func(d Table) *policy { return testPolicy(t, "p", 0, d) }

	s := parse("classic", Table{}).settings(r, nil, nil)
	assert.Equal(t, settings{ttl: -1, expires: -1, maxLength: -1, maxBytes: -1, deliveryLimit: -1, consumerTimeout: -1,
		retryMin: -1, retryMax: -1}, s)

	s = parse("classic", Table{ArgMaxLength: 5, ArgMessageTTL: 9, ArgDeadLetterExchange: "a",
		ArgOverflow: "reject-publish-dlx"}).
		settings(r, def(Table{"max-length": 7, "message-ttl": 3, "dead-letter-exchange": "b", "dead-letter-routing-key": "k",
			"overflow": "drop-head", "expires": 100}), nil)
	assert.Equal(t, []int64{5, 3, 100, -1}, []int64{s.maxLength, s.ttl, s.expires, s.maxBytes})
	assert.Equal(t, "a", s.dlx)
	assert.Equal(t, "k", s.dlrk)
	assert.True(t, s.hasDLX && s.hasDLRK)
	assert.Equal(t, rejectPublishDLX, s.overflow, "on a classic queue the argument wins")

	s = parse("quorum", Table{ArgOverflow: "reject-publish"}).settings(r, def(Table{"overflow": "drop-head"}), nil)
	assert.Equal(t, dropHead, s.overflow, "on a quorum queue the policy wins")
	s = parse("quorum", Table{ArgOverflow: "drop-head"}).settings(r, nil, def(Table{"overflow": "reject-publish"}))
	assert.Equal(t, rejectPublish, s.overflow)
	s = parse("quorum", Table{ArgOverflow: "reject-publish-dlx"}).settings(r, nil, nil)
	assert.Equal(t, dropHead, s.overflow)

	for _, c := range []struct {
		args, policy Table
		want         int64
	}{
		{Table{}, nil, 20},
		{Table{ArgDeliveryLimit: 2}, Table{"delivery-limit": -1}, 2},
		{Table{ArgDeliveryLimit: -1}, Table{"delivery-limit": 4}, 4},
		{Table{ArgDeliveryLimit: 10}, Table{"delivery-limit": 1}, 1},
		{Table{ArgDeliveryLimit: -7}, nil, -1},
		{Table{ArgDeliveryLimit: "x"}, nil, 20},
		{Table{ArgDeliveryLimit: "x"}, Table{"delivery-limit": 4}, 4},
		{Table{}, Table{"delivery-limit": 0}, 0},
	} {
		var p *policy
		if c.policy != nil {
			p = def(c.policy)
		}
		assert.Equal(t, c.want, parse("quorum", c.args).settings(r, p, nil).deliveryLimit, "%v", c)
	}
	old := RabbitMQ310.rules()
	assert.Equal(t, int64(-1), parse("quorum", Table{}).settings(old, nil, nil).deliveryLimit)
	assert.Equal(t, int64(0), parse("quorum", Table{ArgDeliveryLimit: -1}).settings(old, nil, nil).deliveryLimit)

	alo := Table{ArgDeadLetterExchange: "d", ArgDeadLetterStrategy: "at-least-once", ArgOverflow: "reject-publish"}
	assert.True(t, parse("quorum", alo).settings(r, nil, nil).atLeastOnce)
	assert.False(t, parse("quorum", alo).settings(r, def(Table{"overflow": "drop-head"}), nil).atLeastOnce)
	assert.False(t, parse("quorum", Table{ArgDeadLetterStrategy: "at-least-once",
		ArgOverflow: "reject-publish"}).settings(r, nil, nil).atLeastOnce)
	assert.True(t, parse("quorum", Table{}).settings(r,
		def(Table{"dead-letter-exchange": "d", "dead-letter-strategy": "at-least-once", "overflow": "reject-publish"}),
		nil).atLeastOnce)

	s = parse("quorum", Table{ArgDelayedRetryType: "all", ArgDelayedRetryMin: 300}).settings(r, nil, nil)
	assert.Equal(t, []any{retryAll, int64(300), int64(300)}, []any{s.retry, s.retryMin, s.retryMax})
	s = parse("quorum", Table{ArgDelayedRetryType: "all", ArgDelayedRetryMin: 300, ArgDelayedRetryMax: 900}).
		settings(r, def(Table{"delayed-retry-type": "failed", "delayed-retry-min": 400, "delayed-retry-max": 700}), nil)
	assert.Equal(t, []any{retryFailed, int64(300), int64(700)}, []any{s.retry, s.retryMin, s.retryMax})
	s = parse("quorum", Table{ArgDelayedRetryType: "all", ArgDelayedRetryMin: 300}).settings(r,
		def(Table{"delayed-retry-type": "disabled"}), nil)
	assert.Equal(t, retryDisabled, s.retry)
	assert.Equal(t, retryDisabled, parse("quorum", Table{ArgDelayedRetryType: "all"}).settings(r, nil, nil).retry,
		"needs a minimum")
	assert.Equal(t, int64(4), parse("quorum", Table{ArgConsumerTimeout: 5}).settings(r, def(Table{"consumer-timeout": 4}), nil).consumerTimeout)
}

func TestEffective(t *testing.T) {
	r := RabbitMQ43.rules()
	a, perr := parseQueueArgs(testArgs(t, Table{ArgMaxLength: 5, ArgDeadLetterExchange: "a"}), r, "", testSubject)
	require.Nil(t, perr)
	p := testPolicy(t, "limits", 0, Table{"max-length": 7, "message-ttl": 5000, "dead-letter-exchange": "b",
		"overflow": "reject-publish"})
	o := testPolicy(t, "guard", 0, Table{"max-length": 9, "message-ttl": 4000, "expires": 1000})
	e := a.effective(r, p, o)
	assert.Equal(t, "limits", e.Policy)
	assert.Equal(t, "guard", e.OperatorPolicy)
	assert.Equal(t, []Setting{
		{"dead-letter-exchange", "a", SourceArgument},
		{"dead-letter-routing-key", nil, SourceDefault},
		{"expires", int64(1000), SourceOperatorPolicy},
		{"max-length", int64(5), SourceArgument},
		{"max-length-bytes", nil, SourceDefault},
		{"message-ttl", int64(4000), SourceOperatorPolicy},
		{"overflow", "reject-publish", SourcePolicy},
	}, e.Settings)
	s, ok := e.Get("overflow")
	assert.True(t, ok)
	assert.Equal(t, SourcePolicy, s.Source)
	_, ok = e.Get("delivery-limit")
	assert.False(t, ok, "no setting of a classic queue")
}

func TestAlternateExchangeInForce(t *testing.T) {
	p := testPolicy(t, "p", 0, Table{"alternate-exchange": "b"})
	name, ok := alternateExchange("a", true, p)
	assert.Equal(t, "a", name)
	assert.True(t, ok)
	name, _ = alternateExchange("", false, p)
	assert.Equal(t, "b", name)
	_, ok = alternateExchange("", false, nil)
	assert.False(t, ok)
}

// Whatever is set as a policy is refused with a text or compiles to something that matches names.
func FuzzPolicy(f *testing.F) {
	f.Add("^a", "max-length", "5", "all", "queue")
	f.Add("(a+)+$", "overflow", `"drop-head"`, "queues", "aaaaaaaaaaaaaaaaaaaaaaaa!")
	f.Add(`^(?!amq\.)\Q(\E[[:alpha:]]++`, "ha-params", `[1,{"a":null}]`, "exchanges", "é")
	f.Fuzz(func(t *testing.T, pattern, key, value, applyTo, name string) {
		var v any
		d := json.NewDecoder(strings.NewReader(value))
		d.UseNumber()
		if d.Decode(&v) != nil {
			v = value
		}
		for _, r := range releases {
			for _, which := range []policyLevel{userPolicies, operatorPolicies} {
				p, err := compilePolicy(Policy{Name: "p", Pattern: pattern, ApplyTo: ApplyTo(applyTo), Definition: Table{key: v}},
					which, r)
				if err != nil {
					if !strings.HasPrefix(err.(*Error).Reason, "Validation failed\n\n") {
						t.Fatal(err)
					}
					continue
				}
				for k := range kinds {
					p.matchesQueue(name, queueKind(k), someVHost)
					a := queueArgs{kind: queueKind(k)}
					s := a.settings(r, p, nil)
					if s.maxLength < -1 || s.ttl < -1 {
						t.Fatal(s)
					}
				}
			}
		}
	})
}

// TestPolicyChanges compares what applies after each change with what would apply if all policies were tried.
func TestPolicyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New()
		defer b.Close()
		some := func(t *rapid.T, of string, label string) string {
			return string(rapid.SampledFrom([]rune(of)).Draw(t, label))
		}
		t.Repeat(map[string]func(*rapid.T){
			"declare": func(t *rapid.T) {
				_, err := b.DeclareQueue("q"+some(t, "abcdef", "queue"), QueueConfig{})
				require.NoError(t, err)
				_, err = b.DeclareExchange("x"+some(t, "abcdef", "exchange"), Direct, ExchangeConfig{})
				require.NoError(t, err)
			},
			"set": func(t *rapid.T) {
				p := Policy{Name: some(t, "1234", "name"), Pattern: "[" + some(t, "qxabcdef", "pattern") + some(t, "abcdef", "or") + "]",
					Priority: float64(rapid.IntRange(0, 2).Draw(t, "priority")), Definition: Table{"max-length": 5}}
				set := b.SetPolicy
				if rapid.Bool().Draw(t, "operator") {
					set = b.SetOperatorPolicy
				}
				require.NoError(t, set(p))
			},
			"clear": func(t *rapid.T) {
				name := some(t, "1234", "name")
				_ = b.ClearPolicy(name)
				if rapid.Bool().Draw(t, "operator too") {
					_ = b.ClearOperatorPolicy(name)
				}
			},
			"": func(t *rapid.T) {
				best := func(ps policies, matches policyMatch) *policy {
					p, err := bestPolicy(ps, matches)
					require.Nil(t, err)
					return p
				}
				for _, q := range b.queues {
					require.Same(t, best(b.policies[userPolicies], q.matchedBy), q.policy)
					require.Same(t, best(b.policies[operatorPolicies], q.matchedBy), q.operator)
				}
				for _, x := range b.exchanges {
					require.Same(t, best(b.policies[userPolicies], x.matchedBy), x.policy)
				}
			},
		})
	})
}

func isFor(p *policy, name string, kind queueKind) bool {
	found, err := p.matchesQueue(name, kind, someVHost)
	return found && err == nil
}

func isForExchange(p *policy, name string) bool {
	found, err := p.matchesExchange(name, someVHost)
	return found && err == nil
}

// someVHost is one whose operations have patterns tried.
var someVHost = newVHost(New(), "some")
