package main

import (
	"fmt"
	"os"
)

func Example() {
	if err := run(os.Stdout); err != nil {
		fmt.Println(err)
	}

	// Output:
	// at-most-once
	// 09:00:00  payments holds 3, late holds 0
	// 09:00:05  lost: payment 3, dead_letter_refused by late
	// 09:01:00  payments holds 0, late holds 2
	// 09:01:00  collected: payment 1
	// 09:01:00  collected: payment 2
	// 09:11:00  payments holds 0, late holds 0
	// late: 0 waiting
	//
	// at-least-once
	// 09:00:00  payments holds 3, late holds 0
	// 09:01:00  payments holds 1, late holds 2
	// 09:01:00  collected: payment 1
	// 09:01:00  collected: payment 2
	// 09:11:00  payments holds 0, late holds 1
	// late: 1 waiting
	//   message    came by            died in   because  times  first at  having come by
	//   payment 3  dlx late.payments  payments  expired  1      09:00:05  (default) payments
}
