package page

// A message is one that is shown.
type message struct {
	Position int
}
