// Package protection keeps which virtual hosts are protected from deletion: commands and the management API refuse to delete
// them. The broker's own API does not ask, and a restart of the process forgets.
package protection

import (
	"runtime"
	"sync"
	"weak"

	"github.com/leveretmq/leveret"
)

// known has whether a virtual host is protected, if that was ever set. It keeps no virtual host.
var known = struct {
	mu sync.Mutex
	of map[weak.Pointer[leveret.VHost]]bool
}{of: map[weak.Pointer[leveret.VHost]]bool{}}

// Set protects a virtual host, or lifts the protection.
func Set(v *leveret.VHost, on bool) {
	key := weak.Make(v)
	known.mu.Lock()
	defer known.mu.Unlock()
	if _, again := known.of[key]; !again {
		runtime.AddCleanup(v, forget, key)
	}
	known.of[key] = on
}

// Of reports whether a virtual host is protected, and whether that was ever set.
func Of(v *leveret.VHost) (on, set bool) {
	known.mu.Lock()
	defer known.mu.Unlock()
	on, set = known.of[weak.Make(v)]
	return on, set
}

// Forget forgets a virtual host that is deleted: one of the same name has none of its settings.
func Forget(v *leveret.VHost) { forget(weak.Make(v)) }

func forget(key weak.Pointer[leveret.VHost]) {
	known.mu.Lock()
	defer known.mu.Unlock()
	delete(known.of, key)
}
