package bench_test

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

func exported(br *leveret.Broker) ([]byte, error)    { return definitions.Export(br) }
func imported(br *leveret.Broker, data []byte) error { return definitions.Import(br, data) }
