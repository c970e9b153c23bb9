package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// Parse reads a document and checks that every entry has the form it must have. What the entries
// say is not checked before they are applied. Sections of other names are passed over. The error is
// a *SyntaxError or an *Error. Of a key that occurs twice in an object the first one counts, as in RabbitMQ 4.3.
func Parse(data []byte) (*Definitions, error) {
	return parse(data, jsondoc.First, (*Definitions).sections)
}

// parseFor is Parse as the broker's release reads documents.
func parseFor(b *leveret.Broker, data []byte) (*Definitions, error) {
	return parse(data, releases[b.Profile()].memberThatCounts, (*Definitions).sections)
}

// A selection are the sections of a document that are read.
type selection func(*Definitions, map[string]json.RawMessage) error

// Rules: J-11.
func parse(data []byte, which jsondoc.Counts, read selection) (*Definitions, error) {
	data = jsondoc.WithoutMark(data)
	var wrong *jsondoc.Error
	if errors.As(jsondoc.Check(data, which), &wrong) {
		return nil, syntaxError(data, int64(wrong.Offset), wrong.Error())
	}
	data = jsondoc.Unique(data, which)
	sections, err := readSections(data)
	if err != nil {
		return nil, err
	}
	d := &Definitions{}
	_ = json.Unmarshal(data, &d.Header) // a header of another form is no reason to refuse the document
	return d, read(d, sections)
}

// sections reads all sections.
func (d *Definitions) sections(from map[string]json.RawMessage) error {
	return cmp.Or(
		readSection(from, "users", &d.Users),
		readSection(from, "vhosts", &d.VHosts),
		readSection(from, "permissions", &d.Permissions),
		readSection(from, "topic_permissions", &d.TopicPermissions),
		readSection(from, "parameters", &d.Parameters),
		readSection(from, "global_parameters", &d.GlobalParameters),
		readSection(from, "policies", &d.Policies),
		readSection(from, "queues", &d.Queues),
		readSection(from, "exchanges", &d.Exchanges),
		readSection(from, "bindings", &d.Bindings),
	)
}

// sectionsOfOne reads the sections of a virtual host. An import into one does not look at the others, whatever they are.
func (d *Definitions) sectionsOfOne(from map[string]json.RawMessage) error {
	return cmp.Or(
		readSection(from, "exchanges", &d.Exchanges),
		readSection(from, "parameters", &d.Parameters),
		readSection(from, "policies", &d.Policies),
		readSection(from, "queues", &d.Queues),
		readSection(from, "bindings", &d.Bindings),
	)
}

// readSections splits a document into its sections.
func readSections(data []byte) (map[string]json.RawMessage, error) {
	var sections map[string]json.RawMessage
	err := json.Unmarshal(data, &sections)
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &broken):
		return nil, syntaxError(data, broken.Offset-1, err.Error()) // the offset is behind the character
	case err != nil, sections == nil:
		return nil, syntaxError(data, 0, "the document is not an object")
	}
	return sections, nil
}

// readSection reads one list; every entry must have a name.
func readSection[E any, P entry[E]](sections map[string]json.RawMessage, section string, to *[]E) error {
	raw, given := sections[section]
	if !given {
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return &Error{section, -1, "", refuse("not a list")}
	}
	entries := make([]E, len(items))
	for i, item := range items {
		e := &entries[i]
		if err := readEntry(item, e); err != nil {
			return &Error{section, i, P(e).label(), err}
		}
		if P(e).label() == "" && !emptyName(section, item) {
			return &Error{section, i, "", refuse("the name is missing")}
		}
	}
	*to = entries
	return nil
}

// emptyName reports whether an entry without a label has a name all the same: the empty one, which queues, policies and
// parameters may have.
func emptyName(section string, item json.RawMessage) bool {
	var entry struct{ Name *string }
	mayBeEmpty := section == "queues" || section == "policies" || section == "parameters"
	return mayBeEmpty && json.Unmarshal(item, &entry) == nil && entry.Name != nil
}

func readEntry(item json.RawMessage, entry any) error {
	if item[0] != '{' {
		return refuse("not an object")
	}
	if err := json.Unmarshal(item, entry); err != nil {
		return wrongForm(err)
	}
	return nil
}

// wrongForm says without words of this program what a value should have been.
func wrongForm(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return refuse("%v", err)
	}
	expected := wrong.Type.String()
	switch wrong.Type.Kind() {
	case reflect.Map, reflect.Struct:
		expected = "an object"
	case reflect.Slice:
		expected = "a list"
	case reflect.Bool:
		expected = "true or false"
	case reflect.String:
		expected = "a string"
	case reflect.Float64:
		expected = "a number"
	}
	text := fmt.Sprintf("should be %s, actually was a %s", expected, wrong.Value)
	if field := strings.TrimPrefix(wrong.Field, "entry."); field != "" { // of a type within UnmarshalJSON
		text = field + " " + text
	}
	return refuse("%s", text)
}
