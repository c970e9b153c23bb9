package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Who is at the other end of the control socket. Passwords go over it, and commands that may do anything, so client and
// server check before a word is said that the other one is this user or root. Linux tells whose the process is.
// Elsewhere the owner and the mode of the socket and of its directory have to do: nobody else could have put a socket
// there.

// errStranger is the refusal of somebody else.
var errStranger = errors.New("belongs to somebody else")

// isFriend reports whether a user may be at the other end.
func isFriend(uid int) bool { return uid == os.Geteuid() || uid == 0 }

// checkServer refuses a server of another user. root may talk to one whose socket lies in a directory that only the
// server's user can write: nobody else is there.
func checkServer(c *net.UnixConn, socket string) error {
	uid, known, err := peerOf(c)
	switch {
	case err != nil:
		return err
	case !known:
		return checkOwners(socket)
	case isFriend(uid):
		return nil
	case os.Geteuid() == 0 && ownsDirectory(uid, filepath.Dir(socket)):
		return nil
	}
	return fmt.Errorf("the server %w, user %d: use leveret ctl as that user", errStranger, uid)
}

// checkClient refuses a client of another user.
func checkClient(c *net.UnixConn) error {
	uid, known, err := peerOf(c)
	if err == nil && known && !isFriend(uid) {
		return errStranger
	}
	return err // where the system does not tell, the socket's mode keeps others out
}

// checkOwners refuses a socket that somebody else may have made.
func checkOwners(socket string) error {
	info, err := os.Lstat(socket)
	if err != nil {
		return err
	}
	if uid, known := ownerOf(info); known && (!isFriend(uid) || info.Mode().Perm()&0o077 != 0) {
		return fmt.Errorf("%s %w, or others may open it", socket, errStranger)
	}
	dir := filepath.Dir(socket)
	if info, err = os.Stat(dir); err != nil {
		return err
	}
	if uid, known := ownerOf(info); known && (!isFriend(uid) || mayReplace(info)) {
		return fmt.Errorf("%s %w, or others may write to it", dir, errStranger)
	}
	return nil
}

// mayReplace reports whether others than the owner of a directory may replace what is in it.
func mayReplace(dir fs.FileInfo) bool {
	return dir.Mode().Perm()&0o022 != 0 && dir.Mode()&fs.ModeSticky == 0
}

// ownsDirectory reports whether a directory is a user's, and nobody else's may write to it.
func ownsDirectory(uid int, dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, known := ownerOf(info)
	return known && owner == uid && info.Mode().Perm()&0o022 == 0
}

// makePrivate makes a directory that only this user may enter, or checks that the one there is such.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkPrivate(dir)
}

// checkPrivate refuses what is no directory that only this user may enter.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	uid, known := ownerOf(info)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case known && uid != os.Geteuid():
		return fmt.Errorf("%s %w", dir, errStranger)
	case known && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may enter %s, which is to be for this user only: mode %v", dir, info.Mode().Perm())
	}
	return nil
}
