package amqpd

import (
	"maps"

	"github.com/leveretmq/leveret"
)

// RabbitMQ 3.10 speaks AMQP 0-8 besides 0-9-1. Frames, tables, properties and codes are the same. 0-8 has none of
// RabbitMQ's own methods, two methods with fewer arguments, another number for connection.close, and classes that
// RabbitMQ does not implement.

const (
	protocolHeader   = "AMQP\x00\x00\x09\x01"
	protocolHeader09 = "AMQP\x01\x01\x00\x09" // 0-9, which differs in nothing that matters here
	protocolHeader08 = "AMQP\x01\x01\x08\x00"
	protocolHeader8  = "AMQP\x01\x01\x09\x01" // 0-8, as some clients send it
	protocolHeader10 = "AMQP\x03\x01\x00\x00" // 1.0 with SASL
)

// A protocol is a version of AMQP, as far as versions differ.
type protocol struct {
	name         string // in lists
	major, minor byte   // as connection.start tells them
	methods      map[methodID]handler
	signatures   map[methodID]signature
	close        methodID // connection.close
	closeOk      methodID // connection.close-ok
	extended     bool     // RabbitMQ's extensions: capabilities, arguments of channel.open-ok and basic.consume
}

func (p *protocol) knows(id methodID) bool {
	_, known := p.methods[id]
	return known
}

var (
	amqp091 = &protocol{name: "AMQP 0-9-1", minor: 9, methods: methods, signatures: signatures,
		close: connectionClose, closeOk: connectionCloseOk, extended: true}
	amqp08 = &protocol{name: "AMQP 0-8", major: 8, methods: methods08(), signatures: signatures08(),
		close: connectionClose08, closeOk: connectionCloseOk08}
)

// protocolOf returns what a protocol header asks for, nil if it is not spoken here.
// Rules: C-21.
func (r *release) protocolOf(header string) *protocol {
	switch header {
	case protocolHeader, protocolHeader09:
		return amqp091
	case protocolHeader08, protocolHeader8:
		if r.speaks08 {
			return amqp08
		}
	}
	return nil
}

// Methods of 0-8 that 0-9-1 does not have. RabbitMQ implements but the first two.
const (
	connectionClose08   methodID = 10<<16 + 60
	connectionCloseOk08 methodID = 10<<16 + 61
	connectionRedirect  methodID = 10<<16 + 50
	channelAlert        methodID = 20<<16 + 30
	fileStage           methodID = 70<<16 + 50
	fileReturn          methodID = 70<<16 + 70
	streamPublish       methodID = 80<<16 + 40
	streamReturn        methodID = 80<<16 + 50
	streamDeliver       methodID = 80<<16 + 60
	tunnelRequest       methodID = 110<<16 + 10
	testContent         methodID = 120<<16 + 40
	testContentOk       methodID = 120<<16 + 41
)

// unimplemented08 are the methods without content that 0-8 has besides.
var unimplemented08 = map[methodID]signature{
	connectionRedirect: "ss", connectionClose08: "hshh", connectionCloseOk08: "", channelAlert: "hst",
	// file
	70<<16 + 10: "whb", 70<<16 + 11: "", 70<<16 + 20: "hssb", 70<<16 + 21: "s", 70<<16 + 30: "sb", 70<<16 + 31: "s",
	70<<16 + 40: "sq", 70<<16 + 41: "q", 70<<16 + 60: "hssbs", 70<<16 + 80: "sqbsss",
	70<<16 + 90: "qb", 70<<16 + 100: "qb",
	// stream
	80<<16 + 10: "whwb", 80<<16 + 11: "", 80<<16 + 20: "hssb", 80<<16 + 21: "s", 80<<16 + 30: "sb", 80<<16 + 31: "s",
	// dtx
	100<<16 + 10: "", 100<<16 + 11: "", 100<<16 + 20: "s", 100<<16 + 21: "",
	// test
	120<<16 + 10: "ohwqo", 120<<16 + 11: "q", 120<<16 + 20: "slo", 120<<16 + 21: "l",
	120<<16 + 30: "too", 120<<16 + 31: "ql",
}

// content08 are the methods with content that 0-8 has besides.
var content08 = map[methodID]signature{
	fileStage: "", fileReturn: "hrrr", streamPublish: "hrrb", streamReturn: "hrrr", streamDeliver: "rqrr",
	tunnelRequest: "t", testContent: "", testContentOk: "w",
}

func methods08() map[methodID]handler {
	m := maps.Clone(methods)
	for _, id := range []methodID{
		connectionCloseOk, connectionUpdateSecret, connectionUpdateSecretOk, basicNack, confirmSelect, confirmSelectOk,
		exchangeBind, exchangeBindOk, exchangeUnbind, exchangeUnbindOk, basicCredit, basicCreditOk, basicCreditDrained,
	} {
		delete(m, id)
	}
	for id := range unimplemented08 {
		m[id] = nil
	}
	for id, s := range content08 {
		m[id] = serverContent(id, s)
	}
	return m
}

func signatures08() map[methodID]signature {
	m := maps.Clone(signatures)
	maps.Copy(m, unimplemented08)
	maps.Copy(m, content08)
	m[basicConsume] = "hssb"
	return m
}

// capabilities are what RabbitMQ offers beyond the protocol.
func (p *protocol) capabilities() leveret.Fields {
	capabilities := leveret.Fields{}
	if !p.extended {
		return capabilities
	}
	for _, name := range []string{
		"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify",
		"connection.blocked", "consumer_priorities", "authentication_failure_close", "per_consumer_qos",
		"direct_reply_to",
	} {
		capabilities = append(capabilities, leveret.Field{Name: name, Value: true})
	}
	return capabilities
}
