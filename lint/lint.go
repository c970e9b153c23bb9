package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// A Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"   // it will not work: RabbitMQ refuses it, or messages are lost
	Warning Severity = "warning" // it probably does not do what was meant
	Info    Severity = "info"    // it works, and is worth knowing
)

// A Finding is one thing that the definitions say and that was probably not meant.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	VHost    string   `json:"vhost"` // empty: the document as a whole
	Kind     string   `json:"kind"`  // queue, exchange, binding, policy, operator policy, user, and so on
	Name     string   `json:"name"`
	Text     string   `json:"text"` // one or two sentences
	See      string   `json:"see"`  // its section, such as docs/lint.md#l010
}

// String returns the finding as one line.
func (f Finding) String() string {
	where := ""
	if f.VHost != "" && f.VHost != "/" {
		where = fmt.Sprintf(" in virtual host '%s'", f.VHost)
	}
	return fmt.Sprintf("%s %s %s '%s'%s: %s", f.Code, f.Severity, f.Kind, f.Name, where, f.Text)
}

// Check returns what is found in a definitions file, never nil, in the order of virtual hosts, kinds, names and codes.
// The file may be of a whole broker or of one virtual host; the virtual hosts and users of
// sections that it does not have are presumed to be there. The release of the profile decides. The error is a [*definitions.SyntaxError] if the file is no JSON object.
func Check(file []byte, p leveret.Profile) ([]Finding, error) {
	l := linter{findings: []Finding{}}
	s, err := load(file, p, l.add)
	if err != nil {
		return nil, err
	}
	defer s.close()
	l.site = s
	for _, v := range s.vhosts() {
		for _, check := range []func(vhost){
			l.checkPassedOver, l.checkIgnored, l.checkSettings, l.checkDeadLetters, l.checkPolicies, l.checkInForce,
			l.checkPermissions, l.checkBindings,
		} {
			check(v)
		}
	}
	return l.sorted(), nil
}

// Worst returns the worst severity among findings, Info if there are none.
func Worst(findings []Finding) Severity {
	worst := Info
	for _, f := range findings {
		if f.Severity == Error || worst == Info {
			worst = f.Severity
		}
	}
	return worst
}

// A linter collects findings about a site.
type linter struct {
	*site
	findings []Finding
}

// A subject is what a finding is about.
type subject struct{ vhost, kind, name string }

// add notes a finding, once.
func (l *linter) add(c Code, about subject, format string, args ...any) {
	f := Finding{c, codes[c], about.vhost, about.kind, about.name, fmt.Sprintf(format, args...),
		"docs/lint.md#" + strings.ToLower(string(c))}
	if !slices.Contains(l.findings, f) {
		l.findings = append(l.findings, f)
	}
}

func (l *linter) sorted() []Finding {
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.VHost, b.VHost), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name),
			strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Text, b.Text))
	})
	return l.findings
}

// andMore is the first of some names, in quotes, and how many others there are.
func andMore(names []string) string {
	switch n := len(names) - 1; n {
	case 0:
		return "'" + names[0] + "'"
	case 1:
		return "'" + names[0] + "' and '" + names[1] + "'"
	default:
		return fmt.Sprintf("'%s' and %d others", names[0], n)
	}
}

// reason is the broker's explanation of an error in one line, without a full stop.
func reason(err error) string {
	text := err.Error()
	var e *leveret.Error
	if errors.As(err, &e) {
		text = e.Reason
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
}

// refusalOf is what a finding about an entry of the document is about.
func refusalOf(e *definitions.Error) subject {
	kind := strings.TrimSuffix(e.Section, "s")
	if stem, found := strings.CutSuffix(e.Section, "ies"); found {
		kind = stem + "y"
	}
	return subject{"", strings.ReplaceAll(kind, "_", " "), e.Name}
}
