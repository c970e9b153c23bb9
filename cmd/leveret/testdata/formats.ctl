# One of everything in every format, and the columns that say how things are.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
$ -q list_queues -p ctl-test --formatter csv
$ -q list_queues -p ctl-test --formatter erlang
> []
$ -q list_queues -p ctl-test --formatter pretty_table
$ list_policies -p ctl-test --formatter csv
> 
> 
> 
$ list_policies -p ctl-test --formatter erlang
> Listing policies for vhost "ctl-test" ...
> []
$ list_policies -p ctl-test --formatter pretty_table
> Listing policies for vhost "ctl-test" ...
> (0lqqqqqqqqk(B
> (0x(B [1mOutput[0m (0x(B
> (0tqqqqqqqqu(B
> (0x(B []     (0x(B
> (0mqqqqqqqqj(B
@ connect alone
$ -q set_policy -p ctl-test é ^t '{"max-length":10,"overflow":"reject-publish"}' --priority 3 --apply-to queues --formatter erlang
$ list_queues -p ctl-test --formatter erlang
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> [[{name,<<"tab\tÃ¼">>},{messages,0}]]
$ list_queues -p ctl-test --formatter pretty_table
> Timeout: 60.0 seconds ...
> Listing queues for vhost ctl-test ...
> (0lqqqqqqqqqqqwqqqqqqqqqqk(B
> (0x(B [1mname[0m      (0x(B [1mmessages[0m (0x(B
> (0tqqqqqqqqqqqnqqqqqqqqqqu(B
> (0x(B tab     ü (0x(B 0        (0x(B
> (0mqqqqqqqqqqqvqqqqqqqqqqj(B
$ list_queues -p ctl-test --formatter csv
> "name","messages"
> "tab	ü","0"
$ list_queues -p ctl-test -s --formatter erlang name durable auto_delete exclusive arguments policy operator_policy effective_policy_definition owner_pid exclusive_consumer_tag type state messages_persistent head_message_timestamp consumer_capacity
> [[{name,<<"tab\tÃ¼">>},
>   {durable,true},
>   {auto_delete,false},
>   {exclusive,false},
>   {arguments,[{<<"x-array">>,array,
>                [{longstr,<<"a">>},{long,1},{bool,true},{void,undefined}]},
>               {<<"x-decimal">>,decimal,{2,314}},
>               {<<"x-max-length">>,signedint,10},
>               {<<"x-queue-type">>,longstr,<<"classic">>},
>               {<<"x-table">>,table,[{<<"a">>,double,1.5}]},
>               {<<"x-text">>,longstr,<<"Î»\"Ã¼">>}]},
>   {policy,<<"Ã©">>},
>   {operator_policy,''},
>   {effective_policy_definition,[{<<"max-length">>,10},
>                                 {<<"overflow">>,<<"reject-publish">>}]},
>   {owner_pid,''},
>   {exclusive_consumer_tag,''},
>   {type,classic},
>   {state,running},
>   {messages_persistent,0},
>   {head_message_timestamp,''},
>   {consumer_capacity,1.0}]]
$ list_queues -p ctl-test -s --formatter pretty_table name durable exclusive arguments policy operator_policy effective_policy_definition owner_pid exclusive_consumer_tag type state messages_persistent head_message_timestamp consumer_capacity
> (0lqqqqqqqqqqqwqqqqqqqqqwqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqwqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqwqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqk(B
> (0x(B [1mname[0m      (0x(B [1mdurable[0m (0x(B [1mexclusive[0m (0x(B [1marguments[0m                                                                                                                                                                                                                                              (0x(B [1mpolicy[0m (0x(B [1moperator_policy[0m (0x(B [1meffective_policy_definition[0m                                (0x(B [1mowner_pid[0m (0x(B [1mexclusive_consumer_tag[0m (0x(B [1mtype[0m    (0x(B [1mstate[0m   (0x(B [1mmessages_persistent[0m (0x(B [1mhead_message_timestamp[0m (0x(B [1mconsumer_capacity[0m (0x(B
> (0tqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqnqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqu(B
> (0x(B tab     ü (0x(B true    (0x(B false     (0x(B {<<"x-array">>,array,                                                                                                                                                                                                                                  (0x(B é      (0x(B                 (0x(B {<<"max-length">>,10}{<<"overflow">>,<<"reject-publish">>} (0x(B           (0x(B                        (0x(B classic (0x(B running (0x(B 0                   (0x(B                        (0x(B 1.000000          (0x(B
> (0x(B           (0x(B         (0x(B           (0x(B  [{longstr,<<"a">>},{long,1},{bool,true},{void,undefined}]}{<<"x-decimal">>,decimal,{2,314}}{<<"x-max-length">>,signedint,10}{<<"x-queue-type">>,longstr,<<"classic">>}{<<"x-table">>,table,[{<<"a">>,double,1.5}]}{<<"x-text">>,longstr,<<"Î»\"Ã¼">>} (0x(B        (0x(B                 (0x(B                                                            (0x(B           (0x(B                        (0x(B         (0x(B         (0x(B                     (0x(B                        (0x(B                   (0x(B
> (0mqqqqqqqqqqqvqqqqqqqqqvqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqvqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqvqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqj(B
$ list_queues -p ctl-test -s --formatter csv name durable exclusive policy operator_policy owner_pid exclusive_consumer_tag type state messages_persistent head_message_timestamp consumer_capacity
> "name","durable","exclusive","policy","operator_policy","owner_pid","exclusive_consumer_tag","type","state","messages_persistent","head_message_timestamp","consumer_capacity"
> "tab	ü","true","false","é","","","","classic","running","0","","1.0"
$ list_queues -p ctl-test --no-table-headers --formatter pretty_table
! Error (argument validation): Invalid options for this command:
! --no-table-headers : 
! Arguments given:
! 	list_queues -p ctl-test --no-table-headers --formatter pretty_table
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_consumers -p ctl-test -q --formatter erlang
> [[[{queue_name,<<"tab\tÃ¼">>},
>    {channel_pid,PID},
>    {consumer_tag,<<"tag">>},
>    {ack_required,true},
>    {prefetch_count,0},
>    {active,true},
>    {arguments,[{<<"x-priority">>,signedint,3}]}]]]
$ list_consumers -p ctl-test -q --formatter erlang queue_name consumer_tag active activity_status
> [[[{queue_name,<<"tab\tÃ¼">>},
>    {consumer_tag,<<"tag">>},
>    {active,true},
>    {activity_status,up}]]]
$ list_consumers -p ctl-test -q --formatter pretty_table queue_name consumer_tag ack_required active activity_status arguments
> (0lqqqqqqqqqqqqwqqqqqqqqqqqqqqwqqqqqqqqqqqqqqwqqqqqqqqwqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqk(B
> (0x(B [1mqueue_name[0m (0x(B [1mconsumer_tag[0m (0x(B [1mack_required[0m (0x(B [1mactive[0m (0x(B [1mactivity_status[0m (0x(B [1marguments[0m                      (0x(B
> (0tqqqqqqqqqqqqnqqqqqqqqqqqqqqnqqqqqqqqqqqqqqnqqqqqqqqnqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqu(B
> (0x(B tab     ü  (0x(B tag          (0x(B true         (0x(B true   (0x(B up              (0x(B {<<"x-priority">>,signedint,3} (0x(B
> (0mqqqqqqqqqqqqvqqqqqqqqqqqqqqvqqqqqqqqqqqqqqvqqqqqqqqvqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj(B
$ list_consumers -p ctl-test -q --formatter csv queue_name consumer_tag ack_required active activity_status
> "queue_name","consumer_tag","ack_required","active","activity_status"
> "tab	ü","tag","true","true","up"
$ list_exchanges -p ctl-test --formatter erlang name type policy arguments
> Listing exchanges for vhost ctl-test ...
> [[{name,<<>>},{type,direct},{policy,''},{arguments,[]}],
>  [{name,<<"amq.direct">>},{type,direct},{policy,''},{arguments,[]}],
>  [{name,<<"amq.fanout">>},{type,fanout},{policy,''},{arguments,[]}],
>  [{name,<<"amq.headers">>},{type,headers},{policy,''},{arguments,[]}],
>  [{name,<<"amq.match">>},{type,headers},{policy,''},{arguments,[]}],
>  [{name,<<"amq.rabbitmq.trace">>},{type,topic},{policy,''},{arguments,[]}],
>  [{name,<<"amq.topic">>},{type,topic},{policy,''},{arguments,[]}]]
$ list_exchanges -p ctl-test --formatter pretty_table name type internal arguments
> Listing exchanges for vhost ctl-test ...
> (0lqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqwqqqqqqqqqqwqqqqqqqqqqqk(B
> (0x(B [1mname[0m               (0x(B [1mtype[0m    (0x(B [1minternal[0m (0x(B [1marguments[0m (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B                    (0x(B direct  (0x(B false    (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.direct         (0x(B direct  (0x(B false    (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.fanout         (0x(B fanout  (0x(B false    (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.headers        (0x(B headers (0x(B false    (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.match          (0x(B headers (0x(B false    (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.rabbitmq.trace (0x(B topic   (0x(B true     (0x(B           (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B amq.topic          (0x(B topic   (0x(B false    (0x(B           (0x(B
> (0mqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqvqqqqqqqqqqvqqqqqqqqqqqj(B
$ list_exchanges -p ctl-test --formatter csv name type internal arguments
> "","direct","false",""
> "amq.direct","direct","false",""
> "amq.fanout","fanout","false",""
> "amq.headers","headers","false",""
> "amq.match","headers","false",""
> "amq.rabbitmq.trace","topic","true",""
> "amq.topic","topic","false",""
> "name","type","internal","arguments"
$ list_bindings -p ctl-test --formatter erlang
> Listing bindings for vhost ctl-test...
> [[{source_name,<<>>},
>   {source_kind,exchange},
>   {destination_name,<<"tab\tÃ¼">>},
>   {destination_kind,queue},
>   {routing_key,<<"tab\tÃ¼">>},
>   {arguments,[]}]]
$ list_bindings -p ctl-test --formatter pretty_table
> Listing bindings for vhost ctl-test...
> (0lqqqqqqqqqqqqqwqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqqqqqqwqqqqqqqqqqqqqwqqqqqqqqqqqk(B
> (0x(B [1msource_name[0m (0x(B [1msource_kind[0m (0x(B [1mdestination_name[0m (0x(B [1mdestination_kind[0m (0x(B [1mrouting_key[0m (0x(B [1marguments[0m (0x(B
> (0tqqqqqqqqqqqqqnqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqqqqqqnqqqqqqqqqqqqqnqqqqqqqqqqqu(B
> (0x(B             (0x(B exchange    (0x(B tab     ü        (0x(B queue            (0x(B tab     ü   (0x(B           (0x(B
> (0mqqqqqqqqqqqqqvqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqqqqqqvqqqqqqqqqqqqqvqqqqqqqqqqqj(B
$ list_bindings -p ctl-test --formatter csv
> "","exchange","tab	ü","queue","tab	ü",""
> "source_name","source_kind","destination_name","destination_kind","routing_key","arguments"
$ list_permissions -p ctl-test --formatter erlang
> Listing permissions for vhost "ctl-test" ...
> [[{user,<<"ctl-user">>},
>   {configure,<<".*">>},
>   {write,<<".*">>},
>   {read,<<".*">>}]]
$ list_permissions -p ctl-test --formatter pretty_table
> Listing permissions for vhost "ctl-test" ...
> (0lqqqqqqqqqqwqqqqqqqqqqqwqqqqqqqwqqqqqqk(B
> (0x(B [1muser[0m     (0x(B [1mconfigure[0m (0x(B [1mwrite[0m (0x(B [1mread[0m (0x(B
> (0tqqqqqqqqqqnqqqqqqqqqqqnqqqqqqqnqqqqqqu(B
> (0x(B ctl-user (0x(B .*        (0x(B .*    (0x(B .*   (0x(B
> (0mqqqqqqqqqqvqqqqqqqqqqqvqqqqqqqvqqqqqqj(B
$ list_permissions -p ctl-test --formatter csv
> "ctl-user",".*",".*",".*"
> "user","configure","write","read"
$ list_policies -p ctl-test --formatter erlang
> Listing policies for vhost "ctl-test" ...
> [[{vhost,<<"ctl-test">>},
>   {name,<<"Ã©">>},
>   {pattern,<<"^t">>},
>   {'apply-to',<<"queues">>},
>   {definition,<<"{\"max-length\":10,\"overflow\":\"reject-publish\"}">>},
>   {priority,3}]]
$ list_policies -p ctl-test --formatter pretty_table
> Listing policies for vhost "ctl-test" ...
> (0lqqqqqqqqqqwqqqqqqwqqqqqqqqqwqqqqqqqqqqwqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqwqqqqqqqqqqk(B
> (0x(B [1mvhost[0m    (0x(B [1mname[0m (0x(B [1mpattern[0m (0x(B [1mapply-to[0m (0x(B [1mdefinition[0m                                    (0x(B [1mpriority[0m (0x(B
> (0tqqqqqqqqqqnqqqqqqnqqqqqqqqqnqqqqqqqqqqnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnqqqqqqqqqqu(B
> (0x(B ctl-test (0x(B é    (0x(B ^t      (0x(B queues   (0x(B {"max-length":10,"overflow":"reject-publish"} (0x(B 3        (0x(B
> (0mqqqqqqqqqqvqqqqqqvqqqqqqqqqvqqqqqqqqqqvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvqqqqqqqqqqj(B
$ list_policies -p ctl-test --formatter csv
> "ctl-test","é","^t","queues","{""max-length"":10,""overflow"":""reject-publish""}","3"
> "vhost","name","pattern","apply-to","definition","priority"
$ -q authenticate_user ctl-user secret --formatter erlang
> <<"Success">>
$ -q authenticate_user ctl-user secret --formatter pretty_table
> (0lqqqqqqqqqk(B
> (0x(B [1mOutput[0m  (0x(B
> (0tqqqqqqqqqu(B
> (0x(B Success (0x(B
> (0mqqqqqqqqqj(B
$ purge_queue -p ctl-test no --formatter erlang
> Purging queue 'no' in vhost 'ctl-test' ...
! Object (queue, stream, exchange, etc) was not found
= 65
$ -q close_all_connections -p ctl-no reason --formatter erlang
> <<"Closed 0 connections">>
$ -q close_all_connections -p ctl-no reason --formatter pretty_table
> (0lqqqqqqqqqqqqqqqqqqqqqqk(B
> (0x(B [1mOutput[0m               (0x(B
> (0tqqqqqqqqqqqqqqqqqqqqqqu(B
> (0x(B Closed 0 connections (0x(B
> (0mqqqqqqqqqqqqqqqqqqqqqqj(B
$ -q clear_policy -p ctl-test é --formatter pretty_table
~ ctl-user
$ list_connections -q user ssl ssl_protocol ssl_key_exchange ssl_cipher ssl_hash peer_cert_subject peer_cert_issuer peer_cert_serial_number peer_cert_validity
> ctl-user	false								
~ ctl-user
$ list_connections -q user auth_mechanism container_id timeout frame_max channel_max protocol state vhost
> ctl-user	PLAIN		10	131072	2047	{0,9,1}	running	ctl-test
~ ctl-user
$ list_connections -q user recv_oct recv_cnt send_oct send_cnt send_pend connected_at
> ctl-user	OCTETS	READS	OCTETS	WRITES	0	TIME
~ ctl-user
$ list_connections --formatter json user ssl ssl_protocol peer_cert_subject auth_mechanism container_id timeout frame_max channel_max client_properties send_pend
> {"auth_mechanism":"PLAIN","channel_max":2047,"client_properties":[["capabilities","table",[["basic.nack","bool",true],["connection.blocked","bool",true],["consumer_cancel_notify","bool",true],["publisher_confirms","bool",true]]],["connection_name","longstr","fixture"],["product","longstr","test"]],"container_id":"","frame_max":131072,"peer_cert_subject":"","send_pend":0,"ssl":false,"ssl_protocol":"","timeout":10,"user":"ctl-user"}
@ consume
$ list_consumers -p ctl-test -q queue_name consumer_tag active activity_status ack_required prefetch_count
> busy	of busy	true	1	true	blocked
> busy quorum	of busy quorum	true	1	true	up
> exact	of exact	true	1	true	up
> free	of free	true	1	true	up
> only	of only	true	1	true	up
> queue_name	consumer_tag	ack_required	prefetch_count	active	activity_status
> single	behind single	true	1	false	waiting
> single	of single	true	1	true	single_active
> single quorum	behind single quorum	true	1	false	waiting
> single quorum	of single quorum	true	1	true	single_active
> tab	ü	tag	true	0	true	up
$ list_consumers -p ctl-test --formatter json queue_name consumer_tag active activity_status
> [
> ]
> {"active":false,"activity_status":"waiting","consumer_tag":"behind single quorum","queue_name":"single quorum"}
> {"active":false,"activity_status":"waiting","consumer_tag":"behind single","queue_name":"single"}
> {"active":true,"activity_status":"blocked","consumer_tag":"of busy","queue_name":"busy"}
> {"active":true,"activity_status":"single_active","consumer_tag":"of single quorum","queue_name":"single quorum"}
> {"active":true,"activity_status":"single_active","consumer_tag":"of single","queue_name":"single"}
> {"active":true,"activity_status":"up","consumer_tag":"of busy quorum","queue_name":"busy quorum"}
> {"active":true,"activity_status":"up","consumer_tag":"of exact","queue_name":"exact"}
> {"active":true,"activity_status":"up","consumer_tag":"of free","queue_name":"free"}
> {"active":true,"activity_status":"up","consumer_tag":"of only","queue_name":"only"}
> {"active":true,"activity_status":"up","consumer_tag":"tag","queue_name":"tab\tü"}
~ ^[^q]+$
$ list_queues -p ctl-test -q name messages consumers exclusive_consumer_pid exclusive_consumer_tag owner_pid
> busy	3	1			
> exact	1	1			
> free	0	1			
> name	messages	consumers	exclusive_consumer_pid	exclusive_consumer_tag	owner_pid
> only	0	1	PID	of only	
> single	1	2			
> tab	ü	0	1			
$ list_queues -p ctl-test -q name messages_persistent message_bytes_persistent message_bytes message_bytes_ready message_bytes_unacknowledged
> busy	2	10	15	10	5
> busy quorum					
> exact	1	5	5	0	5
> free	0	0	0	0	0
> name	messages_persistent	message_bytes_persistent	message_bytes	message_bytes_ready	message_bytes_unacknowledged
> only	0	0	0	0	0
> single	1	5	5	0	5
> single quorum					
> tab	ü	0	0	0	0	0
~ ^[^q]+$
$ list_queues -p ctl-test --formatter json name messages_persistent message_bytes_persistent messages exclusive_consumer_tag
> [
> ]
> {"exclusive_consumer_tag":"","message_bytes_persistent":0,"messages":0,"messages_persistent":0,"name":"free"}
> {"exclusive_consumer_tag":"","message_bytes_persistent":0,"messages":0,"messages_persistent":0,"name":"tab\tü"}
> {"exclusive_consumer_tag":"","message_bytes_persistent":10,"messages":3,"messages_persistent":2,"name":"busy"}
> {"exclusive_consumer_tag":"","message_bytes_persistent":5,"messages":1,"messages_persistent":1,"name":"exact"}
> {"exclusive_consumer_tag":"","message_bytes_persistent":5,"messages":1,"messages_persistent":1,"name":"single"}
> {"exclusive_consumer_tag":"of only","message_bytes_persistent":0,"messages":0,"messages_persistent":0,"name":"only"}
~ ^(only|free|single)
$ list_queues -p ctl-test -q name consumer_capacity consumer_utilisation
> free	1.0	1.0
> only	1.0	1.0
> single	1.0	1.0
> single quorum		
@ disconnect
$ -q list_consumers -p ctl-test --formatter erlang
> []
$ -q list_consumers -p ctl-test --formatter pretty_table
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
