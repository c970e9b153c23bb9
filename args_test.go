package leveret

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQueueArgumentValidation(t *testing.T) {
	const both = "4.3 3.10"
	quorum := func(key string, v any) Table { return Table{ArgQueueType: "quorum", key: v} }
	stream := func(key string, v any) Table { return Table{ArgQueueType: "stream", key: v} }
	for _, c := range []struct {
		in   string
		args Table
		want string // what follows "invalid arg '"; empty: accepted
	}{
		{both, Table{}, ""},
		{both, Table{ArgExpires: "s"}, `x-expires' for {q}: "expected integer, got longstr"`},
		{both, Table{ArgExpires: int64(-1)}, `x-expires' for {q}: {value_negative,-1}`},
		{both, Table{ArgExpires: int64(0)}, `x-expires' for {q}: {value_zero,0}`},
		{both, Table{ArgExpires: int64(maxExpiry)}, ""},
		{both, Table{ArgExpires: int64(9223372036854775807)}, `x-expires' for {q}: {value_too_large,9223372036854775807}`},
		{both, Table{ArgMessageTTL: int64(0)}, ""},
		{both, Table{ArgMessageTTL: int8(-5)}, `x-message-ttl' for {q}: {value_negative,-5}`},
		{both, Table{ArgMessageTTL: 5.0}, `x-message-ttl' for {q}: "expected integer, got double"`},
		{both, Table{ArgMessageTTL: nil}, `x-message-ttl' for {q}: "expected integer, got void"`},
		{both, Table{ArgMaxLength: int64(9223372036854775807)}, ""},
		{both, Table{ArgMaxLength: true}, `x-max-length' for {q}: "expected integer, got bool"`},
		{both, Table{ArgMaxLengthBytes: int16(-2)}, `x-max-length-bytes' for {q}: {value_negative,-2}`},
		{both, Table{ArgMaxPriority: int64(256)}, `x-max-priority' for {q}: {max_value_exceeded,256}`},
		{both, Table{ArgMaxPriority: uint8(255)}, ""},
		{both, Table{ArgDeadLetterRoutingKey: "k"}, `x-dead-letter-routing-key' for {q}: routing_key_but_no_dlx_defined`},
		{both, Table{ArgDeadLetterRoutingKey: int32(5)}, `x-dead-letter-routing-key' for {q}: {unacceptable_type,signedint}`},
		{both, Table{ArgDeadLetterRoutingKey: "", ArgDeadLetterExchange: ""}, ""},
		{both, Table{ArgOverflow: "x"}, `x-overflow' for {q}: invalid_overflow`},
		{both, Table{ArgOverflow: []byte("drop-head")}, `x-overflow' for {q}: {unacceptable_type,binary}`},
		{both, Table{ArgSingleActiveConsumer: "true"}, `x-single-active-consumer' for {q}: {unacceptable_type,longstr}`},
		{both, Table{ArgQueueType: "lazy"}, `x-queue-type' for {q}: "unsupported queue type 'lazy'"`},
		{both, Table{ArgQueueType: "a\"b\\c\n"}, `x-queue-type' for {q}: "unsupported queue type 'a\"b\\c\n'"`},
		{both, Table{ArgQueueType: int32(5)}, `x-queue-type' for {q}: {unacceptable_type,signedint}`},
		{both, Table{ArgQueueType: strings.Repeat("x", 100)}, `x-queue-type' for {q}: "unsupported queue type '` +
			strings.Repeat("x", 100) + `'"`},
		{"4.3", Table{ArgQueueType: ""}, ""},
		{"4.3", Table{ArgQueueType: "undefined"}, ""},
		{"3.10", Table{ArgQueueType: ""}, `x-queue-type' for {q}: "unsupported queue type ''"`},
		{both, Table{"x-queue-version": int64(3)}, `x-queue-version' for {q}: "unsupported queue version '3'"`},
		{both, Table{"x-queue-version": int64(-3)}, `x-queue-version' for {q}: {value_negative,-3}`},
		{"4.3", Table{"x-queue-version": int64(1)}, `x-queue-version' for {q}: "unsupported queue version '1'"`},
		{"3.10", Table{"x-queue-version": int64(1)}, ""},
		{"4.3", Table{"x-queue-mode": int64(1)}, ""},
		{"3.10", Table{"x-queue-mode": "lazy"}, ""},
		{"3.10", Table{"x-queue-mode": int64(1)}, `x-queue-mode' for {q}: {unacceptable_type,long}`},
		{"3.10", Table{"x-queue-mode": "x"}, `x-queue-mode' for {q}: "unsupported queue mode 'x'"`},
		{"4.3", Table{"x-queue-leader-locator": "x"}, `x-queue-leader-locator' for {q}: invalid_queue_locator_arg`},
		{"4.3", Table{"x-queue-leader-locator": "balanced"}, ""},
		{"3.10", Table{"x-queue-leader-locator": "balanced"},
			`x-queue-leader-locator' for {q} of queue type rabbit_classic_queue`},
		{both, Table{ArgDeliveryLimit: int64(3)}, `x-delivery-limit' for {q} of queue type rabbit_classic_queue`},
		{"4.3", Table{ArgConsumerTimeout: int64(3)}, `x-consumer-timeout' for {q} of queue type rabbit_classic_queue`},
		{"3.10", Table{ArgConsumerTimeout: int64(3)}, ""},
		{both, Table{"x-unknown": int64(3)}, ""},
		{"4.3", Table{"x-name-prefix": "a", "x-member-placement-tag": 5}, ""},

		{both, quorum(ArgMaxPriority, int64(5)), `x-max-priority' for {q} of queue type rabbit_quorum_queue`},
		{both, quorum("x-queue-mode", "lazy"), `x-queue-mode' for {q} of queue type rabbit_quorum_queue`},
		{both, quorum("x-queue-master-locator", "x"), `x-queue-master-locator' for {q} of queue type rabbit_quorum_queue`},
		{both, quorum(ArgDeadLetterStrategy, "x"), `x-dead-letter-strategy' for {q}: invalid_dlx_strategy`},
		{both, quorum(ArgDeadLetterStrategy, true), `x-dead-letter-strategy' for {q}: {unacceptable_type,bool}`},
		{both, quorum("x-quorum-initial-group-size", int64(0)), `x-quorum-initial-group-size' for {q}: {value_zero,0}`},
		{both, quorum("x-max-in-memory-length", int64(-1)), `x-max-in-memory-length' for {q}: {value_negative,-1}`},
		{"4.3", quorum(ArgConsumerTimeout, int64(-1)), `x-consumer-timeout' for {q}: {value_negative,-1}`},
		{"3.10", quorum(ArgConsumerTimeout, int64(-1)), ""},
		{both, quorum(ArgDeliveryLimit, "x"), ""},
		{both, quorum(ArgDelayedRetryType, int64(-1)), ""},
		{both, quorum("x-queue-leader-locator", "x"), `x-queue-leader-locator' for {q}: invalid_queue_locator_arg`},

		{both, stream("x-max-age", "1X"), `x-max-age' for {q}: invalid_max_age`},
		{both, stream("x-max-age", int32(1)), `x-max-age' for {q}: {unacceptable_type,signedint}`},
		{both, stream("x-max-age", "7D"), ""},
		{both, stream(ArgMaxLength, int32(1)), `x-max-length' for {q} of queue type rabbit_stream_queue`},

		// The fixed order, not the client's, decides which error is reported.
		{both, Table{ArgMaxLength: "s", ArgExpires: "s"}, `x-expires' for {q}: "expected integer, got longstr"`},
		{both, Table{ArgMaxLength: "s", "x-max-age": "s"}, `x-max-length' for {q}: "expected integer, got longstr"`},
		{both, Table{"x-max-age": "1D", ArgDeliveryLimit: int64(4)},
			`x-delivery-limit' for {q} of queue type rabbit_classic_queue`},
	} {
		for name, r := range releases {
			if !strings.Contains(c.in, name) {
				continue
			}
			_, err := parseQueueArgs(testArgs(t, c.args), r, "", testSubject)
			want := ""
			if c.want != "" {
				want = "invalid arg '" + strings.ReplaceAll(c.want, "{q}", testQueue)
				if strings.Contains(want, "a\\\"b") {
					want = strings.ReplaceAll(want, "\n", `\n`)
				}
				assert.Equal(t, PreconditionFailed, err.Code)
			}
			assert.Equal(t, want, reasonOf(err), "%s: %v", name, c.args)
		}
	}
}

