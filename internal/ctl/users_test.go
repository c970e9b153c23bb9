package ctl

import (
	"errors"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A user whose password is taken away has an empty hash, and keeps tags and limits.
func TestClearPassword(t *testing.T) {
	n := testNode(t)
	limits := leveret.UserLimits{MaxConnections: 3, MaxChannels: leveret.NoLimit}
	require.NoError(t, errors.Join(n.Broker.AddUser("ann", "secret", "management"), n.Broker.SetUserLimits("ann", limits)))
	require.Zero(t, answerOf(n, "clear_password ann").Status)
	u, err := n.Broker.User("ann")
	require.NoError(t, err)
	assert.Empty(t, u.Password.Hash)
	assert.Equal(t, []any{[]string{"management"}, limits}, []any{u.Tags, u.Limits})
}

// A password that is not taken is told before it is asked whether there is such a user. A hash is not looked at.
// Rules: A-17.
func TestPasswordsThatAreNotTaken(t *testing.T) {
	b := leveret.New(leveret.WithCredentialValidator(func(string, string) error { return errors.New("no good") }))
	t.Cleanup(func() { b.Close() })
	n := &Node{Broker: b, Name: "leveret@localhost"}
	for _, line := range []string{"add_user ann secret", "add_user guest secret", "change_password guest secret", "change_password nobody secret"} {
		r := answerOf(n, line)
		assert.Equal(t, exitUnavailable, r.Status, line)
		assert.Equal(t, "Error:\nno good\n", string(r.Stderr), line)
	}
	assert.Zero(t, answerOf(n, "add_user ann AAAAAA== --pre-hashed-password").Status)
	assert.Zero(t, answerOf(n, "clear_password guest").Status)
}
