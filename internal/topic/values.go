package topic

// values is a list of distinct values, each with the number of times that it was added. Once
// there are many, an index finds a value's place in it.
type values[V comparable] struct {
	list  []counted[V]
	index map[V]int
}

type counted[V comparable] struct {
	v     V
	times int
}

// maxUnindexed is the length up to which a list is searched without an index.
const maxUnindexed = 16

func (vs *values[V]) empty() bool { return len(vs.list) == 0 }

func (vs *values[V]) appendTo(buf []V) []V {
	for i := range vs.list {
		buf = append(buf, vs.list[i].v)
	}
	return buf
}

// find returns the place of v, -1 if it is not there.
func (vs *values[V]) find(v V) int {
	if vs.index != nil {
		if i, ok := vs.index[v]; ok {
			return i
		}
		return -1
	}
	for i := range vs.list {
		if vs.list[i].v == v {
			return i
		}
	}
	return -1
}

func (vs *values[V]) add(v V) {
	if i := vs.find(v); i >= 0 {
		vs.list[i].times++
		return
	}
	vs.list = append(vs.list, counted[V]{v, 1})
	if vs.index != nil {
		vs.index[v] = len(vs.list) - 1
	} else if len(vs.list) > maxUnindexed {
		vs.index = make(map[V]int, 2*maxUnindexed)
		for i := range vs.list {
			vs.index[vs.list[i].v] = i
		}
	}
}

// remove takes v away once and reports whether it was there. The last value moves to its place.
func (vs *values[V]) remove(v V) bool {
	i := vs.find(v)
	if i < 0 {
		return false
	}
	if vs.list[i].times--; vs.list[i].times > 0 {
		return true
	}
	last := len(vs.list) - 1
	vs.list[i] = vs.list[last]
	vs.list[last] = counted[V]{}
	vs.list = vs.list[:last]
	if vs.index != nil {
		delete(vs.index, v)
		if i < last {
			vs.index[vs.list[i].v] = i
		}
	}
	if last == 0 {
		*vs = values[V]{}
	}
	return true
}