func TestMasterLocator(t *testing.T) {
	args := Fields{{"x-queue-master-locator", "min-masters"}}
	_, err := parseQueueArgs(args, releases["4.3"], "", testSubject)
	require.NotNil(t, err)
	assert.Equal(t, InternalError, err.Code)
	assert.Equal(t, "INTERNAL_ERROR - Feature `queue_master_locator` is deprecated.\nBy default, this feature is not permitted anymore.\n"+
		"The feature will be removed from a future major RabbitMQ version, regardless of the configuration; actual version to be determined.\nTo con...", err.Text())
	_, err = parseQueueArgs(args, releases["3.10"], "", testSubject)
	assert.Nil(t, err)
	unknown := Fields{{"x-queue-master-locator", "x"}}
	err = releases["3.10"].place(QueueConfig{}, unknown)
	require.NotNil(t, err)
	assert.Equal(t, "INTERNAL_ERROR", err.Text())
	assert.Nil(t, releases["3.10"].place(QueueConfig{Exclusive: true}, unknown))
}

func TestQueueTypeIsAdded(t *testing.T) {
	durable := QueueConfig{Durable: true}
	for _, c := range []struct {
		name        string
		cfg         QueueConfig
		given       Table
		defaultType string
		stored      any
		kind        queueKind
	}{
		{"no default", durable, Table{}, "", "classic", classicQueue},
		{"default quorum", durable, Table{}, "quorum", "quorum", quorumQueue},
		{"default stream", durable, Table{}, "stream", "stream", streamQueue},
		{"transient", QueueConfig{}, Table{}, "quorum", "classic", classicQueue},
		{"exclusive", QueueConfig{Durable: true, Exclusive: true}, Table{}, "quorum", "classic", classicQueue},
		{"auto-delete", QueueConfig{Durable: true, AutoDelete: true}, Table{}, "stream", "classic", classicQueue},
		{"given", durable, Table{ArgQueueType: "classic"}, "quorum", "classic", classicQueue},
		{"empty", durable, Table{ArgQueueType: ""}, "quorum", "", quorumQueue},
		{"undefined", durable, Table{ArgQueueType: "undefined"}, "", "undefined", classicQueue},
	} {
		r := releases["4.3"]
		args := augmentQueueType(testArgs(t, c.given), c.cfg, r, c.defaultType)
		stored, _ := args.Get(ArgQueueType)
		assert.Equal(t, c.stored, stored, c.name)
		parsed, err := parseQueueArgs(args, r, c.defaultType, testSubject)
		require.Nil(t, err, c.name)
		assert.Equal(t, c.kind, parsed.kind, c.name)
	}
	for defaultType, stored := range map[string]Fields{"classic": nil, "quorum": {{ArgQueueType, "quorum"}}} {
		assert.Equal(t, stored, augmentQueueType(nil, durable, releases["3.10"], defaultType), "an old release does not store classic")
	}
}

