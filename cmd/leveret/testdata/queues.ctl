# Listings of what a client has made, and operations on it.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
@ connect
$ -q set_policy -p ctl-test limit ^[wq] '{"max-length":10,"dead-letter-exchange":"d","message-ttl":1000000}' --priority 3 --apply-to queues
$ -q set_operator_policy -p ctl-test oplimit ^w '{"max-length":5}'
$ list_queues -p ctl-test
$ list_queues -q -p ctl-test
$ list_queues -s -p ctl-test
$ list_queues --no-table-headers -p ctl-test name
$ -p ctl-test -q list_queues name durable auto_delete exclusive arguments
$ list_queues -q -p ctl-test name,messages_ready messages_unacknowledged messages consumers
$ list_queues -q -p ctl-test name policy operator_policy effective_policy_definition
$ list_queues -q -p ctl-test name owner_pid exclusive_consumer_pid
$ list_queues -q -p ctl-test name messages_ram messages_persistent message_bytes message_bytes_ready message_bytes_unacknowledged message_bytes_persistent
$ list_queues -q -p ctl-test name head_message_timestamp state type leader members online
$ list_queues -p ctl-test --formatter json
$ list_queues -p ctl-test --formatter=json name durable auto_delete exclusive arguments policy operator_policy effective_policy_definition owner_pid
$ list_queues -p ctl-test --formatter json name messages_persistent message_bytes head_message_timestamp state type leader members online
$ list_queues -p ctl-test --formatter csv name messages
$ list_queues -p ctl-test --formatter table name messages
$ list_queues -p ctl-test bogus
$ list_queues -p ctl-no
$ list_queues -p ctl-no --formatter json
$ list_queues -p ctl-test --timeout 5 name
$ list_queues -p ctl-test -t x name
$ list_queues -p ctl-test --bogus name
$ list_queues -p ctl-test --offline name
$ list_queues -p ctl-test --online name
$ list_queues -p ctl-test messages name messages
$ list_queues -p
$ list_queues -p ctl-test --quiet=true name
$ list_queues -qs -p ctl-test name
$ list_queues -p ctl-test --table-headers -q name
$ list_queues -p ctl-test --formatter json --no-table-headers -s name
$ list_queues -p ctl-test -- name
$ list_queues -p=ctl-test -q name
$ list_queues -vhost ctl-test
$ list_queues -p ctl-test --dry-run
$ list_exchanges -p ctl-test
$ list_exchanges -p ctl-test -q name type durable auto_delete internal arguments policy
$ list_exchanges -p ctl-test name type durable auto_delete internal arguments policy --formatter json
$ list_exchanges -p ctl-no
$ list_exchanges -p ctl-test bogus
$ list_bindings -p ctl-test
$ list_bindings -p ctl-test --formatter json
$ list_bindings -p ctl-test -q source_name routing_key
$ list_bindings -p ctl-test bogus
$ list_bindings -p ctl-no
~ ctl-user|Listing|user
$ list_connections
~ ctl-
$ list_connections -q pid name host peer_host state channels protocol user vhost
~ ctl-
$ list_connections --formatter json pid name host peer_port peer_host state channels protocol user vhost
$ list_connections bogus
~ ctl-user|Listing|user
$ list_channels
~ ctl-
$ list_channels -q pid connection name number user vhost transactional confirm consumer_count messages_unacknowledged messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count
~ ctl-
$ list_channels --formatter json connection name number user vhost transactional confirm consumer_count messages_unacknowledged messages_uncommitted acks_uncommitted messages_unconfirmed prefetch_count
$ list_channels bogus
$ list_consumers -p ctl-test queue_name channel_pid ack_required prefetch_count active arguments
$ list_consumers -p ctl-test active queue_name
$ list_consumers -p ctl-test --formatter json queue_name ack_required prefetch_count active arguments
$ list_consumers -p ctl-test bogus
$ list_consumers -p ctl-no
$ list_consumers -p ctl-no --formatter json
$ delete_queue -p ctl-test work -e
$ delete_queue -p ctl-test work --if-unused
$ delete_queue -p ctl-test work -e -u
$ purge_queue -p ctl-test work
$ list_queues -p ctl-test -q name messages_ready messages
$ purge_queue -p ctl-test ctl-no
$ purge_queue -p ctl-no q
$ purge_queue -p ctl-test ctl-no --formatter json
$ purge_queue -p ctl-test work --formatter json
$ purge_queue -p ctl-test
$ delete_queue -p ctl-test ctl-no
$ delete_queue -p ctl-test ctl-no --formatter json
$ delete_queue -p ctl-no q
$ delete_queue -p ctl-test ''
$ delete_queue
$ delete_queue -p ctl-test mine
$ delete_queue -p ctl-test 'quorum queue' -e
$ delete_queue -p ctl-test ü --formatter json
$ close_connection abc why
$ close_connection <leveret@localhost.1.999999.0> why --formatter json
$ close_connection abc
$ close_all_connections -p ctl-test reason --limit 1
$ close_all_connections -p ctl-test reason --formatter json
$ close_all_connections -p ctl-no reason
$ close_all_connections -p ctl-test -q reason
$ close_all_connections
$ delete_queue -p ctl-test work
@ disconnect
$ list_queues -p ctl-test -q
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
