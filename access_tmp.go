package leveret

type permission uint8

const (
	configure permission = iota
	write
	read
)

type globalParameter struct{}
type accessTable struct{}

func initialAccess() *accessTable                     { return &accessTable{} }
func (t *accessTable) hasVHost(u, v string) bool      { return true }
func (t *accessTable) limits(u string) UserLimits     { return UserLimits{-1, -1} }
func (t *accessTable) isImpersonator(u string) bool   { return false }
func (t *accessTable) withoutVHost(n string) *accessTable { return t }
func (t *accessTable) topicAllowed(user, vhost, exchange string, perm permission, key string, r *rules) bool {
	return true
}
func (b *Broker) updateAccess(f func(*accessTable) (*accessTable, error)) error { return nil }

type permissionCache struct{}

func (p *permissionCache) allowed(t *accessTable, user, vhost string, perm permission, kind resource, name string) bool {
	return true
}
func refusal(perm permission, rs, user string, r *rules) string { return "" }
func topicRefusal(perm permission, key, x, v, u string, r *rules) string { return "" }
