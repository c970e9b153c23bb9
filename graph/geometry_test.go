package graph_test

import (
	"encoding/xml"
	"fmt"
	"image"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What can be measured in a picture: the SVG text is read again, and nothing may cover another.

// A picture is what an SVG draws.
type picture struct {
	paper image.Rectangle
	boxes []image.Rectangle // of nodes, labels and the legend
	texts []string
	lines [][][2]float64 // points along each line
	group string         // the class of the group that is being read
	back  [][][2]float64 // those lines that return
}

// read takes an SVG apart, and fails if it is no well-formed XML.
func read(t require.TestingT, svg string) picture {
	var p picture
	decoder := xml.NewDecoder(strings.NewReader(svg))
	inText := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return p
		}
		require.NoError(t, err, svg)
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			p.element(t, e)
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				p.texts = append(p.texts, string(e))
			}
		}
	}
}

func (p *picture) element(t require.TestingT, e xml.StartElement) {
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = a.Value
	}
	number := func(name string) int {
		n, err := strconv.Atoi(attributes[name])
		require.NoError(t, err, name)
		return n
	}
	if e.Name.Local == "g" {
		p.group = attributes["class"]
	}
	switch attributes["class"] {
	case "paper":
		p.paper = image.Rect(0, 0, number("width"), number("height"))
	case "box", "gap":
		x, y := number("x"), number("y")
		p.boxes = append(p.boxes, image.Rect(x, y, x+number("width"), y+number("height")))
	case "line":
		p.lines = append(p.lines, points(t, attributes["d"]))
		if p.group == "dead back" {
			p.back = append(p.back, p.lines[len(p.lines)-1])
		}
	}
}

var command = regexp.MustCompile(`([MCHVQ])([-0-9 ]+)`)

// points returns points of a path, at most two pixels apart.
func points(t require.TestingT, path string) [][2]float64 {
	var all [][2]float64
	var x, y float64
	for _, c := range command.FindAllStringSubmatch(path, -1) {
		var n []float64
		for _, word := range strings.Fields(c[2]) {
			v, err := strconv.ParseFloat(word, 64)
			require.NoError(t, err)
			n = append(n, v)
		}
		switch c[1] {
		case "M":
			x, y = n[0], n[1]
			continue
		case "H":
			n = []float64{x, y, n[0], y, n[0], y}
		case "V":
			n = []float64{x, y, x, n[0], x, n[0]}
		case "Q":
			n = []float64{n[0], n[1], n[0], n[1], n[2], n[3]}
		}
		steps := math.Ceil(math.Abs(n[4]-x)+math.Abs(n[5]-y)) + 1
		for s := 0.0; s <= steps; s++ {
			u := s / steps
			mix := func(a, b, c, d float64) float64 {
				return a*(1-u)*(1-u)*(1-u) + 3*b*u*(1-u)*(1-u) + 3*c*u*u*(1-u) + d*u*u*u
			}
			all = append(all, [2]float64{mix(x, n[0], n[2], n[4]), mix(y, n[1], n[3], n[5])})
		}
		x, y = n[4], n[5]
	}
	return all
}

// verify fails if boxes or labels cover each other, if something is outside of the paper, or if a line runs through a
// box. Through a label it may run only if the label is its own: then it passes the label's middle from end to end.
func (p picture) verify(t require.TestingT, svg string) {
	for i, a := range p.boxes {
		require.True(t, a.In(p.paper.Inset(4)), "%v is outside of %v\n%s", a, p.paper, svg)
		for _, b := range p.boxes[:i] {
			require.False(t, a.Overlaps(b), "%v covers %v\n%s", a, b, svg)
		}
	}
	for _, line := range p.lines {
		for _, box := range p.boxes {
			p.verifyLine(t, line, box, svg)
		}
	}
}

