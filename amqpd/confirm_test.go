package amqpd

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Publishes that a queue refuses are not confirmed together across one that reached no queue and was acked.
// Rules: C-4.
func TestNoNackCoversAnAck(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("full", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength: 0, leveret.ArgOverflow: "reject-publish",
	}})
	require.NoError(t, err)
	srv := &Server{Broker: b}
	defer srv.Close()
	refused, nowhere := publish("full", 0)+header(0), publish("nowhere", 0)+header(0)
	nc := dialed(t, srv, 0, call(1, confirmSelect, u8(1))+refused+nowhere+refused+refused)
	defer nc.Close()
	require.NoError(t, nc.SetReadDeadline(time.Now().Add(10*time.Second))) // a confirm that is missing fails the test
	for id := methodID(0); id != channelOpenOk; {
		id, _ = readMethod(t, nc)
	}

	type confirm struct {
		id       methodID
		sequence uint64
		flags    byte
	}
	var got []confirm
	for range 3 {
		id, args := readMethod(t, nc)
		got = append(got, confirm{id, binary.BigEndian.Uint64(args), args[8]})
	}
	const multiple = 3 // with requeue, which means nothing here
	require.Equal(t, []confirm{{basicAck, 2, 0}, {basicNack, 1, multiple}, {basicNack, 4, multiple}}, got)
}
