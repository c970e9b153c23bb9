package amqpd

// Pipe is the connection in memory that Server.Dial makes.
var Pipe = pipe
