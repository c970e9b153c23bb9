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
	// accepting "good"
	// rejecting "bad"
	// accepting "better"
	// rejecting "bad too"
	//
	// work: 0 waiting
	// rejects: 2 waiting
	//   message  came by            died in  because   times  first at  having come by
	//   bad      dlx work.rejected  work     rejected  1      09:00:01  (default) work
	//   bad too  dlx work.rejected  work     rejected  1      09:00:03  (default) work
}
