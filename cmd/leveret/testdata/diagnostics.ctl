# Health checks of rabbitmq-diagnostics: record with -rabbitmqctl 'rabbitmq-diagnostics'.
$ check_alarms
> Asking node NODE to report any local resource alarms ...
> Node NODE reported no alarms, local or clusterwide
$ check_alarms -q
> Node NODE reported no alarms, local or clusterwide
$ check_alarms -s
$ check_alarms --formatter json
> {"result":"ok"}
$ check_alarms extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	check_alarms extra
! 
! Usage
! 
! PROGRAM check_alarms [--timeout <timeout>]
= 64
$ alarms
> Asking node NODE to report any known resource alarms ...
> Node NODE reported no alarms, local or clusterwide
$ alarms -q
> Node NODE reported no alarms, local or clusterwide
$ alarms --formatter json
> {"node":"NODE","result":"ok","alarms":[]}
$ check_local_alarms
> This command is DEPRECATED and is a no-op. It will be removed in a future version.
> Node NODE reported no local alarms
$ check_local_alarms --formatter json
> {"result":"ok"}
$ check_running
> Checking if RabbitMQ is running on node NODE ...
> RabbitMQ on node NODE is fully booted and running
$ check_running -q
> RabbitMQ on node NODE is fully booted and running
$ check_running -s
> RabbitMQ on node NODE is fully booted and running
$ check_running --formatter json
> {"message":"RabbitMQ on node NODE is fully booted and running"}
$ is_running
> Asking node NODE for its status ...
> RabbitMQ on node NODE is fully booted and running
$ is_running -q
> RabbitMQ on node NODE is fully booted and running
$ is_running --formatter json
> {"message":"RabbitMQ on node NODE is fully booted and running","result":true}
$ is_booting
> Asking node NODE for its boot status ...
> RabbitMQ on node NODE is fully booted (check with is_running), stopped or has not started booting yet
$ is_booting -s
> RabbitMQ on node NODE is fully booted (check with is_running), stopped or has not started booting yet
$ is_booting --formatter json
> {"message":"RabbitMQ on node NODE is fully booted (check with is_running), stopped or has not started booting yet","result":false}
$ check_virtual_hosts
> Checking if all vhosts are running on node NODE ...
> Node NODE reported all vhosts as running
$ check_virtual_hosts -q
> Node NODE reported all vhosts as running
$ check_virtual_hosts --formatter json
> {"result":"ok"}
$ check_virtual_hosts --timeout 5
> Checking if all vhosts are running on node NODE ...
> Node NODE reported all vhosts as running
$ check_port_listener
! Error (argument validation): not enough arguments.
! Arguments given:
! 	check_port_listener
! 
! Usage
! 
! PROGRAM check_port_listener <port> [--timeout <timeout>]
= 64
$ check_port_listener 1 2
! Error (argument validation): too many arguments.
! Arguments given:
! 	check_port_listener 1 2
! 
! Usage
! 
! PROGRAM check_port_listener <port> [--timeout <timeout>]
= 64
$ check_port_listener abc
! Error (argument validation): Bad argument: Argument must be a positive integer
! Arguments given:
! 	check_port_listener abc
! 
! Usage
! 
! PROGRAM check_port_listener <port> [--timeout <timeout>]
= 65
$ check_port_listener -q abc
! Error (argument validation): Bad argument: Argument must be a positive integer
! Arguments given:
! 	check_port_listener -q abc
! 
! Usage
! 
! PROGRAM check_port_listener <port> [--timeout <timeout>]
= 65
$ check_protocol_listener
! Error (argument validation): not enough arguments.
! Arguments given:
! 	check_protocol_listener
! 
! Usage
! 
! PROGRAM check_protocol_listener <protocol> [--timeout <timeout>]
= 64
$ check_protocol_listener amqp
> Asking node NODE if there's an active listener for protocol amqp ...
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener amqp091
> Asking node NODE if there's an active listener for protocol amqp091 ...
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener amqp0-9-1
> Asking node NODE if there's an active listener for protocol amqp0-9-1 ...
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener AMQP
> Asking node NODE if there's an active listener for protocol AMQP ...
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener amqp -q
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener amqp -s
> A listener for protocol amqp is running on node NODE.
$ check_protocol_listener amqp --formatter json
> {"node":"NODE","protocol":"amqp","result":"ok"}
$ check_if_node_is_quorum_critical
> Checking if node NODE is critical for quorum of any queues/streams ...
> Node NODE seems to be the only one in a single node cluster, the check does not apply
$ check_if_node_is_quorum_critical -q
> Node NODE seems to be the only one in a single node cluster, the check does not apply
$ check_if_node_is_quorum_critical --formatter json
> {"message":"Target node seems to be the only one in a single node cluster, the check does not apply","result":"ok"}
$ check_if_metadata_store_is_initialized
> Checking if metadata store on node NODE has finished initializing ...
> Metadata store on node NODE has completed its initialization
$ check_if_metadata_store_is_initialized --formatter json
> {"result":"ok"}
$ check_if_metadata_store_is_initialized -q
> Metadata store on node NODE has completed its initialization
$ check_if_metadata_store_is_initialized_with_data
> Checking if metadata store on node NODE has finished initializing ...
> Metadata store on node NODE has completed its initialization
$ check_certificate_expiration
> Checking certificate expiration for all certificates on node NODE ...
> No certificates are expiring within 4 weeks.
$ check_certificate_expiration --within 1
> Checking certificate expiration for all certificates on node NODE ...
> No certificates are expiring within 1 week.
$ check_certificate_expiration --within 1 --unit parsecs
! Error (argument validation): "unit 'parsecs' is not supported. Please use one of: days, weeks, months, years"
! Arguments given:
! 	check_certificate_expiration --within 1 --unit parsecs
! 
! Usage
! 
! PROGRAM check_certificate_expiration [--within <period>] [--unit <unit>]
= 64
$ check_certificate_expiration --unit weeks
> Checking certificate expiration for all certificates on node NODE ...
> No certificates are expiring within 4 weeks.
$ node_health_check
> This command is DEPRECATED and is a no-op. It will be removed in a future version. 
> Use one of the options covered in https://www.rabbitmq.com/monitoring.html#health-checks instead.
$ server_version
> Asking node NODE for its RabbitMQ version...
> 4.3.6
$ server_version -q
> 4.3.6
$ server_version --formatter json
> {"value":"4.3.6","result":"ok"}
$ list_policies_that_match nonesuch
> Listing policies that match queue 'nonesuch' in vhost '/' ...
! Object (queue, stream, exchange, etc) was not found
= 65
$ list_policies_that_match
! Error (argument validation): not enough arguments.
! Arguments given:
! 	list_policies_that_match
! 
! Usage
! 
! PROGRAM list_policies_that_match [--object-type <type>] <name>
= 64
$ list_policies_that_match nonesuch --formatter json
> {"message":"object (queue, exchange) not found","policies":[],"result":"error"}
$ list_unresponsive_queues
> Listing unresponsive queues for vhost / ...
$ list_unresponsive_queues -q
$ list_unresponsive_queues --formatter json
> [
> ]
$ check_alarm
! 
! Command 'check_alarm' not found. 
! Did you mean 'check_alarms'? 
! 
= 64
