package amqpd

// A methodID is a class in the upper and a method of it in the lower half.
type methodID uint32

const classBasic = 60

const (
	connectionStart          methodID = 10<<16 + 10
	connectionStartOk        methodID = 10<<16 + 11
	connectionSecure         methodID = 10<<16 + 20
	connectionSecureOk       methodID = 10<<16 + 21
	connectionTune           methodID = 10<<16 + 30
	connectionTuneOk         methodID = 10<<16 + 31
	connectionOpen           methodID = 10<<16 + 40
	connectionOpenOk         methodID = 10<<16 + 41
	connectionClose          methodID = 10<<16 + 50
	connectionCloseOk        methodID = 10<<16 + 51
	connectionBlocked        methodID = 10<<16 + 60
	connectionUnblocked      methodID = 10<<16 + 61
	connectionUpdateSecret   methodID = 10<<16 + 70
	connectionUpdateSecretOk methodID = 10<<16 + 71

	channelOpen    methodID = 20<<16 + 10
	channelOpenOk  methodID = 20<<16 + 11
	channelFlow    methodID = 20<<16 + 20
	channelFlowOk  methodID = 20<<16 + 21
	channelClose   methodID = 20<<16 + 40
	channelCloseOk methodID = 20<<16 + 41

	accessRequest   methodID = 30<<16 + 10
	accessRequestOk methodID = 30<<16 + 11

	exchangeDeclare   methodID = 40<<16 + 10
	exchangeDeclareOk methodID = 40<<16 + 11
	exchangeDelete    methodID = 40<<16 + 20
	exchangeDeleteOk  methodID = 40<<16 + 21
	exchangeBind      methodID = 40<<16 + 30
	exchangeBindOk    methodID = 40<<16 + 31
	exchangeUnbind    methodID = 40<<16 + 40
	exchangeUnbindOk  methodID = 40<<16 + 51

	queueDeclare   methodID = 50<<16 + 10
	queueDeclareOk methodID = 50<<16 + 11
	queueBind      methodID = 50<<16 + 20
	queueBindOk    methodID = 50<<16 + 21
	queuePurge     methodID = 50<<16 + 30
	queuePurgeOk   methodID = 50<<16 + 31
	queueDelete    methodID = 50<<16 + 40
	queueDeleteOk  methodID = 50<<16 + 41
	queueUnbind    methodID = 50<<16 + 50
	queueUnbindOk  methodID = 50<<16 + 51

	basicQos          methodID = 60<<16 + 10
	basicQosOk        methodID = 60<<16 + 11
	basicConsume      methodID = 60<<16 + 20
	basicConsumeOk    methodID = 60<<16 + 21
	basicCancel       methodID = 60<<16 + 30
	basicCancelOk     methodID = 60<<16 + 31
	basicPublish      methodID = 60<<16 + 40
	basicReturn       methodID = 60<<16 + 50
	basicDeliver      methodID = 60<<16 + 60
	basicGet          methodID = 60<<16 + 70
	basicGetOk        methodID = 60<<16 + 71
	basicGetEmpty     methodID = 60<<16 + 72
	basicAck          methodID = 60<<16 + 80
	basicReject       methodID = 60<<16 + 90
	basicRecoverAsync methodID = 60<<16 + 100
	basicRecover      methodID = 60<<16 + 110
	basicRecoverOk    methodID = 60<<16 + 111
	basicNack         methodID = 60<<16 + 120

	// RabbitMQ's own, of which clients know nothing.
	basicCredit        methodID = 60<<16 + 200
	basicCreditOk      methodID = 60<<16 + 201
	basicCreditDrained methodID = 60<<16 + 202

	confirmSelect   methodID = 85<<16 + 10
	confirmSelectOk methodID = 85<<16 + 11

	txSelect     methodID = 90<<16 + 10
	txSelectOk   methodID = 90<<16 + 11
	txCommit     methodID = 90<<16 + 20
	txCommitOk   methodID = 90<<16 + 21
	txRollback   methodID = 90<<16 + 30
	txRollbackOk methodID = 90<<16 + 31
)

// A handler executes one method on an open channel, with the lock of the connection held. It reads all arguments before
// it does anything.
type handler func(c *conn, ch *channel, a *args) error

// methods are all methods of the protocol. Those that only a server sends, and those of the
// connection class, which are not handled on a channel, have no handler.
var methods = map[methodID]handler{
	connectionStart: nil, connectionStartOk: nil, connectionSecure: nil, connectionSecureOk: nil,
	connectionTune: nil, connectionTuneOk: nil, connectionOpen: nil, connectionOpenOk: nil,
	connectionClose: nil, connectionCloseOk: nil, connectionBlocked: nil, connectionUnblocked: nil,
	connectionUpdateSecret: nil, connectionUpdateSecretOk: nil,

	channelOpen: secondOpenLocked, channelFlow: (*conn).channelFlowLocked, channelClose: (*conn).channelCloseLocked,
	channelOpenOk: nil, channelFlowOk: nil, channelCloseOk: nil,

	accessRequest: (*conn).accessRequestLocked, accessRequestOk: nil,

	exchangeDeclare: (*conn).exchangeDeclareLocked, exchangeDelete: (*conn).exchangeDeleteLocked,
	exchangeBind: (*conn).exchangeBindLocked, exchangeUnbind: (*conn).exchangeUnbindLocked,
	exchangeDeclareOk: nil, exchangeDeleteOk: nil, exchangeBindOk: nil, exchangeUnbindOk: nil,

	queueDeclare: (*conn).queueDeclareLocked, queueDelete: (*conn).queueDeleteLocked, queuePurge: (*conn).queuePurgeLocked,
	queueBind: (*conn).queueBindLocked, queueUnbind: (*conn).queueUnbindLocked,
	queueDeclareOk: nil, queueDeleteOk: nil, queuePurgeOk: nil, queueBindOk: nil, queueUnbindOk: nil,

	basicPublish: (*conn).basicPublishLocked, basicAck: (*conn).basicAckLocked, basicNack: (*conn).basicNackLocked,
	basicReject:  (*conn).basicRejectLocked,
	basicRecover: (*conn).basicRecoverLocked, basicRecoverAsync: (*conn).basicRecoverAsyncLocked,
	basicGet: (*conn).basicGetLocked, basicConsume: (*conn).basicConsumeLocked, basicCancel: (*conn).basicCancelLocked,
	basicQos: (*conn).basicQosLocked, basicCancelOk: (*conn).basicCancelOkLocked,
	basicCredit: (*conn).basicCreditLocked, basicCreditOk: nil, basicCreditDrained: nil,
	basicQosOk: nil, basicConsumeOk: nil, basicGetEmpty: nil,
	basicReturn:  serverContent(basicReturn, signatures[basicReturn]),
	basicDeliver: serverContent(basicDeliver, signatures[basicDeliver]),
	basicGetOk:   serverContent(basicGetOk, signatures[basicGetOk]), basicRecoverOk: nil,

	confirmSelect: (*conn).confirmSelectLocked, confirmSelectOk: nil,

	txSelect: (*conn).txSelectLocked, txCommit: (*conn).txCommitLocked, txRollback: (*conn).txRollbackLocked,
	txSelectOk: nil, txCommitOk: nil, txRollbackOk: nil,
}
