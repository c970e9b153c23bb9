# Listings of what a client has made, and operations on it.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
@ connect
$ -q set_policy -p ctl-test limit ^[wq] '{"max-length":10,"dead-letter-exchange":"d","message-ttl":1000000}' --priority 3 --apply-to queues
$ -q set_operator_policy -p ctl-test oplimit ^w '{"max-length":5}'
$ list_queues -p ctl-test
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine	0
> name	messages
> quorum queue	0
> work	3
> ü	0
$ list_queues -q -p ctl-test
> mine	0
> name	messages
> quorum queue	0
> work	3
> ü	0
$ list_queues -s -p ctl-test
> mine	0
> quorum queue	0
> work	3
> ü	0
$ list_queues --no-table-headers -p ctl-test name
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine
> quorum queue
> work
> ü
$ -p ctl-test -q list_queues name durable auto_delete exclusive arguments
> mine	false	true	true	[{"x-queue-type","classic"}]
> name	durable	auto_delete	exclusive	arguments
> quorum queue	true	false		[{"x-queue-type","quorum"}]
> work	true	false	false	[{"x-array","ab"},{"x-dead-letter-exchange","dlx"},{"x-empty",[]},{"x-float",1.100000023841858},{"x-message-ttl",5000000},{"x-queue-type","classic"},{"x-text","a\"b\\\tü"},{"x-unicode",[955]},{"x-void",undefined}]
> ü	true	false	false	[{"x-queue-type","classic"}]
$ list_queues -q -p ctl-test name,messages_ready messages_unacknowledged messages consumers
> mine	0	0	0	1
> name	messages_ready	messages_unacknowledged	messages	consumers
> quorum queue	0	0	0	0
> work	2	1	3	1
> ü	0	0	0	0
$ list_queues -q -p ctl-test name policy operator_policy effective_policy_definition
> mine			#{}
> name	policy	operator_policy	effective_policy_definition
> quorum queue	limit		[{<<"dead-letter-exchange">>, d}, {<<"max-length">>, 10}, {<<"message-ttl">>, 1000000}]
> work	limit	oplimit	[{<<"dead-letter-exchange">>, d}, {<<"max-length">>, 5}, {<<"message-ttl">>, 1000000}]
> ü			#{}
$ list_queues -q -p ctl-test name owner_pid exclusive_consumer_pid
> mine	PID	PID
> name	owner_pid	exclusive_consumer_pid
> quorum queue		
> work		
> ü		
$ list_queues -q -p ctl-test name message_bytes message_bytes_ready message_bytes_unacknowledged
> mine	0	0	0
> name	message_bytes	message_bytes_ready	message_bytes_unacknowledged
> quorum queue			
> work	15	10	5
> ü	0	0	0
$ list_queues -q -p ctl-test name head_message_timestamp state type leader members online
> mine		running	classic	NODE	[NODE]	
> name	head_message_timestamp	state	type	leader	members	online
> quorum queue		running	quorum	NODE	[NODE]	[NODE]
> work		running	classic	NODE	[NODE]	
> ü		running	classic	NODE	[NODE]	
$ list_queues -p ctl-test --formatter json
> [
> ]
> {"messages":0,"name":"mine"}
> {"messages":0,"name":"quorum queue"}
> {"messages":0,"name":"ü"}
> {"messages":3,"name":"work"}
$ list_queues -p ctl-test --formatter=json name durable auto_delete exclusive arguments policy operator_policy effective_policy_definition owner_pid
> [
> ]
> {"arguments":[["x-array","array",{"signedint":98}],["x-dead-letter-exchange","longstr","dlx"],["x-empty","longstr",""],["x-float","float",1.100000023841858],["x-message-ttl","signedint",5000000],["x-queue-type","longstr","classic"],["x-text","longstr","a\"b\\\tü"],["x-unicode","longstr","λ"],["x-void","void","undefined"]],"auto_delete":false,"durable":true,"effective_policy_definition":{"dead-letter-exchange":"d","max-length":5,"message-ttl":1000000},"exclusive":false,"name":"work","operator_policy":"oplimit","owner_pid":"","policy":"limit"}
> {"arguments":[["x-queue-type","longstr","classic"]],"auto_delete":false,"durable":true,"effective_policy_definition":{},"exclusive":false,"name":"ü","operator_policy":"","owner_pid":"","policy":""}
> {"arguments":[["x-queue-type","longstr","classic"]],"auto_delete":true,"durable":false,"effective_policy_definition":{},"exclusive":true,"name":"mine","operator_policy":"","owner_pid":"PID","policy":""}
> {"arguments":[["x-queue-type","longstr","quorum"]],"auto_delete":false,"durable":true,"effective_policy_definition":{"dead-letter-exchange":"d","max-length":10,"message-ttl":1000000},"exclusive":"","name":"quorum queue","operator_policy":"","owner_pid":"","policy":"limit"}
$ list_queues -p ctl-test --formatter json name message_bytes head_message_timestamp state type leader members online
> [
> ]
> {"head_message_timestamp":"","leader":"NODE","members":["NODE"],"message_bytes":"","name":"quorum queue","online":["NODE"],"state":"running","type":"quorum"}
> {"head_message_timestamp":"","leader":"NODE","members":["NODE"],"message_bytes":0,"name":"mine","online":"","state":"running","type":"classic"}
> {"head_message_timestamp":"","leader":"NODE","members":["NODE"],"message_bytes":0,"name":"ü","online":"","state":"running","type":"classic"}
> {"head_message_timestamp":"","leader":"NODE","members":["NODE"],"message_bytes":15,"name":"work","online":"","state":"running","type":"classic"}
$ list_queues -p ctl-test --formatter csv name messages
> "mine","0"
> "name","messages"
> "quorum queue","0"
> "work","3"
> "ü","0"
$ list_queues -p ctl-test --formatter table name messages
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine	0
> name	messages
> quorum queue	0
> work	3
> ü	0
$ list_queues -p ctl-test bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_queues -p ctl-test bogus
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-no
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-no ...
$ list_queues -p ctl-no --formatter json
> [
> ]
$ list_queues -p ctl-test --timeout 5 name
> Timeout: 5.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine
> name
> quorum queue
> work
> ü
$ list_queues -p ctl-test -t x name
! Error (argument validation): Invalid options for this command:
! -t : x
! Arguments given:
! 	list_queues -p ctl-test -t x name
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-test --bogus name
! Error (argument validation): Invalid options for this command:
! --bogus : 
! Arguments given:
! 	list_queues -p ctl-test --bogus name
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-test --offline name
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
$ list_queues -p ctl-test --online name
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine
> name
> quorum queue
> work
> ü
$ list_queues -p ctl-test messages name messages
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> 0	mine
> 0	quorum queue
> 0	ü
> 3	work
> messages	name
$ list_queues -p
! Error (argument validation): Invalid options for this command:
! -p : 
! Arguments given:
! 	list_queues -p
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-test --quiet=true name
> mine
> name
> quorum queue
> work
> ü
$ list_queues -qs -p ctl-test name
> mine
> quorum queue
> work
> ü
$ list_queues -p ctl-test --table-headers -q name
> mine
> name
> quorum queue
> work
> ü
$ list_queues -p ctl-test --formatter json --no-table-headers -s name
! Error (argument validation): Invalid options for this command:
! --no-table-headers : 
! Arguments given:
! 	list_queues -p ctl-test --formatter json --no-table-headers -s name
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-test -- name
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> mine
> name
> quorum queue
> work
> ü
$ list_queues -p=ctl-test -q name
> mine
> name
> quorum queue
> work
> ü
$ list_queues -vhost ctl-test
! Error (argument validation): Invalid options for this command:
! -v : 
! -h : 
! -o : 
! -t : ctl-test
! Arguments given:
! 	list_queues -vhost ctl-test
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_queues -p ctl-test --dry-run
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
$ list_exchanges -p ctl-test
> Listing exchanges for vhost ctl-test ...
> 	direct
> amq.direct	direct
> amq.fanout	fanout
> amq.headers	headers
> amq.match	headers
> amq.rabbitmq.trace	topic
> amq.topic	topic
> name	type
> x.headers	headers
> x.topic	topic
$ list_exchanges -p ctl-test -q name type durable auto_delete internal arguments policy
> 	direct	true	false	false	[]	
> amq.direct	direct	true	false	false	[]	
> amq.fanout	fanout	true	false	false	[]	
> amq.headers	headers	true	false	false	[]	
> amq.match	headers	true	false	false	[]	
> amq.rabbitmq.trace	topic	true	false	true	[]	
> amq.topic	topic	true	false	false	[]	
> name	type	durable	auto_delete	internal	arguments	policy
> x.headers	headers	false	true	true	[]	
> x.topic	topic	true	false	false	[{"alternate-exchange","ae"}]	
$ list_exchanges -p ctl-test name type durable auto_delete internal arguments policy --formatter json
> [
> ]
> {"arguments":[["alternate-exchange","longstr","ae"]],"auto_delete":false,"durable":true,"internal":false,"name":"x.topic","policy":"","type":"topic"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"","policy":"","type":"direct"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"amq.direct","policy":"","type":"direct"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"amq.fanout","policy":"","type":"fanout"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"amq.headers","policy":"","type":"headers"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"amq.match","policy":"","type":"headers"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":false,"name":"amq.topic","policy":"","type":"topic"}
> {"arguments":[],"auto_delete":false,"durable":true,"internal":true,"name":"amq.rabbitmq.trace","policy":"","type":"topic"}
> {"arguments":[],"auto_delete":true,"durable":false,"internal":true,"name":"x.headers","policy":"","type":"headers"}
$ list_exchanges -p ctl-no
> Listing exchanges for vhost ctl-no ...
$ list_exchanges -p ctl-test bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_exchanges -p ctl-test bogus
! 
! Usage
! 
! PROGRAM list_exchanges [--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]
= 64
$ list_bindings -p ctl-test
> Listing bindings for vhost ctl-test...
> 	exchange	mine	queue	mine	[]
> 	exchange	quorum queue	queue	quorum queue	[]
> 	exchange	work	queue	work	[]
> 	exchange	ü	queue	ü	[]
> amq.headers	exchange	work	queue	k	[{"array",["x",1,2]},{"bool",true},{"bytes",<<"bin">>},{"decimal",{2,314}},{"double",1.5},{"long",1},{"string","s"},{"table",[{"a","b"}]},{"void",undefined},{"x-match","all"}]
> source_name	source_kind	destination_name	destination_kind	routing_key	arguments
> x.topic	exchange	work	queue	a.*	[]
> x.topic	exchange	x.headers	exchange		[]
$ list_bindings -p ctl-test --formatter json
> [
> ]
> {"arguments":[["array","array",{"longstr":"x","signedint":2}],["bool","bool",true],["bytes","binary","bin"],["decimal","decimal",[2,314]],["double","double",1.5],["long","long",1],["string","longstr","s"],["table","table",[["a","longstr","b"]]],["void","void","undefined"],["x-match","longstr","all"]],"destination_kind":"queue","destination_name":"work","routing_key":"k","source_kind":"exchange","source_name":"amq.headers"}
> {"arguments":[],"destination_kind":"exchange","destination_name":"x.headers","routing_key":"","source_kind":"exchange","source_name":"x.topic"}
> {"arguments":[],"destination_kind":"queue","destination_name":"mine","routing_key":"mine","source_kind":"exchange","source_name":""}
> {"arguments":[],"destination_kind":"queue","destination_name":"quorum queue","routing_key":"quorum queue","source_kind":"exchange","source_name":""}
> {"arguments":[],"destination_kind":"queue","destination_name":"work","routing_key":"a.*","source_kind":"exchange","source_name":"x.topic"}
> {"arguments":[],"destination_kind":"queue","destination_name":"work","routing_key":"work","source_kind":"exchange","source_name":""}
> {"arguments":[],"destination_kind":"queue","destination_name":"ü","routing_key":"ü","source_kind":"exchange","source_name":""}
$ list_bindings -p ctl-test -q source_name routing_key
> 	mine
> 	quorum queue
> 	work
> 	ü
> amq.headers	k
> source_name	routing_key
> x.topic	
> x.topic	a.*
$ list_bindings -p ctl-test bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_bindings -p ctl-test bogus
! 
! Usage
! 
! PROGRAM list_bindings [--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]
= 64
$ list_bindings -p ctl-no
> Listing bindings for vhost ctl-no...
~ ctl-user|Listing|user
$ list_connections
> Listing connections ...
> ctl-user	127.0.0.1	PORT	running
> user	peer_host	peer_port	state
~ ctl-
$ list_connections -q pid name host peer_host state channels protocol user vhost
> PID	ADDR -> ADDR	127.0.0.1	127.0.0.1	running	4	{0,9,1}	ctl-user	ctl-test
~ ctl-
$ list_connections --formatter json pid name host peer_port peer_host state channels protocol user vhost
> {"channels":4,"host":[127,0,0,1],"name":"ADDR -\u003e ADDR","peer_host":[127,0,0,1],"peer_port":0,"pid":"PID","protocol":[0,9,1],"state":"running","user":"ctl-user","vhost":"ctl-test"}
$ list_connections bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_connections bogus
! 
! Usage
! 
! PROGRAM list_connections [--no-table-headers] [<column> ...] [--timeout <timeout>]
= 64
~ ctl-user|Listing|user
$ list_channels
> Listing channels ...
> PID	ctl-user	0	0
> PID	ctl-user	0	0
> PID	ctl-user	0	0
> PID	ctl-user	2	1
> pid	user	consumer_count	messages_unacknowledged
~ ctl-
$ list_channels -q pid connection name number user vhost transactional confirm consumer_count messages_unacknowledged messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count
> PID	PID	ADDR -> ADDR (1)	1	ctl-user	ctl-test	false	false	0	0	0	0	0	0
> PID	PID	ADDR -> ADDR (2)	2	ctl-user	ctl-test	false	true	2	1	0	0	0	1
> PID	PID	ADDR -> ADDR (3)	3	ctl-user	ctl-test	false	true	0	0	0	0	0	0
> PID	PID	ADDR -> ADDR (4)	4	ctl-user	ctl-test	true	false	0	0	1	0	0	0
~ ctl-
$ list_channels --formatter json connection name number user vhost transactional confirm consumer_count messages_unacknowledged messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count
> {"acks_uncommitted":0,"confirm":false,"connection":"PID","consumer_count":0,"messages_unacknowledged":0,"messages_uncommitted":0,"messages_unconfirmed":0,"name":"ADDR -\u003e ADDR (1)","number":1,"prefetch_count":0,"transactional":false,"user":"ctl-user","vhost":"ctl-test"}
> {"acks_uncommitted":0,"confirm":false,"connection":"PID","consumer_count":0,"messages_unacknowledged":0,"messages_uncommitted":1,"messages_unconfirmed":0,"name":"ADDR -\u003e ADDR (4)","number":4,"prefetch_count":0,"transactional":true,"user":"ctl-user","vhost":"ctl-test"}
> {"acks_uncommitted":0,"confirm":true,"connection":"PID","consumer_count":0,"messages_unacknowledged":0,"messages_uncommitted":0,"messages_unconfirmed":0,"name":"ADDR -\u003e ADDR (3)","number":3,"prefetch_count":0,"transactional":false,"user":"ctl-user","vhost":"ctl-test"}
> {"acks_uncommitted":0,"confirm":true,"connection":"PID","consumer_count":2,"messages_unacknowledged":1,"messages_uncommitted":0,"messages_unconfirmed":0,"name":"ADDR -\u003e ADDR (2)","number":2,"prefetch_count":1,"transactional":false,"user":"ctl-user","vhost":"ctl-test"}
$ list_channels bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_channels bogus
! 
! Usage
! 
! PROGRAM list_channels [--no-table-headers] [<column> ...]
= 64
$ list_consumers -p ctl-test queue_name channel_pid ack_required prefetch_count active arguments
> Listing consumers in vhost ctl-test ...
> mine	PID	false	1	true	[]
> queue_name	channel_pid	ack_required	prefetch_count	active	arguments
> work	PID	true	1	true	[{"x-priority",3}]
$ list_consumers -p ctl-test activity_status active queue_name
> Listing consumers in vhost ctl-test ...
> mine	true	up
> queue_name	active	activity_status
> work	true	blocked
$ list_consumers -p ctl-test --formatter json queue_name ack_required prefetch_count active arguments
> [
> ]
> {"ack_required":false,"active":true,"arguments":[],"prefetch_count":1,"queue_name":"mine"}
> {"ack_required":true,"active":true,"arguments":[["x-priority","signedint",3]],"prefetch_count":1,"queue_name":"work"}
$ list_consumers -p ctl-test bogus
! Error (argument validation): Info key(s) bogus are not supported
! Arguments given:
! 	list_consumers -p ctl-test bogus
! 
! Usage
! 
! PROGRAM list_consumers [--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]
= 64
$ list_consumers -p ctl-no
> Listing consumers in vhost ctl-no ...
$ list_consumers -p ctl-no --formatter json
> [
> ]
$ delete_queue -p ctl-test work -e
> Deleting queue 'work' on vhost 'ctl-test' if queue is empty ...
! Error:
! {:amqp_error, :precondition_failed, ~c"queue 'work' in vhost 'ctl-test' not empty", :none}
= 69
$ delete_queue -p ctl-test work --if-unused
> Deleting queue 'work' on vhost 'ctl-test' if queue is unused ...
! Error:
! {:amqp_error, :precondition_failed, ~c"queue 'work' in vhost 'ctl-test' in use", :none}
= 69
$ delete_queue -p ctl-test work -e -u
> Deleting queue 'work' on vhost 'ctl-test' if queue is empty and if queue is unused ...
! Error:
! {:amqp_error, :precondition_failed, ~c"queue 'work' in vhost 'ctl-test' not empty", :none}
= 69
$ purge_queue -p ctl-test work
> Purging queue 'work' in vhost 'ctl-test' ...
$ list_queues -p ctl-test -q name messages_ready messages
> mine	0	0
> name	messages_ready	messages
> quorum queue	0	0
> work	0	1
> ü	0	0
$ purge_queue -p ctl-test ctl-no
> Purging queue 'ctl-no' in vhost 'ctl-test' ...
! Object (queue, stream, exchange, etc) was not found
= 65
$ purge_queue -p ctl-no q
> Purging queue 'q' in vhost 'ctl-no' ...
! Object (queue, stream, exchange, etc) was not found
= 65
$ purge_queue -p ctl-test ctl-no --formatter json
! Object (queue, stream, exchange, etc) was not found
= 65
$ purge_queue -p ctl-test work --formatter json
> {"node":"NODE","result":"ok"}
$ purge_queue -p ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	purge_queue -p ctl-test
! 
! Usage
! 
! PROGRAM purge_queue <queue> [--timeout <timeout>]
= 64
$ delete_queue -p ctl-test ctl-no
> Deleting queue 'ctl-no' on vhost 'ctl-test' ...
! Error:
! No such queue was found
= 64
$ delete_queue -p ctl-test ctl-no --formatter json
! Error:
! No such queue was found
= 64
$ delete_queue -p ctl-no q
> Deleting queue 'q' on vhost 'ctl-no' ...
! Error:
! No such queue was found
= 64
$ delete_queue -p ctl-test ''
! Error (argument validation): Bad argument: queue name cannot be an empty string
! Arguments given:
! 	delete_queue -p ctl-test 
! 
! Usage
! 
! PROGRAM delete_queue [--vhost <vhost>] <queue_name> [--if-empty|-e] [--if-unused|-u] [--force] [--timeout <timeout>]
= 65
$ delete_queue
! Error (argument validation): not enough arguments.
! Arguments given:
! 	delete_queue
! 
! Usage
! 
! PROGRAM delete_queue [--vhost <vhost>] <queue_name> [--if-empty|-e] [--if-unused|-u] [--force] [--timeout <timeout>]
= 64
$ delete_queue -p ctl-test mine
> Deleting queue 'mine' on vhost 'ctl-test' ...
> Queue was successfully deleted with 0 ready messages
$ delete_queue -p ctl-test 'quorum queue' -e
> Deleting queue 'quorum queue' on vhost 'ctl-test' if queue is empty ...
! Error:
! {:amqp_error, :not_implemented, ~c"cannot delete queue 'quorum queue' in vhost 'ctl-test'. queue.delete operations with if-empty flag set are not supported by quorum queues", :none}
= 69
$ delete_queue -p ctl-test ü --formatter json
> {"message":"Queue was successfully deleted with 0 ready messages"}
$ close_connection abc why
> Closing connection abc, reason: why...
! Error:
! Error:
! {:invalid_pid_syntax, "abc"}
= 69
$ close_connection <leveret@localhost.1.999999.0> why --formatter json
> {"node":"NODE","result":"ok"}
$ close_connection abc
! Error (argument validation): not enough arguments.
! Arguments given:
! 	close_connection abc
! 
! Usage
! 
! PROGRAM close_connection <connection pid> <explanation>
= 64
$ close_all_connections -p ctl-test reason --limit 1
> Closing 1 connections in vhost ctl-test, reason: reason...
> Closed 1 connections
$ close_all_connections -p ctl-test reason --formatter json
> {"node":"NODE","value":"Closed 0 connections","result":"ok"}
$ close_all_connections -p ctl-no reason
> Closing all connections in vhost ctl-no, reason: reason...
> Closed 0 connections
$ close_all_connections -p ctl-test -q reason
> Closed 0 connections
$ close_all_connections
! Error (argument validation): not enough arguments.
! Arguments given:
! 	close_all_connections
! 
! Usage
! 
! PROGRAM close_all_connections [--vhost <vhost> --limit <limit>] [-n <node> --global] [--per-connection-delay <delay>] <explanation>
= 64
$ list_queues -p ctl-test -q name messages messages_persistent message_bytes_persistent
> name	messages	messages_persistent	message_bytes_persistent
> quorum queue	0		
> work	1	1	5
$ delete_queue -p ctl-test work
> Deleting queue 'work' on vhost 'ctl-test' ...
> Queue was successfully deleted with 1 ready messages
@ disconnect
$ list_queues -p ctl-test -q
> name	messages
> quorum queue	0
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
