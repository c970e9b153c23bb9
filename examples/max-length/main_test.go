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
	// latest: 5 waiting
	//   message    came by
	//   reading 4  (default) latest
	//   reading 5  (default) latest
	//   reading 6  (default) latest
	//   reading 7  (default) latest
	//   reading 8  (default) latest
	// archive: 3 waiting
	//   message    came by             died in  because  times  first at  having come by
	//   reading 1  dlx latest.dropped  latest   maxlen   1      09:00:05  (default) latest
	//   reading 2  dlx latest.dropped  latest   maxlen   1      09:00:06  (default) latest
	//   reading 3  dlx latest.dropped  latest   maxlen   1      09:00:07  (default) latest
}
