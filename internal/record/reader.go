package record

import "hash/crc32"

// A Reader reads many operations with few allocations. Its zero value is ready to use.
//
// The [Message] with its Properties, and the [Put], that it yields are good until it yields the next one. What they refer to
// besides is not used again. Names that occur often, such as those of exchanges, are read as the same string.
type Reader struct {
	c          coder
	message    Message
	properties Properties
	put        Put
	names      [knownNames]string
}

// knownNames is how many names a reader knows, one for each place. A name that is read takes the place of another one.
const knownNames = 256

// maxName is the length of the longest name of AMQP.
const maxName = 255

// castagnoli gives a name its place. The place is the same in every process: so a reader allocates the same, too.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Items yields the items of an operation or a snapshot, as the function [Items] does.
func (r *Reader) Items(data []byte) func(yield func(Item, error) bool) {
	return func(yield func(Item, error) bool) {
		r.c = coder{reading: true, buf: data, reader: r}
		r.c.items(yield)
		r.c.buf = nil
	}
}

// name returns a name that was read.
func (r *Reader) name(b []byte) string {
	if len(b) > maxName {
		return string(b)
	}
	known := &r.names[crc32.Checksum(b, castagnoli)%knownNames]
	if *known != string(b) {
		*known = string(b)
	}
	return *known
}

// item returns an empty item of a type.
func (c *coder) item(kind uint8) Item {
	if r := c.reader; r != nil {
		switch kind {
		case r.message.kind():
			r.message = Message{}
			return &r.message
		case r.put.kind():
			r.put = Put{}
			return &r.put
		}
	}
	return makers[kind]()
}

// noProperties returns empty properties, to be read.
func (c *coder) noProperties() *Properties {
	if c.reader == nil {
		return new(Properties)
	}
	c.reader.properties = Properties{}
	return &c.reader.properties
}

// name is a text that many items have in common.
func (c *coder) name(x *string) {
	if c.reader == nil {
		c.text(x)
		return
	}
	n := uint64(0)
	c.uint64(&n)
	*x = c.reader.name(c.take(n))
}
