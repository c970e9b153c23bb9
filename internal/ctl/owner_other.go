//go:build !unix

package ctl

import "io/fs"

// ownerOf would return the user that a file belongs to. Here files have no owners by number.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }
