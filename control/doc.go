// Package control lets operators reach a broker that is part of a Go program with the command line that they know:
// rabbitmqctl's commands, as leveret ctl has them.
//
//	socket, err := control.Open(b, control.Config{Path: "/run/orders/control"})
//	if err != nil {
//		return err
//	}
//	defer socket.Close()
//
// From then on these work in another terminal, with rabbitmqctl's options, output and exit codes:
//
//	leveret ctl --control /run/orders/control list_queues name messages consumers
//	leveret ctl --control /run/orders/control set_policy short '^orders' '{"max-length":1000}'
//	leveret ctl --control /run/orders/control tail orders
//
// leveret ctl help lists the commands. The environment variable LEVERET_CONTROL takes the place of --control, and without
// either leveret ctl looks at [DefaultPath], where Open listens unless it is told otherwise. A program that wants
// no second binary passes its own arguments to [Call].
//
// # Safety
//
// Whoever may use the socket may do everything with the broker. So only the user of the program and root may:
//
//   - The socket has the mode 0600 from its first moment. The directory of the default path is the user's alone (0700), and is refused if
//     it is not.
//   - On Linux the program asks the system whose process a client is, and turns away others before it reads a word. The
//     client asks the same of the program before it sends one. Elsewhere the client looks at the owners and modes of
//     the socket and its directory.
//   - The program never opens a file for a client. Files and standard input that a command needs are read, and its
//     output is written, by the client, which knows from its own command line which they are, and refuses others.
//   - A socket that a program left behind when it was killed is replaced. One that is served, and a file of another kind, is not: see [ErrInUse].
//
// There is no socket where the system has no Unix sockets.
//
// # What a program may add
//
// The zero [Config] is enough. Commands tell more, or do more, with what it has: the listeners, for the health checks;
// certificates; the manual clock, which advance moves; the faults of package leverettest; what sets the memory limit aside from the broker;
// and Stop, with which stop and shutdown end the program. Without Stop these answer with an error, and so do
// the others whose part is missing.
//
// stop_app, start_app and reset stop the broker, start it again and make it a new one, while the program goes on: see [leveret.Broker.Stop].
package control
