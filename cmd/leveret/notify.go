package main

import (
	"net"
	"os"
	"strings"
)

// notify tells systemd of a change of the service's state, such as READY=1, if the process runs as one of type notify. The
// environment says where the messages go: a datagram socket, in the abstract namespace if its name begins with @.
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "@"); ok {
		name = "\x00" + rest
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
