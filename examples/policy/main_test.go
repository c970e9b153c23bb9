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
	// orders.eu under policy "orders", 2 waiting
	//   dead-letter-exchange     dlx        policy
	//   dead-letter-routing-key  by.policy  policy
	//   max-length               2          policy
	// orders.us under policy "orders", 2 waiting
	//   dead-letter-exchange     dlx          argument
	//   dead-letter-routing-key  by.argument  argument
	//   max-length               2            policy
	// dead: 4 waiting
	//   message  came by          died in    because  times  first at  having come by
	//   us 1     dlx by.argument  orders.us  maxlen   1      09:00:00  (default) orders.us
	//   eu 1     dlx by.policy    orders.eu  maxlen   1      09:00:00  (default) orders.eu
	//   eu 2     dlx by.policy    orders.eu  maxlen   1      09:00:00  (default) orders.eu
	//   us 2     dlx by.argument  orders.us  maxlen   1      09:00:00  (default) orders.us
}
