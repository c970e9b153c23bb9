package scenario

import (
	"errors"

	"github.com/leveretmq/leveret"
)

// Properties reads the properties of a message as they stand in a publish, such as
//
//	expiration=1000 headers={tenant=blue}
//
// Of no property it makes nil.
func Properties(text string) (p *leveret.Properties, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case scriptError:
			err = errors.New(string(e))
		default:
			panic(e)
		}
	}()
	args, err := (&reader{s: text}).args()
	if err != nil {
		return nil, err
	}
	w := newWords(&Step{Verb: "properties", Args: args}, "")
	m := w.message()
	w.done()
	return m.Properties, nil
}
