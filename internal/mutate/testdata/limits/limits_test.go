package limits

import (
	"testing"
	"time"
)

func TestFull(t *testing.T) {
	if full(2, 3) || !full(3, 0) || !full(0, 4) || double(4) != 8 {
		t.Fail()
	}
}

// TestWait takes the constant for granted, so that no change of the constant fails the test.
func TestWait(t *testing.T) {
	if wait() != pause*time.Millisecond {
		t.Fail()
	}
}

func TestSum(t *testing.T) {
	if l := (&list[int]{1}); l.sum("", 2, 3) != 6 || l.sum("") != 1 {
		t.Fail()
	}
}
