package ctl

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

// rabbitmqctl 3.10 sets as many tags as it is given, 4.3 no more than 32.
func TestTagsOfAUser(t *testing.T) {
	args := append([]string{"set_user_tags", "guest"}, strings.Fields(strings.Repeat("t ", 33))...)
	for p, status := range map[leveret.Profile]int{leveret.RabbitMQ43: exitData, leveret.RabbitMQ310: 0} {
		n := testNodeOf(t, p)
		assert.Equal(t, status, n.Run(Request{Args: args}).Status, p)
	}
}

// testNodeOf is testNode for a release.
func testNodeOf(t *testing.T, p leveret.Profile) *Node {
	n := testNode(t)
	n.Broker = leveret.New(leveret.WithProfile(p))
	t.Cleanup(func() { assert.NoError(t, n.Broker.Close()) })
	return n
}
