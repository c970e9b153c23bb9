package graph

// Lines that cross several columns are made as straight as the room beside them allows.

// straighten lets the items of an edge that follow each other stand at one height, as far as what stands above and below
// them in their columns leaves room for it. It takes some rounds: a line that has become straight makes room for others.
func (l *layout) straighten() {
	for range 3 {
		for _, r := range l.routes {
			passing := r.items[1 : len(r.items)-1]
			if r.turn > 0 {
				l.level(passing[:r.turn-1])
				passing = passing[r.turn-1:]
			}
			l.level(passing)
		}
	}
	for _, r := range l.routes {
		if r.turn > 0 || len(r.items) == 3 {
			l.align(r)
		}
	}
}

// align puts a label that stands beside its node level with it.
func (l *layout) align(r route) {
	i, y := r.items[1], r.last.b.y+r.last.bOff
	if r.first.weight == near {
		y = r.first.a.y + r.first.aOff
	}
	low, high := l.room(i)
	i.y = min(max(y, low), high)
}

// level puts runs of items at one height each, the longest runs that there is room for.
func (l *layout) level(items []*item) {
	for len(items) > 0 {
		lowest, highest := l.room(items[0])
		sum, n := items[0].y, 1
		for n < len(items) {
			low, high := l.room(items[n])
			low, high = max(low, lowest), min(high, highest)
			if low > high {
				break
			}
			lowest, highest = low, high
			sum, n = sum+items[n].y, n+1
		}
		y := min(max(sum/n, lowest), highest)
		for _, i := range items[:n] {
			i.y = y
		}
		items = items[n:]
	}
}

// room returns between which heights an item can stand.
func (l *layout) room(i *item) (low, high int) {
	low, high = -1<<30, 1<<30
	column := l.columns[i.column]
	for pos := i.pos - 1; pos >= 0; pos-- {
		if above := column[pos]; !above.turn {
			low = above.y + distance(above, i)
			break
		}
	}
	for pos := i.pos + 1; pos < len(column); pos++ {
		if below := column[pos]; !below.turn {
			high = below.y - distance(i, below)
			break
		}
	}
	return low, high
}
