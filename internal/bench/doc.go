// Package bench holds the library's own benchmarks: what a message costs in the process that uses leveret as a library.
//
//	go test -run '^$' -bench . -benchmem ./internal/bench
//
// Only ratios carry over to other machines. Each group therefore measures its anchors in the same run:
// impl=chan sends a ready pointer over a buffered channel, impl=ring is a mutex around a ring buffer of freshly
// allocated messages. One op is one published message unless the benchmark says otherwise.
//
// The directory bench at the root is another module. It compares leveret with other brokers, over AMQP too.
package bench
