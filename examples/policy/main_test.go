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
	// orders.eu under policy "orders", 1 waiting
	//   dead-letter-exchange     dlx        policy
	//   dead-letter-routing-key  new.place  policy
	//   max-length               2          policy
	// orders.us under policy "orders", 2 waiting
	//   dead-letter-exchange     dlx        argument
	//   dead-letter-routing-key  old.place  argument
	//   max-length               2          policy
	// old: 3 waiting
	//   message  came by        died in    because   times  first at  having come by
	//   us 1     dlx old.place  orders.us  maxlen    1      09:00:00  (default) orders.us
	//   eu 1     dlx old.place  orders.eu  rejected  1      09:00:00  (default) orders.eu
	//   us 2     dlx old.place  orders.us  maxlen    1      09:01:00  (default) orders.us
	// new: 2 waiting
	//   message  came by        died in    because   times  first at  having come by
	//   eu 2     dlx new.place  orders.eu  maxlen    1      09:01:00  (default) orders.eu
	//   eu 3     dlx new.place  orders.eu  rejected  1      09:01:00  (default) orders.eu
}
