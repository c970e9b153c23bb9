package leveret

// A Table holds named values: the arguments of a declaration or binding, the headers of a
// message, the definition of a policy. Values have these Go types, one for each AMQP field type:
//
//	string            longstr        bool      bool
//	int8, uint8       byte, unsignedbyte       float32   float
//	int16, uint16     short, unsignedshort     float64   double
//	int32, uint32     signedint, unsignedint   Decimal   decimal
//	int64, int        long                     time.Time timestamp (whole seconds)
//	[]byte            binary                   nil       void
//	[]any, []string   array                    Table, map[string]any, Fields   table
//
// A time.Duration is accepted too and means a long of whole milliseconds. A Table does not
// keep an order; on delivery it reads in the order of its keys, as RabbitMQ 4.3 delivers headers.
type Table map[string]any

// Fields is a table as AMQP carries it: an ordered list in which a name may occur twice.
// Wherever a value may be a Table it may be Fields.
type Fields []Field

// A Field is one named value of Fields.
type Field struct {
	Name  string
	Value any
}

// A Decimal is the AMQP decimal: Value divided by ten to the power of Scale.
type Decimal struct {
	Scale uint8
	Value int32
}
