package page

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
)

// The topology of a virtual host as a picture: what package graph draws, with rates on what messages go along, and with
// what was lost.

// mostDrawn is how many queues and exchanges are drawn; a picture of more tells nobody anything.
const mostDrawn = 300

// A topologyData is what the view of a topology shows.
type topologyData struct {
	VHosts       []section
	Picture      template.HTML // from package graph, which escapes names
	DOT, Mermaid string
}

func (v *visit) topology() (any, error) {
	vhosts, err := v.vhosts("/topology")
	if err != nil {
		return nil, err
	}
	d := topologyData{VHosts: vhosts}
	vhost := v.vhost()
	list := url.Values{"disable_stats": {"true"}, "columns": {"name"}}
	if _, err := v.source.Ask(v.request, Question{Path: []string{"queues", vhost}, Query: list}); err != nil {
		return nil, err
	}
	host, err := v.broker.VHost(vhost)
	if err != nil {
		return nil, err
	}
	if n := host.Info().Queues + len(host.Exchanges()); n > mostDrawn {
		return nil, &Refusal{http.StatusConflict, fmt.Sprintf("%d queues and exchanges are too many for a picture; %d are the most.", n, mostDrawn)}
	}
	g := graph.Of(host)
	d.DOT, d.Mermaid = g.DOT(), g.Mermaid()
	addLossesTo(g, host)
	addRates(g, vhost, v.flow.look(time.Now()))
	d.Picture = picture(g)
	return d, nil
}

// picture returns a graph's drawing for a page that has the style of all drawings already.
func picture(g *graph.Graph) template.HTML {
	before, _, after := cutPicture(g.SVG())
	return template.HTML(before + after)
}

// vhost is the virtual host in the query, "/" if there is none.
func (v *visit) vhost() string {
	if v.query.Has("vhost") {
		return v.query.Get("vhost")
	}
	return "/"
}

// vhosts are links to a view of each virtual host that the user may see.
func (v *visit) vhosts(path string) (all []section, err error) {
	answer, err := v.ask("vhosts")
	if err != nil {
		return nil, err
	}
	vhosts, _ := answer.([]Object)
	for _, o := range vhosts {
		name := text(o["name"])
		all = append(all, section{cmp.Or(name, "(empty name)"), link(path, url.Values{"vhost": {name}}), name == v.vhost()})
	}
	return all, nil
}

// addRates puts the rates on arrows that something goes along. Exchanges that are bound to exchanges are passed in no
// time, and the broker tells only the first; arrows between them have no rate.
func addRates(g *graph.Graph, vhost string, rate func(arrow) float64) {
	for i, e := range g.Edges {
		from, to := g.Nodes[e.From], g.Nodes[e.To]
		var r float64
		switch {
		case e.Kind == graph.Binding && to.Kind == graph.Queue:
			r = rate(arrow{vhost, from.Name, to.Name, false})
		case e.Kind == graph.DeadLetter:
			r = rate(arrow{vhost, "", from.Name, true})
		}
		if words := perSecond(r); words != "" {
			g.Edges[i].Labels = append(e.Labels, words)
		}
	}
}

// addLossesTo draws what was lost since a queue or an exchange was declared. What somebody has purged is not drawn.
func addLossesTo(g *graph.Graph, v *leveret.VHost) {
	for i, n := range g.Nodes {
		sum := map[string]uint64{}
		switch n.Kind {
		case graph.Queue:
			if q, err := v.Queue(n.Name); err == nil {
				addLosses(sum, q.Counters().Dropped)
			}
		case graph.Exchange:
			if x, err := v.Exchange(n.Name); err == nil {
				sum["unroutable"] = x.Info().Counters.UnroutableDropped
			}
		}
		delete(sum, "purged")
		if losses := sortedLosses(sum); len(losses) > 0 {
			lost := graph.Node{Kind: graph.Lost, Name: "lost"}
			for _, l := range losses {
				lost.Details = append(lost.Details, l.Value+" "+l.Name)
			}
			g.Edges = append(g.Edges, graph.Edge{From: i, To: len(g.Nodes), Kind: graph.Loss})
			g.Nodes = append(g.Nodes, lost)
		}
	}
}
