module github.com/leveretmq/leveret

go 1.25.0
