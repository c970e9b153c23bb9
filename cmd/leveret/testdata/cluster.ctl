# What is asked of a cluster, on a node that is alone.
$ await_online_nodes 1
> Will wait for at least 1 nodes to join the cluster of NODE. Timeout: 300 seconds.
$ await_online_nodes 1 -q
$ await_online_nodes
! Error (argument validation): not enough arguments.
! Arguments given:
! 	await_online_nodes
! 
! Usage
! 
! PROGRAM await_online_nodes <count> [--timeout <timeout>]
= 64
$ await_online_nodes x
! Error (argument validation): Bad argument: Argument must be a positive integer
! Arguments given:
! 	await_online_nodes x
! 
! Usage
! 
! PROGRAM await_online_nodes <count> [--timeout <timeout>]
= 65
$ await_online_nodes 2 --timeout 1
> Will wait for at least 2 nodes to join the cluster of NODE. Timeout: 1 seconds.
! Error:
! Error: timed out while waiting. Not enough nodes joined NODE's cluster.
= 70
$ restart_vhost
> Trying to restart vhost '/' on node 'NODE' ...
> Vhost '/' is already running on node 'NODE'
$ restart_vhost -q
> Vhost '/' is already running on node 'NODE'
$ restart_vhost -p nothing
> Trying to restart vhost 'nothing' on node 'NODE' ...
! Error:
! Failed to start vhost 'nothing' on node 'NODE'Reason: {:no_such_vhost, "nothing"}
= 70
$ restart_vhost --formatter json
> {"message":"Vhost '/' is already running on node 'NODE'"}
$ enable_feature_flag quorum_queue
> Enabling feature flag "quorum_queue" ...
$ enable_feature_flag quorum_queue --formatter json
> {"node":"NODE","result":"ok"}
$ enable_feature_flag all
> Enabling all feature flags ...
$ enable_feature_flag nothing
> Enabling feature flag "nothing" ...
! Error:
! This feature flag is not supported by node NODE
= 64
$ enable_feature_flag
! Error (argument validation): not enough arguments.
! Arguments given:
! 	enable_feature_flag
! 
! Usage
! 
! PROGRAM enable_feature_flag [--opt-in] <all | feature_flag>
= 64
$ list_feature_flags nothing
! Error (argument validation): Info key(s) nothing are not supported
! Arguments given:
! 	list_feature_flags nothing
! 
! Usage
! 
! PROGRAM list_feature_flags [<column> ...] [--timeout <timeout>]
= 64
$ list_deprecated_features nothing
! Error (argument validation): Info key(s) nothing are not supported
! Arguments given:
! 	list_deprecated_features nothing
! 
! Usage
! 
! PROGRAM list_deprecated_features [--used] [<column> ...]
= 64
$ list_deprecated_features --formatter json
> [
> ]
> {"deprecation_phase":"denied_by_default","name":"amqp_address_v1","state":"denied"}
> {"deprecation_phase":"denied_by_default","name":"amqp_filter_set_bug","state":"denied"}
> {"deprecation_phase":"denied_by_default","name":"global_qos","state":"permitted"}
> {"deprecation_phase":"denied_by_default","name":"queue_master_locator","state":"denied"}
> {"deprecation_phase":"permitted_by_default","name":"management_metrics_collection","state":"permitted"}
> {"deprecation_phase":"permitted_by_default","name":"transient_nonexcl_queues","state":"permitted"}
> {"deprecation_phase":"removed","name":"classic_queue_mirroring","state":"denied"}
> {"deprecation_phase":"removed","name":"ram_node_type","state":"denied"}
$ list_deprecated_features name state -s --formatter csv
> "amqp_address_v1","denied"
> "amqp_filter_set_bug","denied"
> "classic_queue_mirroring","denied"
> "global_qos","permitted"
> "management_metrics_collection","permitted"
> "name","state"
> "queue_master_locator","denied"
> "ram_node_type","denied"
> "transient_nonexcl_queues","permitted"
$ has_reached_target_cluster_size
> Checking if target cluster size has been reached on node NODE ...
> Target cluster size has been reached on node NODE
$ has_reached_target_cluster_size --formatter json
> {"result":"ok"}