func TestParsedQueueArgs(t *testing.T) {
	r := releases["4.3"]
	a, err := parseQueueArgs(testArgs(t, Table{
		ArgMessageTTL: int64(5), ArgExpires: int64(6), ArgMaxLength: int64(7), ArgMaxLengthBytes: int64(8),
		ArgDeadLetterExchange: "", ArgDeadLetterRoutingKey: "k", ArgMaxPriority: int64(0), ArgSingleActiveConsumer: true,
	}), r, "", testSubject)
	require.Nil(t, err)
	s := a.settings(r, nil, nil)
	assert.Equal(t, []int64{5, 6, 7, 8}, []int64{s.ttl, s.expires, s.maxLength, s.maxBytes})
	assert.Equal(t, "", s.dlx)
	assert.True(t, s.hasDLX)
	assert.Equal(t, "k", s.dlrk)
	assert.True(t, a.singleActive)
	assert.Equal(t, 1, a.maxPriority, "0 means two levels")

	a, err = parseQueueArgs(nil, r, "", testSubject)
	require.Nil(t, err)
	s = a.settings(r, nil, nil)
	assert.Equal(t, []int64{-1, -1, -1, -1, -1}, []int64{s.ttl, s.expires, s.maxLength, s.maxBytes, int64(a.maxPriority)})
	assert.False(t, a.singleActive)

	a, _ = parseQueueArgs(testArgs(t, Table{ArgMaxPriority: int64(0)}), releases["3.10"], "", testSubject)
	assert.Equal(t, -1, a.maxPriority)
}

