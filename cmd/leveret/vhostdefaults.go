package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/pcre"
)

// A configuration file says what each new virtual host has from the beginning: limits, operator policies and users with
// permissions. Each is for the virtual hosts in whose name its pattern is found, and has an ID in its keys.

// vhostDefaults are those of a file, by ID.
type vhostDefaults struct {
	limits   map[string]*defaultLimits
	policies map[string]*defaultPolicy
	users    map[string]*defaultUser
}

type defaultLimits struct {
	pattern *pcre.Pattern // nil: any virtual host
	leveret.VHostLimits
}

type defaultPolicy struct {
	pattern *pcre.Pattern // of virtual hosts
	leveret.Policy
}

type defaultUser struct {
	pattern     *pcre.Pattern // of virtual hosts
	password    string        // empty: the user has none
	tags        []string
	permissions leveret.Permissions
}

func newVHostDefaults() vhostDefaults {
	return vhostDefaults{map[string]*defaultLimits{}, map[string]*defaultPolicy{}, map[string]*defaultUser{}}
}

// defaultKeys are the keys of what new virtual hosts have.
func defaultKeys() []configKey {
	keys := []configKey{
		{"default_limits.vhosts.{id}.pattern", ofLimits(func(l *line, d *defaultLimits) error { return l.pattern(&d.pattern) })},
		{"default_limits.vhosts.{id}.max_connections", ofLimits(func(l *line, d *defaultLimits) error { return l.positive(&d.MaxConnections) })},
		{"default_limits.vhosts.{id}.max_queues", ofLimits(func(l *line, d *defaultLimits) error { return l.positive(&d.MaxQueues) })},
		{"default_policies.operator.{id}.vhost_pattern", ofPolicy(func(l *line, d *defaultPolicy) error { return l.pattern(&d.pattern) })},
		{"default_policies.operator.{id}.queue_pattern", ofPolicy(func(l *line, d *defaultPolicy) error { d.Pattern = l.Value; return nil })},
		{"default_policies.operator.{id}.apply_to", ofPolicy(func(l *line, d *defaultPolicy) error { d.ApplyTo = leveret.ApplyTo(l.Value); return nil })},
		{"default_users.{name}.vhost_pattern", ofUser(func(l *line, u *defaultUser) error { return l.pattern(&u.pattern) })},
		{"default_users.{name}.password", ofUser(func(l *line, u *defaultUser) error { u.password = l.Value; return nil })},
		{"default_users.{name}.tags", ofUser(func(l *line, u *defaultUser) error { u.tags = splitList(l.Value); return nil })},
		{"default_users.{name}.configure", ofUser(func(l *line, u *defaultUser) error { u.permissions.Configure = l.Value; return nil })},
		{"default_users.{name}.write", ofUser(func(l *line, u *defaultUser) error { u.permissions.Write = l.Value; return nil })},
		{"default_users.{name}.read", ofUser(func(l *line, u *defaultUser) error { u.permissions.Read = l.Value; return nil })},
	}
	for key, read := range map[string]func(*line, *int) error{
		"expires": (*line).time, "message_ttl": (*line).time, "max_length": (*line).positive, "max_length_bytes": (*line).policySize,
		"max_in_memory_length": (*line).positive, "max_in_memory_bytes": (*line).policySize, "delivery_limit": (*line).positive,
	} {
		keys = append(keys, configKey{"default_policies.operator.{id}." + key, ofPolicy(func(l *line, d *defaultPolicy) error {
			var n int
			err := read(l, &n)
			d.Definition[strings.ReplaceAll(key, "_", "-")] = n
			return err
		})})
	}
	return keys
}

func ofLimits(set func(*line, *defaultLimits) error) func(*line) error {
	return func(l *line) error {
		return set(l, entryOf(l.vhosts.limits, l.variable, defaultLimits{VHostLimits: leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit}}))
	}
}

func ofPolicy(set func(*line, *defaultPolicy) error) func(*line) error {
	return func(l *line) error {
		return set(l, entryOf(l.vhosts.policies, l.variable, defaultPolicy{Policy: leveret.Policy{Name: l.variable, Pattern: ".*", Definition: leveret.Table{}}}))
	}
}

func ofUser(set func(*line, *defaultUser) error) func(*line) error {
	return func(l *line) error {
		return set(l, entryOf(l.vhosts.users, l.variable, defaultUser{permissions: leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}}))
	}
}

