// Package journey keeps and tells what happens to messages.
//
// [Record] attaches a [Recorder] to a broker. A [Journey] is the story of one message through all its copies and deaths;
// its String is a text in which a loss is marked at the beginning of its line, and graph.OfEvents draws its Events. Package
// leverettest prints journeys when a test fails; package trace sends a message through a topology and returns the journey.
package journey
