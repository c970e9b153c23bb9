package pcre

func (c *compiler) repeat(n repeat, next step) step {
	if o, single := n.body.(one); single {
		return c.repeatOne(o.set, n, next)
	}
	if n.mode == possessive {
		n.mode = greedy
		return c.atomic(n, next)
	}
	// x{2,4} is xx(?:x(?:x)?)?, as in PCRE.
	end := next
	if n.max == unlimited {
		next = c.loop(n, next)
	} else {
		for range n.max - n.min {
			next = c.optional(n, next, end)
		}
	}
	for range n.min {
		next = c.step(n.body, next)
	}
	return next
}

// repeatOne repeats a byte, without a copy of the step for every time.
func (c *compiler) repeatOne(s set, n repeat, next step) step {
	guard := c.guard()
	most := func(m *machine, pos int) int {
		limit := len(m.name)
		if n.max != unlimited {
			limit = min(limit, pos+n.max)
		}
		end := pos
		for end < limit && s.has(m.name[end]) {
			end++
		}
		return end
	}
	switch n.mode {
	case possessive:
		return func(m *machine, pos int) bool {
			end := most(m, pos)
			return end-pos >= n.min && next(m, end)
		}
	case lazy:
		return func(m *machine, pos int) bool {
			if !m.enter(guard, pos) {
				return false
			}
			last := most(m, pos)
			for end := pos + n.min; end <= last && m.tryAgain(); end++ {
				if next(m, end) {
					return true
				}
			}
			return false
		}
	}
	return func(m *machine, pos int) bool {
		if !m.enter(guard, pos) {
			return false
		}
		for end := most(m, pos); end >= pos+n.min && m.tryAgain(); end-- {
			if next(m, end) {
				return true
			}
		}
		return false
	}
}

// optional is one time that need not be; after leads to the next time.
func (c *compiler) optional(n repeat, after, end step) step {
	guard := c.guard()
	first, second := c.step(n.body, after), end
	if n.mode == lazy {
		first, second = second, first
	}
	return func(m *machine, pos int) bool {
		return m.enter(guard, pos) && (first(m, pos) || second(m, pos))
	}
}

// loop is any number of times. One that matched nothing is the last.
func (c *compiler) loop(n repeat, next step) step {
	guard, index := c.guard(), c.loops
	c.loops++
	var again step
	body := c.step(n.body, func(m *machine, pos int) bool {
		if pos == m.begun[index] {
			return next(m, pos)
		}
		return again(m, pos)
	})
	once := func(m *machine, pos int) bool {
		outer := m.begun[index]
		m.begun[index] = pos
		if body(m, pos) {
			return true
		}
		m.begun[index] = outer
		return false
	}
	first, second := step(once), next
	if n.mode == lazy {
		first, second = second, first
	}
	again = func(m *machine, pos int) bool {
		return m.enter(guard, pos) && (first(m, pos) || second(m, pos))
	}
	return again
}
