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
	major, minor byte // as connection.start tells them
	methods      map[methodID]handler
	close        methodID // connection.close
	closeOk      methodID // connection.close-ok
	extended     bool     // RabbitMQ's extensions: capabilities, arguments of channel.open-ok and basic.consume
}

var (
	amqp091 = &protocol{minor: 9, methods: methods, close: connectionClose, closeOk: connectionCloseOk, extended: true}
	amqp08  = &protocol{major: 8, methods: methods08(), close: connectionClose08, closeOk: connectionCloseOk08}
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
var unimplemented08 = []methodID{
	connectionRedirect, connectionClose08, connectionCloseOk08, channelAlert,
	70<<16 + 10, 70<<16 + 11, 70<<16 + 20, 70<<16 + 21, 70<<16 + 30, 70<<16 + 31, 70<<16 + 40, 70<<16 + 41, // file
	70<<16 + 60, 70<<16 + 80, 70<<16 + 90, 70<<16 + 100,
	80<<16 + 10, 80<<16 + 11, 80<<16 + 20, 80<<16 + 21, 80<<16 + 30, 80<<16 + 31, // stream
	100<<16 + 10, 100<<16 + 11, 100<<16 + 20, 100<<16 + 21, // dtx
	120<<16 + 10, 120<<16 + 11, 120<<16 + 20, 120<<16 + 21, 120<<16 + 30, 120<<16 + 31, // test
}

func methods08() map[methodID]handler {
	m := maps.Clone(methods)
	for _, id := range []methodID{
		connectionCloseOk, connectionUpdateSecret, connectionUpdateSecretOk, basicNack, confirmSelect, confirmSelectOk,
		exchangeBind, exchangeBindOk, exchangeUnbind, exchangeUnbindOk,
	} {
		delete(m, id)
	}
	for _, id := range unimplemented08 {
		m[id] = nil
	}
	for id, skip := range map[methodID]func(*args){
		fileStage: skipNothing, fileReturn: skipReturn,
		streamPublish: skipPublish, streamReturn: skipReturn, streamDeliver: skipStream,
		tunnelRequest: func(a *args) { a.fields() }, testContent: skipNothing, testContentOk: func(a *args) { a.u32() },
	} {
		m[id] = serverContent(id, skip)
	}
	return m
}

func skipNothing(*args) {}

func skipPublish(a *args) {
	a.u16()
	a.raw()
	a.raw()
	a.bits()
}

func skipStream(a *args) {
	a.raw()
	a.u64()
	a.raw()
	a.raw()
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
