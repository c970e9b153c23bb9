// Package similar finds the name that somebody may have meant.
package similar

// Name returns the candidate that differs least from name, if that is by at most a third of the name's length;
// otherwise "". Of several the first in the order of their bytes counts.
func Name(name string, candidates []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range candidates {
		d := distance(name, candidate)
		if d < least || d == least && best != "" && candidate < best {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the number of insertions, deletions and replacements that turn a into b.
func distance(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, line[j], line[j+1])
			}
			diagonal, line[j+1] = line[j+1], cost
		}
	}
	return line[len(b)]
}
