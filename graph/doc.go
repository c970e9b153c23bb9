// Package graph draws topologies and the journeys of messages.
//
// [Of] describes what is in a virtual host: exchanges, queues, bindings, where dead letters and what an exchange does
// not route go, limits and times to live, and what is in the queues. [OfEvents] describes what happened to one message,
// from the events of a [leveret.Broker.Watch] or a journey of package leverettest. Both return a [Graph], a plain value
// that a program may change, or make by itself.
//
// A Graph is drawn as SVG, or written for Graphviz (DOT) or Mermaid. Nothing but this package is needed, and the same
// graph gives the same text each time. The SVG follows the reader's light or dark scheme. Names come from clients:
// whatever they contain, they are shown as text, on one line, and shortened if they are long; the SVG has them whole as
// tooltips.
//
// In an SVG everything flows from left to right. What returns, such as a dead letter that is tried again, leaves at the
// right and runs back to the left in a lane of its own, in a thick line. No label or box covers another, and no
// line runs through one.
package graph
