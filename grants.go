package leveret

import (
	"cmp"

	"github.com/google/btree"
)

// grants are what users may do somewhere, by user and by place. A copy costs nothing, whatever there is.
type grants[T any] struct {
	byUser  *btree.BTreeG[given[T]]
	byPlace *btree.BTreeG[given[T]]
}

// A grantKey is for whom and where something is granted.
type grantKey struct{ user, vhost, exchange string } // no exchange: the virtual host

type given[T any] struct {
	grantKey
	what T
}

const grantsDegree = 16 // of the trees

func newGrants[T any]() grants[T] {
	return grants[T]{
		byUser: btree.NewG(grantsDegree, func(a, b given[T]) bool {
			return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.vhost, b.vhost), cmp.Compare(a.exchange, b.exchange)) < 0
		}),
		byPlace: btree.NewG(grantsDegree, func(a, b given[T]) bool {
			return cmp.Or(cmp.Compare(a.vhost, b.vhost), cmp.Compare(a.exchange, b.exchange), cmp.Compare(a.user, b.user)) < 0
		}),
	}
}

func (g grants[T]) clone() grants[T] { return grants[T]{g.byUser.Clone(), g.byPlace.Clone()} }

// get returns what is granted; the zero T for nothing.
func (g grants[T]) get(key grantKey) T {
	found, _ := g.byUser.Get(given[T]{grantKey: key})
	return found.what
}

func (g grants[T]) set(key grantKey, what T) {
	g.byUser.ReplaceOrInsert(given[T]{key, what})
	g.byPlace.ReplaceOrInsert(given[T]{key, what})
}

func (g grants[T]) delete(keys []grantKey) {
	for _, key := range keys {
		g.byUser.Delete(given[T]{grantKey: key})
		g.byPlace.Delete(given[T]{grantKey: key})
	}
}

// ofUser lists what a user was granted, by virtual host and exchange.
func (g grants[T]) ofUser(user string) []grantKey {
	return from(g.byUser, grantKey{user: user}, func(k grantKey) bool { return k.user == user })
}

// of lists what a user was granted in a virtual host, without a user what anybody was.
func (g grants[T]) of(user, vhost string) []grantKey {
	if user == "" {
		return g.inVHost(vhost)
	}
	return from(g.byUser, grantKey{user: user, vhost: vhost}, func(k grantKey) bool { return k.user == user && k.vhost == vhost })
}

// inVHost lists what was granted in a virtual host, by exchange and user.
func (g grants[T]) inVHost(vhost string) []grantKey {
	return from(g.byPlace, grantKey{vhost: vhost}, func(k grantKey) bool { return k.vhost == vhost })
}

// atExchange lists what was granted at an exchange, by user.
func (g grants[T]) atExchange(vhost, exchange string) []grantKey {
	return from(g.byPlace, grantKey{vhost: vhost, exchange: exchange}, func(k grantKey) bool {
		return k.vhost == vhost && k.exchange == exchange
	})
}

// from lists the keys from the given one on, as long as they belong to what is listed.
func from[T any](tree *btree.BTreeG[given[T]], first grantKey, belongs func(grantKey) bool) []grantKey {
	var keys []grantKey
	tree.AscendGreaterOrEqual(given[T]{grantKey: first}, func(e given[T]) bool {
		if !belongs(e.grantKey) {
			return false
		}
		keys = append(keys, e.grantKey)
		return true
	})
	return keys
}
