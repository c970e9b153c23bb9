package pcre

// The nodes of a pattern's syntax tree.
type (
	node any

	one      struct{ set set } // a byte of the set
	sequence []node
	choice   []node // the first that leads to a match; none: never matches
	repeat   struct {
		body     node
		min, max int // max unlimited: any number
		mode     mode
	}
	capture struct {
		number int
		body   node
	}
	atomic struct{ body node } // matched in one way only
	look   struct {
		body             node
		behind, negative bool
	}
	backReference struct {
		groups []int // the first of them that is set
		fold   bool
	}
	condition struct {
		groups  []int // is one of them set
		test    node  // nil: groups decide
		yes, no node
	}
	cluster   struct{} // \X: \r\n or a byte, but without a greatest length to PCRE
	assertion func(name string, pos int) bool
)

const unlimited = -1

// A mode is what a repetition tries first.
type mode uint8

const (
	greedy     mode = iota // as often as possible, then less often
	lazy                   // as few times as possible, then more often
	possessive             // as often as possible, and nothing else
)

// length returns between which lengths a match of n is; longest may be unlimited.
func length(n node) (shortest, longest int) {
	switch n := n.(type) {
	case one:
		return 1, 1
	case sequence:
		for _, sub := range n {
			s, l := length(sub)
			shortest, longest = shortest+s, plus(longest, l)
		}
	case choice:
		for i, sub := range n {
			s, l := length(sub)
			if i == 0 {
				shortest, longest = s, l
				continue
			}
			shortest, longest = min(shortest, s), longer(longest, l)
		}
	case repeat:
		s, l := length(n.body)
		return s * n.min, times(l, n.max)
	case capture:
		return length(n.body)
	case atomic:
		return length(n.body)
	case cluster:
		return 1, unlimited
	case *backReference:
		return 0, unlimited
	case *condition:
		return length(choice{n.yes, n.no})
	}
	return shortest, longest
}

func plus(a, b int) int {
	if a == unlimited || b == unlimited {
		return unlimited
	}
	return a + b
}

func times(a, b int) int {
	switch {
	case a == 0 || b == 0:
		return 0
	case a == unlimited || b == unlimited:
		return unlimited
	}
	return a * b
}

func longer(a, b int) int {
	if a == unlimited || b == unlimited {
		return unlimited
	}
	return max(a, b)
}

// isFixed reports whether PCRE 8 takes n for a branch of a lookbehind: its length is the same in every way.
func isFixed(n node) bool {
	shortest, longest := length(n)
	return shortest == longest
}
