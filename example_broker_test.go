
func ExampleProfile_Version() {
	fmt.Println(leveret.RabbitMQ43.Version())
	fmt.Println(leveret.RabbitMQ310.Version())
	// Output:
	// 4.3.6
	// 3.10.8
}
