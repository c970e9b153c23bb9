// Package model holds a naive model of a RabbitMQ 4.3 node, and a state machine that compares it with the
// engine: random operations on both, which must agree on every answer, every delivery, everything that waits
// and the next deadline, after every step.
//
// In the model everything is a slice and every question is answered by a loop. Nothing is cached and nothing is counted
// ahead. Times are milliseconds since the start of the run; 0 means none.
//
// The model is the engine's twin. The same people wrote both, from the same understanding of RabbitMQ, and
// large parts of the model take the steps of the engine in the same order. Therefore it finds slips: a figure
// that is not kept, a queue that is not looked at, a list in the wrong order. It does not find what both
// misread; live brokers do, on which package conformance runs the scripts of testdata/scenarios and random
// programs of its own.
//
// The model does not decide three things. The order in which a message's targets are served is the broker's
// own: no rule tells it (inBrokerOrder). A run ends when two queues are due at one instant, and when a classic
// queue has not looked at a head that came in front of others: what follows depends on timers of the past.
package model
