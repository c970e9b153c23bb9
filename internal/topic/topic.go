// Package topic finds the patterns of a topic exchange that match a routing key.
package topic

import "strings"

// A Trie holds values under patterns and finds those whose pattern matches a key. Its zero
// value is empty and ready to use.
//
// Keys and patterns are words with dots between them; the empty string has no words. In a
// pattern the word * stands for exactly one word and # for any number of words, none included;
// every other word stands for itself.
//
// Patterns without a wildcard are found as a whole. The others are a trie of words, through
// which all matches of a key are followed at once, word by word: no node is visited twice for
// one word, so that the work stays below nodes times words whatever the patterns are.
//
// A Trie must not be used by two goroutines at once, not even to match.
type Trie[V comparable] struct {
	plain map[string]*values[V]
	root  node[V]
	n     int

	matches uint64     // how many Match calls there were; marks the # nodes that one has met
	now     []*node[V] // Match's scratch space
	then    []*node[V]
}

// A node is a pattern's beginning.
type node[V comparable] struct {
	few    []edge[V]           // the next words, while they are few
	many   map[string]*node[V] // the next words, once they are many
	star   *node[V]
	hash   *node[V]
	loop   bool   // the last word is #: it may take in one more
	met    uint64 // the last match that this node, a loop, took part in
	values values[V]
}

type edge[V comparable] struct {
	word string
	node *node[V]
}

// maxFew is the number of next words up to which a node searches a list of them.
const maxFew = 8

// Len returns the number of pairs of pattern and value.
func (t *Trie[V]) Len() int { return t.n }

// Add puts v under pattern. A pair that is added several times has to be removed as often.
func (t *Trie[V]) Add(pattern string, v V) {
	t.n++
	if !wild(pattern) {
		vs := t.plain[pattern]
		if vs == nil {
			vs = new(values[V])
			if t.plain == nil {
				t.plain = make(map[string]*values[V])
			}
			t.plain[pattern] = vs
		}
		vs.add(v)
		return
	}
	n := &t.root
	for rest, more := pattern, true; more; {
		var word string
		word, rest, more = cutWord(rest)
		n = n.grow(word)
	}
	n.values.add(v)
}

// Remove takes v away from pattern. It does nothing if v is not there.
func (t *Trie[V]) Remove(pattern string, v V) {
	if wild(pattern) {
		if t.root.remove(pattern, true, v) {
			t.n--
		}
		return
	}
	if vs := t.plain[pattern]; vs != nil && vs.remove(v) {
		t.n--
		if vs.empty() {
			delete(t.plain, pattern)
		}
	}
}

// Match appends to buf the values of all patterns that match key, each value once for each
// such pattern, and returns the extended slice.
// Rules: X-20.
func (t *Trie[V]) Match(key string, buf []V) []V {
	if vs := t.plain[key]; vs != nil {
		buf = vs.appendTo(buf)
	}
	if t.root.leaf() {
		return buf
	}
	t.matches++
	now, then := t.meet(t.now[:0], &t.root), t.then[:0]
	for rest, more := key, key != ""; more && len(now) > 0; {
		var word string
		word, rest, more = cutWord(rest)
		then = then[:0]
		for _, n := range now {
			if n.loop {
				then = append(then, n)
			}
			if next := n.next(word); next != nil {
				then = t.meet(then, next)
			}
			if n.star != nil {
				then = t.meet(then, n.star)
			}
		}
		now, then = then, now
	}
	for _, n := range now {
		buf = n.values.appendTo(buf)
	}
	t.now, t.then = reusable(now), reusable(then)
	return buf
}

// reusable empties scratch space, so that it does not keep removed nodes alive, and drops what
// an unusual match made large.
func reusable[V comparable](scratch []*node[V]) []*node[V] {
	if cap(scratch) > 1024 {
		return nil
	}
	clear(scratch[:cap(scratch)])
	return scratch[:0]
}

// meet appends a node that has been reached, and with it the # behind it, which may stand for
// no word. A # once met stays, so that it must not be appended again.
func (t *Trie[V]) meet(to []*node[V], n *node[V]) []*node[V] {
	to = append(to, n)
	for n = n.hash; n != nil && n.met != t.matches; n = n.hash {
		n.met = t.matches
		to = append(to, n)
	}
	return to
}

// wild reports whether a pattern has a word * or #.
func wild(pattern string) bool {
	for i := range len(pattern) {
		if c := pattern[i]; (c == '*' || c == '#') &&
			(i == 0 || pattern[i-1] == '.') && (i == len(pattern)-1 || pattern[i+1] == '.') {
			return true
		}
	}
	return false
}

// cutWord returns the first word of key, what follows its dot, and whether there is a dot. With strings.Cut in its place
// BenchmarkMatch/star/1000 takes 7 % longer.
func cutWord(key string) (word, rest string, more bool) {
	if i := strings.IndexByte(key, '.'); i >= 0 {
		return key[:i], key[i+1:], true
	}
	return key, "", false
}

// next returns the node behind a word that is not a wildcard, nil if there is none.
func (n *node[V]) next(word string) *node[V] {
	if n.many != nil {
		return n.many[word]
	}
	for i := range n.few {
		if n.few[i].word == word {
			return n.few[i].node
		}
	}
	return nil
}

// child returns the node behind a word of a pattern, nil if there is none.
func (n *node[V]) child(word string) *node[V] {
	switch word {
	case "*":
		return n.star
	case "#":
		return n.hash
	}
	return n.next(word)
}

// grow returns the node behind a word of a pattern; it makes it if there is none.
func (n *node[V]) grow(word string) *node[V] {
	if c := n.child(word); c != nil {
		return c
	}
	c := new(node[V])
	switch {
	case word == "*":
		n.star = c
	case word == "#":
		n.hash, c.loop = c, true
	case n.many != nil:
		n.many[word] = c
	case len(n.few) < maxFew:
		n.few = append(n.few, edge[V]{word, c})
	default:
		n.many = make(map[string]*node[V], 2*maxFew)
		for _, e := range n.few {
			n.many[e.word] = e.node
		}
		n.many[word] = c
		n.few = nil
	}
	return c
}

// remove takes v away from the pattern's rest behind n, and with it the nodes that have become
// useless. It reports whether v was there.
func (n *node[V]) remove(rest string, more bool, v V) bool {
	if !more {
		return n.values.remove(v)
	}
	word, rest, more := cutWord(rest)
	c := n.child(word)
	if c == nil || !c.remove(rest, more, v) {
		return false
	}
	if c.leaf() && c.values.empty() {
		n.cut(word)
	}
	return true
}

// cut removes the node behind a word.
func (n *node[V]) cut(word string) {
	switch {
	case word == "*":
		n.star = nil
	case word == "#":
		n.hash = nil
	case n.many != nil:
		delete(n.many, word)
		if len(n.many) == 0 {
			n.many = nil
		}
	default:
		for i := range n.few {
			if n.few[i].word == word {
				last := len(n.few) - 1
				n.few[i] = n.few[last]
				n.few[last] = edge[V]{}
				n.few = n.few[:last]
				return
			}
		}
	}
}

// leaf reports whether no word follows.
func (n *node[V]) leaf() bool {
	return len(n.few) == 0 && n.many == nil && n.star == nil && n.hash == nil
}
