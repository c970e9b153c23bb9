package graph

import "slices"

// Which arrows run forward, to the right, and which return; and with it the rank of each node, its column.

// back reports for each edge whether it returns, so that the others have no circle. Bindings run forward if they can.
// Then come the dead letters of rejections, and at last those of queues whose messages expire: in a retry circle the
// message returns after its wait.
func (g *Graph) back() []bool {
	order := make([]int, len(g.Edges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return urgency(g.Edges[i]) - urgency(g.Edges[j]) })
	back := make([]bool, len(g.Edges))
	next := make([][]int, len(g.Nodes))
	for _, i := range order {
		e := g.Edges[i]
		if back[i] = reaches(next, e.To, e.From); !back[i] {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	return back
}

// urgency orders edges by how much they should run forward.
func urgency(e Edge) int {
	switch {
	case e.Delayed:
		return 2
	case e.Kind == DeadLetter:
		return 1
	}
	return 0
}

// reaches reports whether a path leads from one node to another.
func reaches(next [][]int, from, to int) bool {
	seen := map[int]bool{from: true}
	for todo := []int{from}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == to {
			return true
		}
		for _, m := range next[n] {
			if !seen[m] {
				seen[m] = true
				todo = append(todo, m)
			}
		}
	}
	return false
}

// ranks returns for each node the column that it stands in: to the right of all that lead forward to it.
func (g *Graph) ranks(back []bool) []int {
	rank := make([]int, len(g.Nodes))
	for changed := true; changed; {
		changed = false
		for i, e := range g.Edges {
			if !back[i] && rank[e.To] <= rank[e.From] {
				rank[e.To], changed = rank[e.From]+1, true
			}
		}
	}
	g.pullSources(rank, back)
	return rank
}

// pullSources moves each node that nothing leads to directly before the first that it leads to.
func (g *Graph) pullSources(rank []int, back []bool) {
	first := make([]int, len(g.Nodes)) // of those that it leads to; 0: none
	entered := make([]bool, len(g.Nodes))
	for i, e := range g.Edges {
		entered[e.To] = true
		if !back[i] && (first[e.From] == 0 || rank[e.To] < first[e.From]) {
			first[e.From] = rank[e.To]
		}
	}
	for n := range rank {
		if !entered[n] && first[n] > 0 {
			rank[n] = first[n] - 1
		}
	}
}

// components returns the nodes that hang together, the largest group first.
func (g *Graph) components() [][]int {
	near := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		near[e.From] = append(near[e.From], e.To)
		near[e.To] = append(near[e.To], e.From)
	}
	var groups [][]int
	seen := make([]bool, len(g.Nodes))
	for n := range g.Nodes {
		if seen[n] {
			continue
		}
		seen[n] = true
		group := []int{n}
		for i := 0; i < len(group); i++ {
			for _, m := range near[group[i]] {
				if !seen[m] {
					seen[m] = true
					group = append(group, m)
				}
			}
		}
		groups = append(groups, group)
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return len(b) - len(a) })
	return groups
}
