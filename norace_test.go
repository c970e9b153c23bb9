//go:build !race

package leveret_test

const raceEnabled = false