func TestDeadLetterExchangeArgument(t *testing.T) {
	name, given, err := deadLetterExchangeArg(Fields{{ArgDeadLetterExchange, "d"}}, testSubject)
	assert.Nil(t, err)
	assert.True(t, given)
	assert.Equal(t, "d", name)
	_, given, err = deadLetterExchangeArg(nil, testSubject)
	assert.Nil(t, err)
	assert.False(t, given)
	_, _, err = deadLetterExchangeArg(Fields{{ArgDeadLetterExchange, int32(1)}}, testSubject)
	assert.Equal(t, "invalid type 'signedint' for arg 'x-dead-letter-exchange' in "+testQueue, reasonOf(err))
	_, _, err = alternateExchangeArg(Fields{{ArgAlternateExchange, true}}, subject{"x", "exchange 'x' in vhost '/'"})
	assert.Equal(t, "invalid type 'bool' for arg 'alternate-exchange' in exchange 'x' in vhost '/'", reasonOf(err))
}

func TestConsumerArguments(t *testing.T) {
	for _, c := range []struct {
		in   string
		kind queueKind
		key  string
		v    any
		want string // empty: accepted
	}{
		{"4.3 3.10", classicQueue, ArgConsumerPriority, "s", `: "expected integer, got longstr"`},
		{"4.3 3.10", quorumQueue, ArgConsumerPriority, true, `: "expected integer, got bool"`},
		{"4.3 3.10", classicQueue, ArgConsumerPriority, int32(-1), ""},
		{"4.3", classicQueue, ArgConsumerTimeout, int32(1), " of queue type rabbit_classic_queue"},
		{"4.3", quorumQueue, ArgConsumerTimeout, int32(-1), ": {value_negative,-1}"},
		{"4.3", quorumQueue, ArgConsumerTimeout, "s", `: "expected integer, got longstr"`},
		{"3.10", quorumQueue, ArgConsumerTimeout, "s", ""},
		{"4.3 3.10", classicQueue, "x-stream-offset", "first", " of queue type rabbit_classic_queue"},
		{"4.3 3.10", quorumQueue, "x-stream-offset", "first", " of queue type rabbit_quorum_queue"},
		{"4.3", quorumQueue, "x-stream-filter", "f", " of queue type rabbit_quorum_queue"},
		{"3.10", quorumQueue, "x-stream-filter", "f", ""},
		{"4.3", quorumQueue, "x-cancel-on-ha-failover", "s", ""},
		{"3.10", quorumQueue, "x-cancel-on-ha-failover", true, " of queue type rabbit_quorum_queue"},
		{"3.10", classicQueue, "x-cancel-on-ha-failover", "s", ": {unacceptable_type,longstr}"},
		{"3.10", classicQueue, "x-cancel-on-ha-failover", true, ""},
		{"4.3", classicQueue, "x-credit", "s", ""},
	} {
		for name, r := range releases {
			if !strings.Contains(c.in, name) {
				continue
			}
			_, err := parseConsumerArgs(Fields{{c.key, c.v}}, c.kind, r, testSubject)
			want := ""
			if c.want != "" {
				want = "invalid arg '" + c.key + "' for " + testQueue + c.want
			}
			assert.Equal(t, want, reasonOf(err), "%s %v %s=%v", name, c.kind, c.key, c.v)
		}
	}
	a, err := parseConsumerArgs(Fields{{ArgConsumerPriority, int8(-7)}, {ArgConsumerTimeout, int64(50)}}, quorumQueue,
		releases["4.3"], testSubject)
	require.Nil(t, err)
	assert.Equal(t, consumerArgs{priority: -7, timeout: 50}, a)
	a, _ = parseConsumerArgs(nil, quorumQueue, releases["4.3"], testSubject)
	assert.Equal(t, consumerArgs{timeout: -1}, a)
}

