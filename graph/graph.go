package graph

// A Graph is what is drawn.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// A Node is a box.
type Node struct {
	Kind    NodeKind
	Name    string
	Details []string // lines under the name
}

// A NodeKind says what a box stands for.
type NodeKind string

// What boxes stand for.
const (
	Exchange  NodeKind = "exchange"
	Queue     NodeKind = "queue"
	Missing   NodeKind = "missing"   // an exchange or a queue that something refers to and that does not exist
	Publisher NodeKind = "publisher" // where a journey begins
	Lost      NodeKind = "lost"      // where a journey ends badly
)

// An Edge is an arrow between two nodes.
type Edge struct {
	From, To int // indices of Graph.Nodes
	Kind     EdgeKind
	Labels   []string // lines on the arrow
	Delayed  bool     // for dead letters that come after a wait: in a circle they are drawn as what returns
}

// An EdgeKind says what an arrow stands for.
type EdgeKind string

// What arrows stand for.
const (
	Binding    EdgeKind = "binding"
	DeadLetter EdgeKind = "dead letters"
	Alternate  EdgeKind = "alternate exchange" // what an exchange routes nowhere
	Loss       EdgeKind = "loss"
)
