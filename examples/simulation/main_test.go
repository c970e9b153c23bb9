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
	//   hours  orders  served  rejected  expired  overflowed  lost  longest queue  mean wait
	//   00-03     118     118         5        0           0     0              0        45s
	//   03-06      50      50         0        0           0     0              0        19s
	//   06-09     609     604        23        0           0     0              3        43s
	//   09-12    1596    1582        39        0           0     0             21        44s
	//   12-15    1827    1792        55       12          38    50            100      3m54s
	//   15-18    1519    1517        47        0           0     0             14        50s
	//   18-21    2608    2062        73        0         447   370            100      5m39s
	//   21-24     978    1077        33        4           1    82            100      3m34s
	//     all    9305    8802       275       16         486   502            100      2m53s
	//
	// 9305 orders = 8802 served + 502 lost + 1 still there
}
