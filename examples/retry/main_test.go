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
	// 09:00:00  flaky    try.1  failed
	// 09:00:00  hopeless try.1  failed
	// 09:00:01  flaky    try.2  failed
	// 09:00:01  hopeless try.2  failed
	// 09:00:03  flaky    try.3  done
	// 09:00:03  hopeless try.3  failed
	// 09:00:07  hopeless try.4  failed
	//
	// parking-lot: 1 waiting
	//   message   came by        died in  because   times  first at  having come by
	//   hopeless  backoff try.4  work     rejected  4      09:00:00  jobs try.1
	//                            wait.4s  expired   1      09:00:07  backoff try.3
	//                            wait.2s  expired   1      09:00:03  backoff try.2
	//                            wait.1s  expired   1      09:00:01  backoff try.1
}
