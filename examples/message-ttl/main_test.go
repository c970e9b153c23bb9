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
	// 09:00:02  2 still on offer
	// 09:00:05  0 still on offer
	//
	// expired: 3 waiting
	//   message           came by             died in  because  times  first at  having come by
	//   two seconds       dlx offers.expired  offers   expired  1      09:00:02  (default) offers
	//   the queue's five  dlx offers.expired  offers   expired  1      09:00:05  (default) offers
	//   one second        dlx offers.expired  offers   expired  1      09:00:05  (default) offers
}
