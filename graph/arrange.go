package graph

import (
	"cmp"
	"slices"
)

// The order of items in their columns. It begins with a walk along the links; then each column is ordered by where its
// neighbours stand, to and fro, and neighbouring items change places while lines cross less. The order with the fewest
// crossings is taken.

func (l *layout) arrange() {
	l.walk()
	best, fewest := l.order(), l.crossings()
	for round := 0; round < 16 && fewest > 0; round++ {
		l.sweep(round%2 == 0)
		l.swap()
		if n := l.crossings(); n < fewest {
			best, fewest = l.order(), n
		}
	}
	l.columns = best
	l.number()
}

// walk orders columns by when a walk along the links first comes to an item.
func (l *layout) walk() {
	seen := map[*item]bool{}
	ordered := make([][]*item, len(l.columns))
	var visit func(*item)
	visit = func(i *item) {
		if seen[i] {
			return
		}
		seen[i] = true
		ordered[i.column] = append(ordered[i.column], i)
		for _, k := range i.right {
			visit(k.b)
		}
		for _, k := range i.left {
			visit(k.a)
		}
	}
	for _, column := range l.columns {
		for _, i := range column {
			visit(i)
		}
	}
	l.columns = ordered
	l.number()
}

func (l *layout) number() {
	for _, column := range l.columns {
		for pos, i := range column {
			i.pos = pos
		}
	}
}

func (l *layout) order() [][]*item {
	order := make([][]*item, len(l.columns))
	for c, column := range l.columns {
		order[c] = slices.Clone(column)
	}
	return order
}

// sweep orders each column by the mean place of the neighbours in the one before it.
func (l *layout) sweep(toTheRight bool) {
	for n := range l.columns {
		c := n
		if !toTheRight {
			c = len(l.columns) - 1 - n
		}
		mean := map[*item][2]int{} // sum and number
		for _, i := range l.columns[c] {
			mean[i] = i.meanPos(toTheRight)
		}
		slices.SortStableFunc(l.columns[c], func(a, b *item) int {
			return cmp.Compare(mean[a][0]*mean[b][1], mean[b][0]*mean[a][1])
		})
		for pos, i := range l.columns[c] {
			i.pos = pos
		}
	}
}

// meanPos returns a sum and a number whose quotient is the mean. An item without neighbours stays.
func (i *item) meanPos(left bool) [2]int {
	sum, n := 0, 0
	if left {
		for _, k := range i.left {
			sum, n = sum+k.a.pos, n+1
		}
	} else {
		for _, k := range i.right {
			sum, n = sum+k.b.pos, n+1
		}
	}
	if n == 0 {
		return [2]int{i.pos, 1}
	}
	return [2]int{sum, n}
}

// swap lets neighbours change places while lines cross less by it.
func (l *layout) swap() {
	for better, round := true, 0; better && round < 8; round++ {
		better = false
		for _, column := range l.columns {
			for n := 1; n < len(column); n++ {
				a, b := column[n-1], column[n]
				if crossed(b, a) < crossed(a, b) {
					column[n-1], column[n] = b, a
					b.pos, a.pos = n-1, n
					better = true
				}
			}
		}
	}
}

// crossed counts the crossings of the links of two items, the first above the second.
func crossed(above, below *item) int {
	n := 0
	for _, j := range above.left {
		for _, k := range below.left {
			if j.a.pos > k.a.pos {
				n++
			}
		}
	}
	for _, j := range above.right {
		for _, k := range below.right {
			if j.b.pos > k.b.pos {
				n++
			}
		}
	}
	return n
}

// crossings counts all crossings: the inversions of the right ends, when links are in the order of their left ends.
func (l *layout) crossings() int {
	total := 0
	for c, column := range l.columns {
		if c+1 == len(l.columns) {
			break
		}
		smaller := make([]int, len(l.columns[c+1])+1) // a binary indexed tree
		links := 0
		for _, i := range column {
			for _, k := range i.right {
				total += links
				for p := k.b.pos + 1; p > 0; p &= p - 1 {
					total -= smaller[p]
				}
			}
			for _, k := range i.right {
				links++
				for p := k.b.pos + 1; p < len(smaller); p += p & -p {
					smaller[p]++
				}
			}
		}
	}
	return total
}
