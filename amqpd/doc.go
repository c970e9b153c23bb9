// Package amqpd lets AMQP 0-9-1 clients talk to a leveret broker.
//
// A [Server] serves them on any [net.Listener], on a single [net.Conn], or in memory:
//
//	srv := &amqpd.Server{Broker: leveret.New()}
//	l, err := net.Listen("tcp", "127.0.0.1:5672")
//	go srv.Serve(l)
//	defer srv.Close()
//
//	nc, err := srv.Dial() // for amqp091.Open(nc, amqp091.Config{…})
//
// It speaks what a RabbitMQ node speaks: PLAIN, AMQPLAIN and ANONYMOUS logins, EXTERNAL over TLS, heartbeats,
// connection.blocked, publisher confirms, transactions, consumer cancellation, direct reply-to. Bad input ends
// in the close that RabbitMQ sends for it, with the same code and text, or in a dropped connection.
//
// The package translates between frames and the methods of [leveret.Channel]; it knows no rule of the
// broker's. Each connection has two goroutines and, while it is idle, no buffer to speak of. On Linux, what a client
// publishes over a socket without confirms, bodies of at most 8 KiB at more than 50,000 messages a second, may be read
// half a millisecond late, many at a time.
//
// What waits for a client that does not read is bounded: deliveries of 1 MiB, the others stay in their queues, and 64
// MiB of answers and returned messages, during the memory alarm 1 MiB. Beyond that nothing is read from the client
// until it reads. So a client that sends everything before it reads anything is served as long as its answers are
// smaller than that: those to 60,000 mandatory messages of 1 kB that come back are. RabbitMQ has no such bound but its
// memory.
//
// A client from which no octet has come for two to three heartbeat intervals is dead: its connection ends, and what it
// held is back in its queues. The same holds if it has taken nothing for as long when 64 MiB wait for it. A client may ask
// for no heartbeats: then nobody looks whether octets come.
//
// A client that has taken nothing of what it is sent for 30 seconds is given up with or without heartbeats, as by RabbitMQ:
// the connection is reset, and what it held is back in its queues.
//
// Where the server ends a TCP connection the client sees a reset, as with RabbitMQ, and not the end of the stream. It sees the end
// over TLS, and when its virtual host is deleted.
//
// AMQP 1.0 is not spoken.
package amqpd
