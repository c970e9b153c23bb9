package amqpd

import "github.com/leveretmq/leveret"

// RabbitMQ reads the arguments of a method before it asks whether the channel is open, or whether a client may
// send the method. A handler reads the arguments of its method itself. The signatures are for methods that no
// handler gets.

// A signature says what the arguments of a method are, an octet each: o octet, h short, w long, q long long, b
// bits, s short string, r short string that need not be UTF-8, l long string, t table.
type signature string

var signatures = map[methodID]signature{
	connectionStart: "ootll", connectionStartOk: "tsls", connectionSecure: "l", connectionSecureOk: "l",
	connectionTune: "hwh", connectionTuneOk: "hwh", connectionOpen: "ssb", connectionOpenOk: "s",
	connectionClose: "hshh", connectionCloseOk: "", connectionBlocked: "s", connectionUnblocked: "",
	connectionUpdateSecret: "ls", connectionUpdateSecretOk: "",

	channelOpen: "s", channelOpenOk: "l", channelFlow: "b", channelFlowOk: "b", channelClose: "hshh", channelCloseOk: "",

	accessRequest: "sb", accessRequestOk: "h",

	exchangeDeclare: "hssbt", exchangeDeclareOk: "", exchangeDelete: "hsb", exchangeDeleteOk: "",
	exchangeBind: "hsssbt", exchangeBindOk: "", exchangeUnbind: "hsssbt", exchangeUnbindOk: "",

	queueDeclare: "hsbt", queueDeclareOk: "sww", queueBind: "hsssbt", queueBindOk: "",
	queuePurge: "hsb", queuePurgeOk: "w", queueDelete: "hsb", queueDeleteOk: "w",
	queueUnbind: "hssst", queueUnbindOk: "",

	basicQos: "whb", basicQosOk: "", basicConsume: "hssbt", basicConsumeOk: "s", basicCancel: "sb", basicCancelOk: "s",
	basicPublish: "hrrb", basicReturn: "hrrr", basicDeliver: "rqbrr", basicGet: "hsb",
	basicGetOk: "qbrrw", basicGetEmpty: "s", basicAck: "qb", basicReject: "qb",
	basicRecoverAsync: "b", basicRecover: "b", basicRecoverOk: "", basicNack: "qb",
	basicCredit: "swb", basicCreditOk: "w", basicCreditDrained: "sw",

	confirmSelect: "b", confirmSelectOk: "",

	txSelect: "", txSelectOk: "", txCommit: "", txCommitOk: "", txRollback: "", txRollbackOk: "",
}

// checkOnZero reads all arguments of a method on channel 0 and returns what is wrong with them. There RabbitMQ's reader
// fails itself, unless all that is wrong is a short string that is not UTF-8.
// Rules: C-17.
func (s signature) checkOnZero(a *args) error {
	if s.check(a) == nil {
		return nil
	}
	if a.fault == badUTF8 {
		return errorf(leveret.FrameError, malformedUTF8)
	}
	return internalError()
}

// check reads all arguments and returns what is wrong with them.
// Rules: C-17.
func (s signature) check(a *args) error {
	for _, kind := range s {
		switch kind {
		case 'o', 'b':
			a.u8()
		case 'h':
			a.u16()
		case 'w':
			a.u32()
		case 'q':
			a.u64()
		case 's':
			a.short()
		case 'r':
			a.raw()
		case 'l':
			a.long()
		case 't':
			a.fields()
		}
	}
	return a.end()
}

// errUnimplemented is the error for a method that a client may not send.
func errUnimplemented() error { return errorf(leveret.CommandInvalid, "unimplemented method") }
