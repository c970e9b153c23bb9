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
	// 09:00:00 seven orders come in; the queue holds five
	// 09:00:01 a consumer accepts one and rejects the next
	// 09:00:06 nobody came for the others in time
	//
	// orders: 0 waiting
	// dead: 6 waiting
	//   message  came by               died in  because   times  first at  having come by
	//   order 1  graveyard dead.order  orders   maxlen    1      09:00:00  shop order.new
	//   order 2  graveyard dead.order  orders   maxlen    1      09:00:00  shop order.new
	//   order 4  graveyard dead.order  orders   rejected  1      09:00:01  shop order.new
	//   order 5  graveyard dead.order  orders   expired   1      09:00:05  shop order.new
	//   order 6  graveyard dead.order  orders   expired   1      09:00:05  shop order.new
	//   order 7  graveyard dead.order  orders   expired   1      09:00:05  shop order.new
}