func TestExpiration(t *testing.T) {
	spaces := strings.Repeat(" ", 44)
	for in, want := range map[string]any{
		"0": 0, "007": 7, "+5": 5, "-0": 0, "315360000000": 315360000000,
		"":                      "no_integer",
		"abc":                   "no_integer",
		" 1":                    "no_integer",
		"-":                     "no_integer",
		"+-5":                   "no_integer",
		"--5":                   "no_integer",
		"٣":                     "no_integer",
		"1.5":                   `{leftover_string,".5"}`,
		"1a":                    `{leftover_string,"a"}`,
		"1 ":                    `{leftover_string," "}`,
		"1\n":                   `{leftover_string,"\n"}`,
		"1\"":                   `{leftover_string,"\""}`,
		"1é":                    `{leftover_string,"Ã©"}`,
		"-1":                    "{value_negative,-1}",
		"315360000001":          "{value_too_large,315360000001}",
		"99999999999999999999":  "{value_too_large,\n" + spaces + "99999999999999999999}",
		"-99999999999999999999": "{value_negative,\n " + spaces + "-99999999999999999999}",
	} {
		ms, err := RabbitMQ43.rules().parseExpiration(in)
		if n, ok := want.(int); ok {
			require.Nil(t, err, in)
			assert.Equal(t, int64(n), ms, in)
			continue
		}
		require.NotNil(t, err, in)
		assert.Equal(t, PreconditionFailed, err.Code)
		assert.Equal(t, "invalid expiration '"+in+"': "+want.(string), err.Reason)
	}
}

func TestEquivalentQueues(t *testing.T) {
	classic := queueShape{kind: classicQueue, durable: true}
	quorum := queueShape{kind: quorumQueue, durable: true}
	for _, c := range []struct {
		in                string
		current, received queueShape
		have, given       Table
		want              string
	}{
		{"4.3 3.10", classic, classic, Table{}, Table{}, ""},
		{"4.3 3.10", classic, queueShape{}, Table{}, Table{}, `'durable' for {q}: received 'false' but current is 'true'`},
		{"4.3 3.10", classic, queueShape{durable: true, autoDelete: true}, Table{}, Table{},
			`'auto_delete' for {q}: received 'true' but current is 'false'`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{ArgMaxLength: int32(6)},
			`'x-max-length' for {q}: received '6' but current is '5'`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{ArgMaxLength: "five"},
			`'x-max-length' for {q}: received 'five' but current is '5'`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{},
			`'x-max-length' for {q}: received none but current is the value '5' of type 'signedint'`},
		{"4.3 3.10", classic, classic, Table{}, Table{ArgMaxLength: int32(5)},
			`'x-max-length' for {q}: received the value '5' of type 'signedint' but current is none`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{ArgMaxLength: int8(5)}, ""},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{ArgMaxLength: 5.0},
			`'x-max-length' for {q}: received '5.0' but current is '5'`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)}, Table{ArgMaxLength: nil},
			`'x-max-length' for {q}: received none but current is '5'`},
		{"4.3 3.10", classic, classic, Table{}, Table{ArgMaxLength: nil},
			`'x-max-length' for {q}: received the value 'undefined' of type 'void' but current is none`},
		{"4.3 3.10", classic, classic, Table{ArgDeadLetterExchange: "abc"}, Table{ArgDeadLetterExchange: []byte("abc")}, ""},
		{"4.3", classic, classic, Table{}, Table{ArgDeadLetterExchange: []byte{0xff, 0xfe}},
			`'x-dead-letter-exchange' for {q}: received the value 'ÿþ' of type 'binary' but current is none`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)},
			Table{ArgMaxLength: Fields{{"a", "b"}, {"c", int32(5)}}},
			`'x-max-length' for {q}: received '[{<<"a">>,longstr,<<"b">>},{<<"c">>,signedint,5}]' but current is '5'`},
		{"4.3 3.10", classic, classic, Table{ArgMaxLength: int32(5)},
			Table{ArgMaxLength: []any{"x", int64(3), 2.5, true, nil}},
			`'x-max-length' for {q}: received '[{longstr,<<"x">>},{long,3},{double,2.5},{bool,true},{void,undefined}]' but current is '5'`},
		{"4.3 3.10", classic, classic, Table{}, Table{ArgSingleActiveConsumer: false},
			`'x-single-active-consumer' for {q}: received the value 'false' of type 'bool' but current is none`},
		{"4.3 3.10", classic, classic, Table{"x-other": "a"}, Table{"x-another": "b", ArgDeliveryLimit: int64(4)}, ""},
		{"4.3 3.10", quorum, quorum, Table{ArgMaxLength: int32(5), ArgExpires: int64(6), ArgDeadLetterExchange: "d",
			ArgOverflow: "drop-head"}, Table{},
			`'x-dead-letter-exchange' for {q}: received none but current is the value 'd' of type 'longstr'`},
		{"4.3 3.10", quorum, quorum, Table{}, Table{ArgMaxPriority: int64(5)}, ""},
		{"4.3", classic, classic, Table{ArgQueueType: "classic"}, Table{ArgQueueType: "quorum"},
			`'x-queue-type' for {q}: received 'quorum' but current is 'classic'`},
		{"4.3", classic, classic, Table{ArgQueueType: ""}, Table{ArgQueueType: "classic"},
			`'x-queue-type' for {q}: received 'classic' but current is ''`},
		{"3.10", classic, classic, Table{}, Table{ArgQueueType: "classic"}, ""},
		{"3.10", classic, classic, Table{ArgQueueType: "classic"}, Table{}, ""},
		{"3.10", classic, classic, Table{}, Table{ArgQueueType: "quorum"},
			`'x-queue-type' for {q}: received the value 'quorum' of type 'longstr' but current is none`},
		{"3.10", quorum, quorum, Table{ArgQueueType: "quorum"}, Table{},
			`'x-queue-type' for {q}: received none but current is the value 'quorum' of type 'longstr'`},
		{"4.3", quorum, quorum, Table{}, Table{ArgDelayedRetryMin: int64(4)},
			`'x-delayed-retry-min' for {q}: received the value '4' of type 'long' but current is none`},
		{"3.10", quorum, quorum, Table{}, Table{ArgDelayedRetryMin: int64(4)}, ""},
	} {
		for name, r := range releases {
			if !strings.Contains(c.in, name) {
				continue
			}
			c.current.args, c.received.args = testArgs(t, c.have), testArgs(t, c.given)
			err := equivalentQueue(c.current, c.received, r, testSubject)
			want := ""
			if c.want != "" {
				want = "inequivalent arg " + strings.ReplaceAll(c.want, "{q}", testQueue)
			}
			assert.Equal(t, want, reasonOf(err), "%s: %v then %v", name, c.have, c.given)
		}
	}
	err := equivalentQueue(queueShape{args: Fields{{ArgMaxLength, int32(5)}}},
		queueShape{args: Fields{{ArgMaxLength, Decimal{2, 314}}}}, releases["4.3"], testSubject)
	require.NotNil(t, err)
	assert.Equal(t, "INTERNAL_ERROR", err.Text(), "a decimal crashes the broker's explanation")
}

