//go:build !linux

package ctl

import "net"

// peerOf would return the user of the process at the other end. Here the system does not tell.
func peerOf(*net.UnixConn) (uid int, known bool, err error) { return 0, false, nil }
