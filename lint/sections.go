package lint

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/similar"
)

// sections are the names that a file of definitions has at its top.
var sections = func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[definitions.Definitions]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}()

// checkSections reports what an import passes over without a word, because it looks for its sections only.
func checkSections(file []byte, found report) {
	var given map[string]json.RawMessage
	if json.Unmarshal(file, &given) != nil {
		return // Parse says what is wrong
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(sections, name) {
			found(UnknownSection, subject{"", "section", name}, "An import does not look at it.%s", meant(similar.Name(name, sections)))
		}
	}
}

// meant names what may have been meant, if there is something.
func meant(similar string) string {
	if similar == "" {
		return ""
	}
	return " Probably '" + similar + "' is meant."
}