func TestEquivalentExchanges(t *testing.T) {
	const rs = "exchange 'x' in vhost '/'"
	plain := exchangeShape{kind: Direct, durable: true}
	for _, c := range []struct {
		current, received exchangeShape
		want              string
	}{
		{plain, plain, ""},
		{plain, exchangeShape{kind: Fanout}, "'type' for " + rs + ": received 'fanout' but current is 'direct'"},
		{exchangeShape{kind: LocalRandom}, exchangeShape{kind: ModulusHash}, "'type' for " + rs +
			": received ''x-modulus-hash'' but current is ''x-local-random''"},
		{plain, exchangeShape{kind: Direct}, "'durable' for " + rs + ": received 'false' but current is 'true'"},
		{plain, exchangeShape{kind: Direct, durable: true, autoDelete: true, internal: true}, "'auto_delete' for " + rs +
			": received 'true' but current is 'false'"},
		{plain, exchangeShape{kind: Direct, durable: true, internal: true}, "'internal' for " + rs +
			": received 'true' but current is 'false'"},
		{plain, exchangeShape{kind: Direct, durable: true, args: Fields{{"x-other", "a"}}}, ""},
		{plain, exchangeShape{kind: Direct, durable: true, args: Fields{{ArgAlternateExchange, int64(5)}}},
			"'alternate-exchange' for " + rs + ": received the value '5' of type 'long' but current is none"},
		{exchangeShape{kind: Direct, durable: true, args: Fields{{ArgAlternateExchange, "a"}}}, plain,
			"'alternate-exchange' for " + rs + ": received none but current is the value 'a' of type 'longstr'"},
	} {
		want := c.want
		if want != "" {
			want = "inequivalent arg " + want
		}
		assert.Equal(t, want, reasonOf(equivalentExchange(c.current, c.received, RabbitMQ43.rules(), subject{"x", rs})))
	}
}
