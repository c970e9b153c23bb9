// Command sample prints what of itself has been executed: for each block its function, its lines and its count.
package main

func main() {
	for i := range 300 {
		halve(i)
	}
	func() { halve(1) }()
	atTop()
	printCounts()
}

var atTop = func() { halve(1) }

func halve(n int) int {
	if n%2 != 0 {
		return n
	}
	return n / 2
}

func neverCalled() int {
	return 1
}

// A number has a method.
type number int

func (n *number) neverCalled() { *n++ }
