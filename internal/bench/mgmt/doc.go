// Package mgmt holds the benchmarks of the management API. They are a package of their own because the API's templates
// stay in the heap, so that the collector takes a third longer in the benchmarks of the engine that are beside them.
package mgmt
