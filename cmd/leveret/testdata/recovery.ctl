# A client with automatic recovery whose connections an operator closes. What is listed of a quorum queue lags behind.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
@ connect recovering
~ ^[^r]
$ list_queues -p ctl-test -q name messages_ready messages_unacknowledged consumers
> kept	1	2	1
> mine	1	2	1
> name	messages_ready	messages_unacknowledged	consumers
> passing	1	2	1
> single	1	2	1
$ list_consumers -p ctl-test -q queue_name consumer_tag ack_required prefetch_count active arguments
> kept	of kept	true	2	true	[{"x-priority",1}]
> mine	of mine	true	2	true	[{"x-priority",1}]
> passing	of passing	true	2	true	[{"x-priority",1}]
> queue_name	consumer_tag	ack_required	prefetch_count	active	arguments
> replicated	of replicated	true	2	true	[{"x-priority",1}]
> single	of single	true	2	true	[{"x-priority",1}]
$ list_bindings -p ctl-test -q source_name destination_name routing_key
> 	kept	kept
> 	mine	mine
> 	passing	passing
> 	replicated	replicated
> 	single	single
> amq.direct	kept	all
> amq.direct	mine	all
> amq.direct	passing	all
> amq.direct	replicated	all
> amq.direct	single	all
> source_name	destination_name	routing_key
~ ctl-user
$ list_connections -q name user vhost state channels
> ADDR -> ADDR	ctl-user	ctl-test	running	2
~ ctl-user
$ list_channels -q user number consumer_count messages_unacknowledged confirm prefetch_count --vhost ctl-test
> ctl-user	1	0	0	true	0
> ctl-user	2	5	10	false	2
$ close_all_connections -p ctl-test once
> Closing all connections in vhost ctl-test, reason: once...
> Closed 1 connections
@ recovered
~ ^[^r]
$ list_queues -p ctl-test -q name messages_ready messages_unacknowledged consumers
> kept	1	2	1
> mine	0	0	1
> name	messages_ready	messages_unacknowledged	consumers
> passing	0	0	1
> single	1	2	1
$ list_consumers -p ctl-test -q queue_name consumer_tag ack_required prefetch_count active arguments
> kept	of kept	true	2	true	[{"x-priority",1}]
> mine	of mine	true	2	true	[{"x-priority",1}]
> passing	of passing	true	2	true	[{"x-priority",1}]
> queue_name	consumer_tag	ack_required	prefetch_count	active	arguments
> replicated	of replicated	true	2	true	[{"x-priority",1}]
> single	of single	true	2	true	[{"x-priority",1}]
$ list_bindings -p ctl-test -q source_name destination_name routing_key
> 	kept	kept
> 	mine	mine
> 	passing	passing
> 	replicated	replicated
> 	single	single
> amq.direct	kept	all
> amq.direct	mine	all
> amq.direct	passing	all
> amq.direct	replicated	all
> amq.direct	single	all
> source_name	destination_name	routing_key
$ close_all_connections -p ctl-test twice
> Closing all connections in vhost ctl-test, reason: twice...
> Closed 1 connections
@ recovered
~ ^[^r]
$ list_queues -p ctl-test -q name messages_ready messages_unacknowledged consumers
> kept	1	2	1
> mine	0	0	1
> name	messages_ready	messages_unacknowledged	consumers
> passing	0	0	1
> single	1	2	1
$ list_consumers -p ctl-test -q queue_name consumer_tag active
> kept	of kept	true
> mine	of mine	true
> passing	of passing	true
> queue_name	consumer_tag	active
> replicated	of replicated	true
> single	of single	true
@ disconnect
~ ^[^r]
$ list_queues -p ctl-test -q name messages_ready messages_unacknowledged consumers
> kept	3	0	0
> name	messages_ready	messages_unacknowledged	consumers
> single	3	0	0
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