// entryOf returns the entry of that ID, which is new if no line has named it.
func entryOf[T any](entries map[string]*T, id string, fresh T) *T {
	if entries[id] == nil {
		entries[id] = &fresh
	}
	return entries[id]
}

func (l *line) pattern(to **pcre.Pattern) error {
	p, fault := pcre.Compile(l.Value, pcre.PCRE2)
	if fault != nil {
		return fmt.Errorf("%q is not a regular expression: %w", l.Value, fault)
	}
	*to = p
	return nil
}

func (l *line) positive(to *int) error {
	n, err := l.number()
	if err == nil && n == 0 {
		err = errors.New("0 is not positive")
	}
	*to = n
	return err
}

// A size of an operator policy has other units than those of memory and disks have.
var (
	policySize      = regexp.MustCompile(`^([0-9]+)(KB|kb|MB|mb|GB|gb)?$`)
	policySizeUnits = map[string]int{"": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
)

func (l *line) policySize(to *int) error {
	if parts := policySize.FindStringSubmatch(l.Value); parts != nil {
		n, err := strconv.Atoi(parts[1])
		if unit := policySizeUnits[strings.ToLower(parts[2])]; err == nil && n <= math.MaxInt/unit {
			*to = n * unit
			return nil
		}
	}
	return fmt.Errorf("%q is not a size such as 2GB, with KB, MB or GB or without a unit", l.Value)
}

// A time is one or more numbers with units, in any order.
var (
	timeWithUnits = regexp.MustCompile(`(?i)^([0-9]*\.?[0-9]+(f|w|d|h|ms|m|s))+$`)
	timePart      = regexp.MustCompile(`(?i)([0-9.]+)(f|w|d|h|ms|m|s)`)
	timeUnits     = map[string]time.Duration{"f": 14 * 24 * time.Hour, "w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute,
		"s": time.Second, "ms": time.Millisecond}
)

// time reads a time in milliseconds. A part of a millisecond counts as one.
func (l *line) time(to *int) error {
	var sum float64
	if timeWithUnits.MatchString(l.Value) {
		for _, part := range timePart.FindAllStringSubmatch(l.Value, -1) {
			n, _ := strconv.ParseFloat(part[1], 64) // the pattern leaves only what is out of range, which is infinite
			sum += n * float64(timeUnits[strings.ToLower(part[2])].Milliseconds())
		}
	}
	if sum <= 0 || sum > math.MaxInt32*1e6 {
		return fmt.Errorf("%q is not a time such as 1h30m", l.Value)
	}
	*to = int(math.Ceil(sum))
	return nil
}

func splitList(text string) (all []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// set gives a new virtual host what it has from the beginning. Of limits those of the first ID apply whose pattern matches. A user
// that there is already stays as it is, but for the permissions.
func (d vhostDefaults) set(v *leveret.VHost) error {
	b, applies := v.Broker(), func(p *pcre.Pattern) bool { return p == nil || p.Match(v.Name()) }
	for _, id := range slices.Sorted(maps.Keys(d.limits)) {
		if l := d.limits[id]; applies(l.pattern) {
			if err := v.SetLimits(l.VHostLimits); err != nil {
				return err
			}
			break
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.policies)) {
		if p := d.policies[id]; applies(p.pattern) {
			if err := v.SetOperatorPolicy(p.Policy); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.users)) {
		if u := d.users[name]; applies(u.pattern) {
			if err := u.set(b, v, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *defaultUser) set(b *leveret.Broker, v *leveret.VHost, name string) error {
	if _, err := b.User(name); err != nil {
		var password leveret.PasswordHash
		if u.password != "" {
			if err := b.ValidateCredentials(name, u.password); err != nil {
				return err
			}
			password = b.HashPassword(u.password)
		}
		if err := b.SetUser(name, password, u.tags...); err != nil {
			return err
		}
	}
	return v.SetPermissions(name, u.permissions)
}

// check tries all of it on a virtual host of another broker.
func (d vhostDefaults) check(p leveret.Profile) error {
	b := leveret.New(leveret.WithProfile(p))
	defer b.Close()
	v, err := b.VHost("/")
	if err != nil {
		return err
	}
	for id, policy := range d.policies {
		if err := v.SetOperatorPolicy(policy.Policy); err != nil {
			return fmt.Errorf("default_policies.operator.%s: %w", id, err)
		}
	}
	for name, u := range d.users {
		if err := u.set(b, v, name); err != nil {
			return fmt.Errorf("default_users.%s: %w", name, err)
		}
	}
	return nil
}