func (p picture) verifyLine(t require.TestingT, line [][2]float64, box image.Rectangle, svg string) {
	middle := float64(box.Min.Y+box.Max.Y) / 2
	for _, at := range line {
		inside := at[0] > float64(box.Min.X)+0.5 && at[0] < float64(box.Max.X)-0.5 &&
			at[1] > float64(box.Min.Y)+0.5 && at[1] < float64(box.Max.Y)-0.5
		if inside && math.Abs(at[1]-middle) > 1 {
			require.Fail(t, "a line runs through a box", "%v at %v\n%s", box, at, svg)
		}
		if !image.Pt(int(at[0]), int(at[1])).In(p.paper) {
			require.Fail(t, "a line leaves the paper", "at %v\n%s", at, svg)
		}
	}
}

// verifyNodes demands a box for every node.
func (p picture) verifyNodes(t require.TestingT, g *graph.Graph, svg string) {
	titled, labels := strings.Count(svg, `"><title>`), strings.Count(svg, `<rect class="gap"`)
	require.Equal(t, len(g.Nodes), titled-labels, svg)
}

// TestNothingIsCovered draws random graphs: circles, loops, edges side by side, long and odd names.
func TestNothingIsCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		svg := g.SVG()
		p := read(t, svg)
		p.verify(t, svg)
		p.verifyNodes(t, g, svg)
		if svg != g.SVG() {
			t.Fatal("the same graph was drawn in another way")
		}
	})
}

func randomGraph(t *rapid.T) *graph.Graph {
	text := rapid.OneOf(rapid.StringMatching(`[a-z.#*]{0,12}`), rapid.String(), rapid.StringMatching(`[mW<>&"'\\]{1,80}`))
	g := &graph.Graph{Title: text.Draw(t, "title")}
	kinds := []graph.NodeKind{graph.Exchange, graph.Queue, graph.Missing, graph.Lost, graph.Publisher, `"made up"`}
	edges := []graph.EdgeKind{graph.Binding, graph.DeadLetter, graph.Alternate, graph.Loss, `"made up"`}
	for range rapid.IntRange(0, 30).Draw(t, "nodes") {
		g.Nodes = append(g.Nodes, graph.Node{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Name: text.Draw(t, "name"),
			Details: rapid.SliceOfN(text, 0, 3).Draw(t, "details")})
	}
	if len(g.Nodes) == 0 {
		return g
	}
	for range rapid.IntRange(0, 45).Draw(t, "edges") {
		end := rapid.IntRange(0, len(g.Nodes)-1)
		g.Edges = append(g.Edges, graph.Edge{From: end.Draw(t, "from"), To: end.Draw(t, "to"),
			Kind: rapid.SampledFrom(edges).Draw(t, "kind"), Labels: rapid.SliceOfN(text, 0, 6).Draw(t, "labels")})
	}
	return g
}

// TestPicturesAreClear measures the pictures of testdata, too.
func TestPicturesAreClear(t *testing.T) {
	for _, topology := range []func(*testing.T) *leveret.VHost{retries, forty, alternates} {
		svg := graph.Of(topology(t)).SVG()
		read(t, svg).verify(t, svg)
	}
	files, err := filepath.Glob("../lint/testdata/project-*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		g := graph.Of(imported(t, file))
		svg := g.SVG()
		p := read(t, svg)
		p.verify(t, svg)
		p.verifyNodes(t, g, svg)
		require.Equal(t, svg, graph.Of(imported(t, file)).SVG(), "drawn again from the start")
	}
}

