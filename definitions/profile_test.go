package definitions_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/internal/shown"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write anew what the tests of this package keep in testdata")

const shownFile = "../testdata/shown.txt"

// tables are for fields about what no scenario imports: whole virtual hosts, and documents of which something is left
// out. Each has a document, and what the virtual host "v" of it becomes on each release.
var tables = map[string]struct {
	document string
	want     map[string]string
}{
	"keepsQueueType": {`{"vhosts":[{"name":"v","metadata":{"default_queue_type":"quorum"}},{"name":"v"}]}`,
		map[string]string{"4.3": "classic", "3.10": "quorum"}},
	"topFirst": {`{"vhosts":[{"name":"v","description":"beside","metadata":{"description":"within"}}]}`,
		map[string]string{"4.3": "within classic", "3.10": "beside classic"}},
	"tagsOfOctets": {`{"vhosts":[{"name":"v","tags":[" é ","l"]}]}`,
		map[string]string{"4.3": "classic é l", "3.10": "classic Ã© l"}},
	"noNewExchangeTypes": {`{"vhosts":[{"name":"v"}],"exchanges":[{"vhost":"v","name":"x","type":"x-modulus-hash"}]}`,
		map[string]string{"4.3": "classic x", "3.10": "classic"}},
	"anyNumberOfTags": {`{"users":[{"name":"u","password":"p","tags":"` + strings.Repeat("t,", 33) + `"}],"vhosts":[{"name":"v"}]}`,
		map[string]string{"4.3": "users[0] 'u': {too_many_tags,32}", "3.10": "classic hashed"}},
	"inventsPasswords": {`{"users":[{"name":"u","tags":[]}],"vhosts":[{"name":"v"}]}`,
		map[string]string{"4.3": "classic", "3.10": "classic hashed"}},
}

// imported imports what is supported of a document, and describes the virtual host "v" with its tags and its own exchanges, and whether the
// user "u" has a password, or tells why it was refused.
func imported(t testing.TB, p leveret.Profile, document string) string {
	b := leveret.New(leveret.WithProfile(p))
	defer b.Close()
	if _, err := definitions.ImportSupported(b, []byte(document)); err != nil {
		return err.Error()
	}
	v, err := b.VHost("v")
	require.NoError(t, err)
	info := v.Info()
	words := append([]string{info.Description, string(info.DefaultQueueType)}, info.Tags...)
	for _, x := range v.Exchanges() {
		if x.Name != "" && !strings.HasPrefix(x.Name, "amq.") {
			words = append(words, x.Name)
		}
	}
	if u, err := b.User("u"); err == nil && len(u.Password.Hash) > 0 {
		words = append(words, "hashed")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// TestEveryRuleIsShown changes each field of what differs between releases and demands that a scenario notices.
func TestEveryRuleIsShown(t *testing.T) {
	list, err := shown.Read(shownFile)
	require.NoError(t, err)
	scripts, err := scenario.Load(os.DirFS("../testdata/scenarios"))
	require.NoError(t, err)
	numbers, err := shown.FieldRules("..")
	require.NoError(t, err)
	now := shown.List{}
	for p, release := range scenario.Releases {
		for _, name := range definitions.FieldNames() {
			key := shown.Key{Release: release, Switch: shown.DefinitionsPrefix + name}
			t.Run(release+"/"+name, func(t *testing.T) {
				table, tabled := tables[name]
				if tabled {
					require.Equal(t, table.want[release], imported(t, p, table.document))
				}
				definitions.ChangeField(t, p, name)
				if tabled {
					require.NotEqual(t, table.want[release], imported(t, p, table.document))
					now[key] = []string{"TestEveryRuleIsShown"}
					return
				}
				now[key] = witnesses(scripts, numbers.Of(key.Switch), p)
				require.NotEmpty(t, now[key], "no scenario of %v notices", numbers.Of(key.Switch))
			})
		}
	}
	if *update && !t.Failed() {
		list.Replace(shown.BeginsWith(shown.DefinitionsPrefix), now)
		require.NoError(t, list.Write(shownFile))
	}
}

// witnesses are the scripts that name one of the numbers and show something else than they expect.
func witnesses(scripts []*scenario.Script, numbers []string, p leveret.Profile) []string {
	var names []string
	for _, s := range scripts {
		named := slices.ContainsFunc(numbers, func(n string) bool { return slices.Contains(s.Rules, n) })
		if named && s.For(scenario.Releases[p], "go") && differs(s, scenario.NewDirect(p)) {
			names = append(names, s.Name)
		}
	}
	return names
}

// differs reports whether a script shows something else than it expects.
func differs(s *scenario.Script, d *scenario.Direct) bool {
	defer d.Close()
	l, err := scenario.Compare(s, d)
	return err != nil || l.Diff() != ""
}
