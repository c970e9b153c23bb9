package mgmt

import (
	"bytes"
	"html/template"
	"strings"
)

// indexPage is the description to which the API's root leads. What the paths mean is told by RabbitMQ's documentation.
var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Management HTTP API</title></head>
<body>
<h1>Management HTTP API</h1>
<p>leveret answers as RabbitMQ {{.Version}}. Requests log in with basic authentication.</p>
<table>
{{range .Paths}}<tr><td>{{.Methods}}</td><td>/api/{{.Path}}</td></tr>
{{end}}</table>
</body>
</html>
`))

// index lists the paths of the release with their methods.
func (r *router) index(*call) (any, error) {
	type path struct{ Methods, Path string }
	var paths []path
	for _, route := range r.routes {
		paths = append(paths, path{strings.Join(route.allowed(), " "), route.path})
	}
	var page bytes.Buffer
	err := indexPage.Execute(&page, map[string]any{"Version": r.version(), "Paths": paths})
	return document(page.Bytes()), err
}
