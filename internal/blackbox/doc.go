// Package blackbox tests the public API of leveret where a script of testdata/scenarios cannot: with a million
// messages or many goroutines, on the real clock, by the heap that is used, from hooks and handlers, and by
// what only the Go API has.
//
// A rule of RabbitMQ that a client can observe belongs into a script, which runs on real brokers too.
package blackbox
