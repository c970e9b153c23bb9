package page

import (
	"embed"
	"html/template"
	"net/url"
	"slices"
	"sync"
)

// All views, and the template of each. A template has a part "live", which changes by itself, and a part "rest", with
// what a reader types into.

//go:embed templates
var templates embed.FS

// parsed returns the template of a view, with the parts that all views have. It is parsed when the view is first shown: all of
// them take 5 ms and 1.8 MB, which every program that imports the package would spend as it starts.
func parsed(name string) func() *template.Template {
	return sync.OnceValue(func() *template.Template { return parse(name) })
}

func parse(name string) *template.Template {
	t := template.New("").Funcs(template.FuncMap{
		"count": func(v any) string { return count(number(v)) }, "rate": func(v any) string { return perSecond(number(v)) },
		"size": func(v any) string { return size(number(v)) }, "text": text, "at": at, "to": to, "id": url.QueryEscape,
	})
	return template.Must(t.ParseFS(templates, "templates/layout.html", "templates/parts.html", "templates/"+name+".html"))
}

var parsedList = parsed("list")

var views = map[string]*view{
	"/":            {title: "Overview", templates: parsed("overview"), load: (*visit).overview},
	"/queues":      {title: "Queues", templates: parsedList, load: lister(queueTable)},
	"/exchanges":   {title: "Exchanges", templates: parsedList, load: lister(exchangeTable)},
	"/bindings":    {title: "Bindings", templates: parsedList, load: lister(bindingTable)},
	"/connections": {title: "Connections", templates: parsedList, load: lister(connectionTable)},
	"/channels":    {title: "Channels", templates: parsedList, load: lister(channelTable)},
	"/consumers":   {title: "Consumers", templates: parsedList, load: lister(consumerTable)},
	"/policies":    {title: "Policies", templates: parsed("policies"), load: lister(policyTable, operatorPolicyTable)},
	"/topology":    {title: "Topology", templates: parsed("topology"), load: (*visit).topology},
	"/journeys":    {title: "Journeys", templates: parsed("journeys"), load: (*visit).journeys, acts: recordingActs},
	"/journey":     {title: "Journey", templates: parsed("journey"), load: (*visit).journey},
	"/policy":      {title: "Policy", templates: parsed("policy"), named: true, still: true, load: (*visit).policy, acts: policyActs},
	"/clock":       {title: "Clock", templates: parsed("clock"), load: (*visit).showClock, acts: clockActs},
	"/queue":       {title: "Queue", templates: parsed("queue"), named: true, load: (*visit).queue, acts: queueActs},
	"/exchange":    {title: "Exchange", templates: parsed("exchange"), named: true, load: (*visit).exchange, acts: exchangeActs},
	"/messages":    {title: "Messages of", templates: parsed("messages"), named: true, still: true, load: (*visit).messages},
}

var unknownView = view{title: "Not found", still: true, templates: parsed("unknown"), load: func(*visit) (any, error) {
	return nil, &Refusal{Status: 404, Reason: "There is no such page."}
}}

// A section is an entry of the menu.
type section struct {
	Title, Href string
	Here        bool
}

var menu = []section{{Title: "Overview", Href: "/"}, {Title: "Queues", Href: "/queues"}, {Title: "Exchanges", Href: "/exchanges"},
	{Title: "Bindings", Href: "/bindings"}, {Title: "Connections", Href: "/connections"}, {Title: "Channels", Href: "/channels"},
	{Title: "Consumers", Href: "/consumers"}, {Title: "Policies", Href: "/policies"}, {Title: "Topology", Href: "/topology"},
	{Title: "Journeys", Href: "/journeys"}}

// sections is the menu as this view has it.
func (v *visit) sections() []section {
	all := slices.Clone(menu)
	if v.clock != nil {
		all = append(all, section{Title: "Clock", Href: "/clock"})
	}
	for i := range all {
		all[i].Here = all[i].Href == v.request.URL.Path
	}
	return all
}
