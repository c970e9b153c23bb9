package leveret

import (
	"fmt"
	"slices"
	"time"
)

// What a channel does is checked against its user's permissions, which are in the table of access.go. A channel
// remembers what it was allowed to do last.

// resource is a kind of thing that permissions are for.
type resource uint8

const (
	exchangeResource resource = iota
	queueResource
)

func (v *vhost) resourceText(kind resource, name string) string {
	if kind == queueResource {
		return v.queueText(name)
	}
	return v.exchangeText(name)
}

// checkLocked refuses what the channel's user has no permission for.
// Rules.
func (ch *Channel) checkLocked(perm permission, kind resource, name string) *Error {
	if ch.super {
		return nil
	}
	return ch.checkUserPermissionLocked(perm, kind, name)
}

func (ch *Channel) checkUserPermissionLocked(perm permission, kind resource, name string) *Error {
	if kind == exchangeResource && name == "" {
		name = defaultExchangeName
	}
	allowed, err := ch.allowedLocked(grantedAccess{perm, kind, name})
	if allowed || err != nil {
		return err
	}
	return AccessRefused.errorf(name, "%s", refusal(perm, ch.v.resourceText(kind, name), ch.conn.cfg.User, ch.v.rules))
}

// checkPassiveLocked is the check of a passive declare: any permission will do.
// Rules: A-5.
func (ch *Channel) checkPassiveLocked(kind resource, name string) *Error {
	if ch.v.rules.passiveUnchecked || ch.grants.remembers(kind, name) {
		return nil
	}
	for _, perm := range [...]permission{read, write} {
		if err := ch.checkLocked(perm, kind, name); err == nil || err == errLongMatch {
			return err
		}
	}
	return ch.checkLocked(configure, kind, name)
}

// checkTopicLocked refuses routing and binding keys of topic exchanges that the user has no permission for.
// Rules: A-9.
func (ch *Channel) checkTopicLocked(perm permission, exchange, key string) *Error {
	if ch.super {
		return nil
	}
	at := grantKey{ch.conn.cfg.User, ch.v.name, exchange}
	allowed, err := ch.topicAllowedLocked(at, grantedTopic{perm, exchange, key})
	if allowed || err != nil {
		return err
	}
	return AccessRefused.errorf(exchange, "%s", topicRefusal(perm, key, at, ch.v.rules))
}

// refusal is the text for a user who may not access a resource. resource is how RabbitMQ writes it: "queue 'q' in vhost
// '/'".
// Rules: A-4.
func refusal(perm permission, resource, user string, r *rules) string {
	text := fmt.Sprintf("access to %s refused for user '%s'", resource, user)
	if r.bareRefusals {
		return text
	}
	return perm.String() + " " + text
}

// topicRefusal is the text for a user who may not use a key with a topic exchange.
// Rules: A-9.
func topicRefusal(perm permission, key string, at grantKey, r *rules) string {
	return refusal(perm, fmt.Sprintf("topic '%s' in exchange '%s' in vhost '%s'", key, at.exchange, at.vhost), at.user, r)
}

// A permissionCache remembers what a channel was allowed to do last, as RabbitMQ's channels
// do: what is in it stays allowed when the permission is taken away, until the channel has
// had nothing to do for a second. The keys of topic exchanges have a cache of their own, of the same size.
// Rules: A-8.
type permissionCache struct {
	granted  recent[grantedAccess]
	topics   recent[grantedTopic]
	lastUsed int64  // ns since 1970
	epoch    uint64 // of lastUsed
}

const (
	permissionCacheIdle = int64(time.Second) // how long a channel must be idle to forget
	epochLength         = 20 * time.Millisecond
)

// epochs save channels reading the clock: a channel reads it for the first operation or delivery in an epoch only, so
// when the channel was last used is known within epochLength. With the clock read each time BenchmarkPublish/by=guest
// takes 75 % longer.
type epochs struct {
	current uint64 // never that of a new channel, 0
	end     Timer  // ends the current epoch; nil while no channel was used in it
}

// usedLocked notes that the channel has something to do. A channel of the program itself is asked for no permission, and
// sets no timer: a simulation has a new epoch at each step of its clock.
// Rules: A-8.
func (ch *Channel) usedLocked() {
	if !ch.super && ch.grants.epoch != ch.v.timing.epochs.current {
		ch.grants.enterEpochLocked(ch.v)
	}
}

func (p *permissionCache) enterEpochLocked(v *vhost) {
	now := v.nowLocked()
	if now-p.lastUsed >= permissionCacheIdle {
		p.forget()
	}
	p.lastUsed, p.epoch = now, v.timing.epochs.current
	if v.timing.epochs.end == nil {
		v.timing.epochs.end = v.b.clock.AfterFunc(epochLength, v.endEpoch)
	}
}

func (e *epochs) stop() {
	if e.end != nil {
		e.end.Stop()
	}
}

func (v *vhost) endEpoch() {
	v.mu.Lock()
	v.timing.epochs.current++
	v.timing.epochs.end = nil
	v.mu.Unlock()
}

type grantedAccess struct {
	perm permission
	kind resource
	name string
}

type grantedTopic struct {
	perm          permission
	exchange, key string
}

// allowedLocked is the table's answer, or an earlier one. errLongMatch says that the table's takes long.
func (ch *Channel) allowedLocked(a grantedAccess) (bool, *Error) {
	if ch.grants.granted.has(a) {
		return true, nil
	}
	p, some := ch.v.b.access.Load().pattern(grantKey{user: ch.conn.cfg.User, vhost: ch.v.name}, a.perm)
	if !some {
		return false, nil
	}
	found, err := ch.v.foundLocked(p, a.name)
	if found {
		ch.grants.granted.add(a)
	}
	return found, err
}

// forget drops all that the channel was allowed to do.
func (p *permissionCache) forget() {
	p.granted.clear()
	p.topics.clear()
}

// remembers reports whether any access to the resource is remembered.
func (p *permissionCache) remembers(kind resource, name string) bool {
	return slices.ContainsFunc(p.granted.values, func(a grantedAccess) bool { return a.kind == kind && a.name == name })
}

// topicAllowedLocked is allowedLocked for a key of a topic exchange. The user and the virtual host of at are the
// channel's.
func (ch *Channel) topicAllowedLocked(at grantKey, a grantedTopic) (allowed bool, err *Error) {
	if ch.grants.topics.has(a) {
		return true, nil
	}
	p, some := ch.v.b.access.Load().topicPattern(at, a.perm)
	switch {
	case !some:
		allowed = true
	case p != nil:
		allowed, err = ch.v.foundLocked(p, a.key)
	}
	if allowed {
		ch.grants.topics.add(a)
	}
	return allowed, err
}

// permissionCacheSize is how many different accesses a channel remembers.
const permissionCacheSize = 12

// recent holds the last permissionCacheSize values that were added.
type recent[T comparable] struct {
	values []T
	oldest int // index of the value that the next one replaces, once there are enough
}

func (r *recent[T]) has(v T) bool { return slices.Contains(r.values, v) }

// add adds a value. The one added first goes, used since or not.
func (r *recent[T]) add(v T) {
	if len(r.values) < permissionCacheSize {
		r.values = append(r.values, v)
		return
	}
	r.values[r.oldest] = v
	r.oldest = (r.oldest + 1) % permissionCacheSize
}

func (r *recent[T]) clear() { r.values, r.oldest = r.values[:0], 0 }
