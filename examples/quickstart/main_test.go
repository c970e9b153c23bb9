package main

func Example() {
	main()
	// Output:
	// two pizzas, via dlx with key orders.dead
	// expired in orders, 1 time(s)
	// x-death: [map[count:1 exchange: queue:orders reason:expired routing-keys:[orders] time:2026-03-02 12:00:05 +0000 UTC]]
}
