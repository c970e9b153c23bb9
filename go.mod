module github.com/leveretmq/leveret

go 1.25.0

require (
	github.com/dlclark/regexp2 v1.12.0
	github.com/google/btree v1.1.3
	github.com/rabbitmq/amqp091-go v1.16.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
