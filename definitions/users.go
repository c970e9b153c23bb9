package definitions

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// A legacy entry is what a document may have of a user that no export has.
type legacy struct {
	administrator json.RawMessage // true: the tag administrator, if there are no tags
	permissions   []Permission    // of a user who is new
	unreadable    bool            // the permissions are no object
}

// UnmarshalJSON reads an entry, whose tags may be of more types than others are.
// Rules: J-3.
func (e *User) UnmarshalJSON(data []byte) error {
	type entry User
	var plain struct {
		entry
		Tags          json.RawMessage `json:"tags"`
		Administrator json.RawMessage `json:"administrator"`
		Permissions   json.RawMessage `json:"permissions"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	*e = User(plain.entry)
	if plain.Tags == nil {
		e.administrator = plain.Administrator
	}
	if err := e.readPermissions(plain.Permissions); err != nil {
		return err
	}
	if plain.Tags == nil || string(plain.Tags) == "null" {
		return nil
	}
	tags, ok := jsondoc.UserTags(plain.Tags)
	if !ok {
		return errors.New("tags are neither a list nor a string")
	}
	e.Tags = newTags(tags)
	return nil
}

// readPermissions reads an object with the permissions in each virtual host. RabbitMQ goes through them by their names.
func (e *User) readPermissions(data json.RawMessage) error {
	if data == nil {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(data, &given) != nil || given == nil {
		e.unreadable = true
		return nil
	}
	for _, vhost := range slices.Sorted(maps.Keys(given)) {
		p := Permission{}
		if err := json.Unmarshal(given[vhost], &p); err != nil {
			return err
		}
		p.User, p.VHost = e.Name, vhost
		e.permissions = append(e.permissions, p)
	}
	return nil
}

// user sets a user's password and tags, and the limits that the entry has. A user who is new gets the permissions that the
// entry has.
// Rules: J-5, J-10.
func (im *importer) user(e *User, algorithm string) error {
	tags, err := im.tags(e)
	if err != nil {
		return err
	}
	if e.Password != nil && e.PasswordHash != nil {
		return refuse("both_password_and_password_hash_are_provided")
	}
	given, wrong := limits.Parse(e.Limits, "user-limits", limits.MaxChannels, limits.MaxConnections)
	if wrong != nil {
		return im.refuseUserLimits(wrong)
	}
	password, err := im.password(e, algorithm)
	if err != nil {
		return err
	}
	_, missing := im.b.User(e.Name)
	isBlank := e.Password == nil && e.PasswordHash == nil
	if missing != nil && isBlank && im.inventsPasswords {
		password = im.b.HashPassword(rand.Text())
	}
	if err := im.b.SetUser(e.Name, password, tags...); err != nil {
		return refused(err)
	}
	if missing == nil && isBlank {
		return nil // RabbitMQ takes the password away then, and looks at nothing else
	}
	if err := im.setUserLimits(e.Name, given); err != nil || missing == nil {
		return err
	}
	return im.firstPermissions(e)
}

// maxTags is how many tags a user may have in 4.3.
const maxTags = 32

// tags are the tags of an entry. Older documents say whether the user is an administrator instead.
// Rules: J-3.
func (im *importer) tags(e *User) ([]string, error) {
	switch {
	case e.Tags == nil:
		return im.legacyTags(e)
	case len(*e.Tags) > maxTags && !im.anyNumberOfTags:
		return nil, refuse("{too_many_tags,%d}", maxTags)
	case slices.ContainsFunc(*e.Tags, jsondoc.TooLongForTag):
		return nil, refuse("system_limit")
	}
	return *e.Tags, nil
}

func (im *importer) legacyTags(e *User) ([]string, error) {
	switch strings.Trim(string(e.administrator), `"`) {
	case "":
		return nil, refuse("tags_not_present")
	case "true":
		return []string{"administrator"}, nil
	case "false":
		return nil, nil
	}
	v, _ := jsondoc.Decode(e.administrator, im.memberThatCounts)
	return nil, im.refuseTerm(erl.Tuple{erl.Atom("not_boolean"), erl.JSON(v)})
}

// refuseUserLimits is the refusal of an entry whose limits are wrong: RabbitMQ shows its complaints as they are.
// Rules: J-9.
func (im *importer) refuseUserLimits(wrong []limits.Fault) error {
	terms := make(erl.List, len(wrong))
	for i, f := range wrong {
		terms[i] = f.Term()
	}
	return im.refuseTerm(erl.Tuple{erl.Atom("errors"), terms})
}

// password returns the password of an entry. algorithm is that of a hash without one.
// Rules: J-5.
func (im *importer) password(e *User, algorithm string) (leveret.PasswordHash, error) {
	if e.Password != nil {
		if im.b.ValidateCredentials(e.Name, *e.Password) != nil {
			return leveret.PasswordHash{}, refuse("credential_validation_failed")
		}
		return im.b.HashPassword(*e.Password), nil
	}
	p := leveret.PasswordHash{Algorithm: e.Algorithm}
	if e.PasswordHash == nil {
		return p, nil
	}
	p.Algorithm = cmp.Or(p.Algorithm, algorithm)
	var err error
	if p.Hash, err = erl.DecodeBase64(*e.PasswordHash); err != nil {
		return p, im.refuseTerm(erl.Tuple{erl.Atom("not_base64"), erl.Binary(*e.PasswordHash)})
	}
	return p, nil
}

// hashingAlgorithm is the algorithm of hashes that do not say theirs: documents of RabbitMQ before 3.6 have MD5.
// Rules: J-5.
func (h *Header) hashingAlgorithm() string {
	version := cmp.Or(h.RabbitMQVersion, h.RabbitVersion)
	if minor, isOld := strings.CutPrefix(version, "3."); isOld && len(minor) > 1 && minor[0] <= '5' && minor[1] == '.' {
		return "rabbit_password_hashing_md5"
	}
	return ""
}

// setUserLimits sets the given limits of a user, and leaves the others.
// Rules: J-3.
func (im *importer) setUserLimits(name string, given limits.Limits) error {
	u, err := im.b.User(name)
	if err != nil || len(given) == 0 {
		return refused(err)
	}
	return refused(im.b.SetUserLimits(name, given.OfUser(u.Limits)))
}

// firstPermissions sets the permissions of a user who is new.
// Rules: J-3.
func (im *importer) firstPermissions(e *User) error {
	if e.unreadable {
		return refuse("function_clause")
	}
	for i := range e.permissions {
		if err := im.permission(&e.permissions[i]); err != nil {
			return err
		}
	}
	return nil
}
