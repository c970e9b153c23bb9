package page

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A view's template is parsed when somebody first looks at the view, so a mistake in it shows here.
func TestTemplatesParse(t *testing.T) {
	used := map[string]bool{"layout": true, "parts": true}
	for path, v := range views {
		assert.NotPanics(t, func() { used[templateOf(v)] = true }, path)
	}
	used[templateOf(&unknownView)] = true
	all, err := fs.Glob(templates, "templates/*.html")
	require.NoError(t, err)
	for _, file := range all {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".html")
		assert.True(t, used[name], "no view has the template %s", name)
	}
}

// templateOf returns the name of the file of a view's template: that which is neither the layout nor the parts.
func templateOf(v *view) string {
	for _, t := range v.templates().Templates() {
		name, isFile := strings.CutSuffix(t.Name(), ".html")
		if isFile && name != "layout" && name != "parts" {
			return name
		}
	}
	return ""
}