// TestFortyOddQueues has forty queues of hostile names, in topologies of chance: bindings, dead letters, circles.
func TestFortyOddQueues(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	words := []string{"</text>", "<&>", `"quoted"`, "日本語の待ち行列", "😀😀", "\u202egnirts", "a\nb", "MMMMWWWWMMMMWWWW", "iiiiiiii", "%%{x}%%", ":::", "]]>", "", "e\u0301\u0301"}
	rapid.Check(t, func(rt *rapid.T) {
		b := leveret.New()
		defer b.Close()
		const exchanges, queues = 6, 40
		word := rapid.SampledFrom(words)
		for n := range exchanges {
			_, err := b.DeclareExchange(fmt.Sprint("x", n), leveret.Topic, leveret.ExchangeConfig{})
			require.NoError(rt, err)
		}
		for n := range queues {
			name := fmt.Sprint(word.Draw(rt, "name"), n, word.Draw(rt, "ending"))
			args := leveret.Table{leveret.ArgMessageTTL: n, leveret.ArgMaxLength: n + 1}
			if to := rapid.IntRange(-1, exchanges).Draw(rt, "dead letters"); to >= 0 {
				args[leveret.ArgDeadLetterExchange] = fmt.Sprint("x", to) // the last does not exist
			}
			_, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
			require.NoError(rt, err)
			for range rapid.IntRange(0, 2).Draw(rt, "bindings") {
				from := fmt.Sprint("x", rapid.IntRange(0, exchanges-1).Draw(rt, "from"))
				require.NoError(rt, b.BindQueue(name, from, word.Draw(rt, "key")+fmt.Sprint(n), nil))
			}
		}
		v, err := b.VHost("/")
		require.NoError(rt, err)
		g := graph.Of(v)
		svg := g.SVG()
		p := read(rt, svg)
		p.verify(rt, svg)
		p.verifyNodes(rt, g, svg)
		require.Equal(rt, svg, graph.Of(v).SVG())
	})
}

// TestLoopsDoNotCross has waits that all return to one exchange: their lines lie in each other.
func TestLoopsDoNotCross(t *testing.T) {
	for waits := 2; waits <= 9; waits++ {
		b := build(t)
		b.exchange("in", leveret.Direct, nil)
		b.exchange("retry", leveret.Direct, nil)
		b.queue("work", leveret.Table{leveret.ArgDeadLetterExchange: "retry"})
		b.bind("work", "in", "work")
		for n := range waits {
			name := fmt.Sprint("wait.", n)
			b.queue(name, leveret.Table{leveret.ArgMessageTTL: n, leveret.ArgDeadLetterExchange: "in"})
			b.bind(name, "retry", fmt.Sprint(n))
		}
		p := read(t, graph.Of(b.root()).SVG())
		require.Len(t, p.back, waits+1) // and the sample of the legend
		owner := map[image.Point]int{}
		for n, line := range p.back {
			for _, at := range line {
				pixel := image.Pt(int(at[0]), int(at[1]))
				if other, taken := owner[pixel]; taken && other != n {
					t.Fatalf("%d waits: two loops cross at %v", waits, pixel)
				}
				owner[pixel] = n
			}
		}
	}
}

// TestHostileNames has names that would be markup, or that would leave their line.
func TestHostileNames(t *testing.T) {
	b := build(t)
	hostile := `</text><script>alert("1")</script>]]>&amp;` + "\n\x00\u202e\\N|]:::x%%{init}"
	b.exchange("x"+hostile, leveret.Direct, nil)
	b.queue("q"+hostile, leveret.Table{leveret.ArgDeadLetterExchange: "missing" + hostile, leveret.ArgDeadLetterRoutingKey: "k" + hostile})
	b.bind("q"+hostile, "x"+hostile, hostile)
	g := graph.Of(b.root())
	svg := g.SVG()
	p := read(t, svg)
	p.verify(t, svg)
	require.NotContains(t, svg, "<script")
	require.Contains(t, fmt.Sprint(p.texts), `</text><scr`)
	for format, text := range map[string]string{"SVG": svg, "DOT": g.DOT(), "Mermaid": g.Mermaid()} {
		require.NotContains(t, text, "\u202e", format)
		require.NotContains(t, text, "\x00", format)
	}
	for _, line := range strings.Split(strings.TrimSpace(g.Mermaid()), "\n")[1:5] {
		require.Regexp(t, `^  n\d( -\.?->|)(\(\[|\[|\|)"[^"\[\]|{}%\\]*"(\]\)|\]|\|)(:::[a-z]+| n\d)$`, line)
	}
	for _, line := range strings.Split(strings.TrimSpace(g.DOT()), "\n")[6:9] {
		require.Regexp(t, `^  n\d \[label="([^"\\]|\\[\\"n])*" `, line)
	}
}
