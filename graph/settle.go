package graph

// The heights of items. In turn each column gives its items the heights that their neighbours ask for, as near as the
// order and the room that each item needs allow. Everything is in whole numbers, so that it is the same on all machines.

func (l *layout) settle() {
	for _, column := range l.columns {
		y := 0
		for n, i := range column {
			if n > 0 {
				y += distance(column[n-1], i)
			}
			i.y = y
		}
	}
	const rounds = 80
	for round := range rounds {
		last := round >= 20
		for n := range l.columns {
			c := n
			if round%2 == 1 {
				c = len(l.columns) - 1 - n
			}
			place(l.columns[c], last || round%2 == 0, last || round%2 == 1)
		}
	}
	l.straighten()
	l.raise()
}

// distance is the least between the middles of an item and the next below it.
func distance(above, below *item) int {
	return (above.h+1)/2 + (below.h+1)/2 + above.pad + below.pad
}

// A block is a run of items that touch, and the height that they ask for together: sum / weight.
type block struct{ sum, weight, items int }

func (b block) below(c block) bool { return b.sum*c.weight > c.sum*b.weight }

// place is an isotonic regression: items that would overlap become a block, which stands at the mean of their wishes.
func place(column []*item, left, right bool) {
	var blocks []block
	offset := 0
	for n, i := range column {
		if n > 0 {
			offset += distance(column[n-1], i)
		}
		sum, weight := i.wish(left, right)
		b := block{sum - offset*weight, weight, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].below(b) {
			above := blocks[len(blocks)-1]
			b = block{b.sum + above.sum, b.weight + above.weight, b.items + above.items}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	n, offset := 0, 0
	for _, b := range blocks {
		for range b.items {
			if n > 0 {
				offset += distance(column[n-1], column[n])
			}
			column[n].y = b.sum/b.weight + offset
			n++
		}
	}
}

// wish returns the heights that the neighbours ask for, as a sum and its weight.
func (i *item) wish(left, right bool) (sum, weight int) {
	if left {
		for _, k := range i.left {
			sum, weight = sum+k.weight*(k.a.y+k.aOff-k.bOff), weight+k.weight
		}
	}
	if right {
		for _, k := range i.right {
			sum, weight = sum+k.weight*(k.b.y+k.bOff-k.aOff), weight+k.weight
		}
	}
	if weight == 0 {
		return i.y, 1
	}
	return sum, weight
}

// raise moves everything so that the topmost is at 0.
func (l *layout) raise() {
	top, bottom := 1<<30, -1<<30
	for _, column := range l.columns {
		for _, i := range column {
			top, bottom = min(top, i.y-(i.h+1)/2), max(bottom, i.y+(i.h+1)/2)
		}
	}
	for _, column := range l.columns {
		for _, i := range column {
			i.y -= top
		}
	}
	l.h = bottom - top
}
