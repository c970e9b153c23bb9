# Limits of virtual hosts and users, and what else of a virtual host can be changed.
$ add_vhost ctl-test
> Adding vhost "ctl-test" ...
$ add_user ctl-user secret
> Adding user "ctl-user" ...
> Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.
$ set_permissions -p ctl-test ctl-user .* .* .*
> Setting permissions for user "ctl-user" in vhost "ctl-test" ...
$ set_vhost_limits -p ctl-test '{"max-connections": 64, "max-queues": 7}'
> Setting vhost limits to "{"max-connections": 64, "max-queues": 7}" for vhost "ctl-test" ...
$ list_vhost_limits -p ctl-test
> Listing limits for vhost "ctl-test" ...
> {"max-connections":64,"max-queues":7}
$ list_vhost_limits -p ctl-test --formatter json
> {"node":"NODE","result":"ok","value":"{\"max-connections\":64,\"max-queues\":7}"}
$ list_vhost_limits -p ctl-test --formatter erlang
> Listing limits for vhost "ctl-test" ...
> <<"{\"max-connections\":64,\"max-queues\":7}">>
$ list_vhost_limits -p ctl-test -q
> {"max-connections":64,"max-queues":7}
$ list_vhost_limits -p ctl-test -s
> {"max-connections":64,"max-queues":7}
$ list_vhost_limits
> Listing limits for vhost "/" ...
> 
$ list_vhost_limits --global
> Listing limits for all vhosts ...
> ctl-test	{"max-connections":64,"max-queues":7}
> vhost	limits
$ list_vhost_limits --global --formatter json
> [
> ]
> {"limits":"{\"max-connections\":64,\"max-queues\":7}","vhost":"ctl-test"}
$ list_vhost_limits -p ctl-none
> Listing limits for vhost "ctl-none" ...
! Virtual host 'ctl-none' does not exist
= 65
$ set_vhost_limits -p ctl-test '{"max-queues": 2}'
> Setting vhost limits to "{"max-queues": 2}" for vhost "ctl-test" ...
$ list_vhost_limits -q -p ctl-test
> {"max-queues":2}
@ connect alone
$ list_queues -q -p ctl-test name
> name
> tab	ü
@ disconnect
$ set_vhost_limits -p ctl-test '{"max-queues": -1}'
> Setting vhost limits to "{"max-queues": -1}" for vhost "ctl-test" ...
$ set_vhost_limits -p ctl-test '{"max-queues": -2}'
> Setting vhost limits to "{"max-queues": -2}" for vhost "ctl-test" ...
$ list_vhost_limits -q -p ctl-test
> {"max-queues":-2}
$ list_vhost_limits -q --global
> ctl-test	{"max-queues":-2}
> vhost	limits
$ clear_vhost_limits -p ctl-test
> Clearing vhost "ctl-test" limits ...
$ list_vhost_limits -q -p ctl-test
> 
$ set_vhost_limits -q -p ctl-test '{"max-queues": 99999999999, "max-queues": 7, "max-connections": -1}'
$ list_vhost_limits -q -p ctl-test
> {"max-connections":-1,"max-queues":99999999999}
$ set_vhost_limits -p ctl-test '{"max-queues": "a"}'
> Setting vhost limits to "{"max-queues": "a"}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! max-queues should be a number, actually was <<"a">>
! 
= 69
$ set_vhost_limits -p ctl-test '{"max-queues": 1.5}'
> Setting vhost limits to "{"max-queues": 1.5}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! max-queues should be a number, actually was 1.5
! 
= 69
$ set_vhost_limits -p ctl-test '{"max-queues": null}'
> Setting vhost limits to "{"max-queues": null}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! max-queues should be a number, actually was null
! 
= 69
$ set_vhost_limits -p ctl-test '{"max-channels": 2}'
> Setting vhost limits to "{"max-channels": 2}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [{<<"max-channels">>,2}] in limits
! 
= 69
$ set_vhost_limits -p ctl-test '{"b": 2, "a": "x", "max-queues": 1}'
> Setting vhost limits to "{"b": 2, "a": "x", "max-queues": 1}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [{<<"a">>,<<"x">>},{<<"b">>,2}] in limits
! 
= 69
$ set_vhost_limits -p ctl-test '{}'
> Setting vhost limits to "{}" for vhost "ctl-test" ...
$ list_vhost_limits -q -p ctl-test
> 
$ set_vhost_limits -p ctl-test nonsense
> Setting vhost limits to "nonsense" for vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,{failed_to_decode_json,<<"nonsense">>}}
= 69
$ set_vhost_limits -p ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_vhost_limits -p ctl-test
! 
! Usage
! 
! PROGRAM set_vhost_limits [--vhost <vhost>] <definition>
= 64
$ set_vhost_limits -p ctl-test a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_vhost_limits -p ctl-test a b
! 
! Usage
! 
! PROGRAM set_vhost_limits [--vhost <vhost>] <definition>
= 64
$ set_vhost_limits -p ctl-none '{"max-queues": 1}'
> Setting vhost limits to "{"max-queues": 1}" for vhost "ctl-none" ...
! Virtual host 'ctl-none' does not exist
= 65
$ set_vhost_limits -p ctl-test '{"max-queues": 1}' --formatter json
> {"node":"NODE","result":"ok"}
$ clear_vhost_limits -p ctl-test
> Clearing vhost "ctl-test" limits ...
$ list_vhost_limits -q -p ctl-test
> 
$ clear_vhost_limits -p ctl-test
> Clearing vhost "ctl-test" limits ...
! Error:
! Parameter does not exist
= 69
$ clear_vhost_limits -p ctl-none
> Clearing vhost "ctl-none" limits ...
! Error:
! Parameter does not exist
= 69
$ clear_vhost_limits -p ctl-test a
! Error (argument validation): too many arguments.
! Arguments given:
! 	clear_vhost_limits -p ctl-test a
! 
! Usage
! 
! PROGRAM clear_vhost_limits [--vhost <vhost>]
= 64
$ set_user_limits ctl-user '{"max-connections": 2, "max-channels": 3}'
> Setting user limits to "{"max-connections": 2, "max-channels": 3}" for user "ctl-user" ...
$ list_user_limits
> Listing limits for user "guest" ...
> {}
$ list_user_limits --user ctl-user
> Listing limits for user "ctl-user" ...
> {"max-channels":3,"max-connections":2}
$ list_user_limits --user ctl-user --formatter json
> {"message":"{\"max-channels\":3,\"max-connections\":2}"}
$ list_user_limits --user ctl-user --formatter erlang
> Listing limits for user "ctl-user" ...
> <<"{\"max-channels\":3,\"max-connections\":2}">>
$ list_user_limits --user ctl-none
> Listing limits for user "ctl-none" ...
! Error:
! {:no_such_user, "ctl-none"}
= 69
$ list_user_limits --global
> Listing limits for all users ...
> ctl-user	{"max-channels":3,"max-connections":2}
> user	limits
$ list_user_limits --global --formatter json
> [
> ]
> {"limits":"{\"max-channels\":3,\"max-connections\":2}","user":"ctl-user"}
$ list_user_limits a
! Error (argument validation): too many arguments.
! Arguments given:
! 	list_user_limits a
! 
! Usage
! 
! PROGRAM list_user_limits [--user <username>] [--global]
= 64
$ set_user_limits ctl-user '{"max-channels": 5}'
> Setting user limits to "{"max-channels": 5}" for user "ctl-user" ...
$ list_user_limits --user ctl-user
> Listing limits for user "ctl-user" ...
> {"max-channels":5,"max-connections":2}
$ set_user_limits ctl-user '{"max-channels": -1}'
> Setting user limits to "{"max-channels": -1}" for user "ctl-user" ...
$ set_user_limits ctl-user '{"max-channels": -2}'
> Setting user limits to "{"max-channels": -2}" for user "ctl-user" ...
$ list_user_limits -q --user ctl-user
> {"max-channels":-2,"max-connections":2}
$ set_user_limits ctl-user '{"max-channels": "a"}'
> Setting user limits to "{"max-channels": "a"}" for user "ctl-user" ...
! Error:
! max-channels should be a number, actually was <<"a">>
= 69
$ set_user_limits ctl-user '{"max-channels": 1.5}'
> Setting user limits to "{"max-channels": 1.5}" for user "ctl-user" ...
! Error:
! max-channels should be a number, actually was 1.5
= 69
$ set_user_limits ctl-user '{"max-queues": 1}'
> Setting user limits to "{"max-queues": 1}" for user "ctl-user" ...
! Error:
! Unrecognised terms [{<<"max-queues">>,1}] in user-limits
= 69
$ set_user_limits ctl-user '{}'
> Setting user limits to "{}" for user "ctl-user" ...
$ set_user_limits ctl-user nonsense
> Setting user limits to "nonsense" for user "ctl-user" ...
! Error:
! Could not parse JSON document: {error,{failed_to_decode_json,<<"nonsense">>}}
= 69
$ set_user_limits ctl-user
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_user_limits ctl-user
! 
! Usage
! 
! PROGRAM set_user_limits <username> <definition>
= 64
$ set_user_limits ctl-user a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_user_limits ctl-user a b
! 
! Usage
! 
! PROGRAM set_user_limits <username> <definition>
= 64
$ set_user_limits ctl-none '{"max-channels": 1}'
> Setting user limits to "{"max-channels": 1}" for user "ctl-none" ...
! Error:
! {:no_such_user, "ctl-none"}
= 69
$ set_user_limits ctl-user '{"max-channels": 1}' --formatter json
> {"node":"NODE","result":"ok"}
$ clear_user_limits ctl-user max-channels
> Clearing "max-channels" limit for user "ctl-user" ...
$ list_user_limits --user ctl-user
> Listing limits for user "ctl-user" ...
> {"max-connections":2}
$ clear_user_limits ctl-user max-channels
> Clearing "max-channels" limit for user "ctl-user" ...
$ set_user_limits ctl-user '{"max-connections": 2, "max-channels": 3}'
> Setting user limits to "{"max-connections": 2, "max-channels": 3}" for user "ctl-user" ...
$ clear_user_limits ctl-user all
> Clearing all limits for user "ctl-user" ...
$ list_user_limits --user ctl-user
> Listing limits for user "ctl-user" ...
> {}
$ list_user_limits -q --user ctl-user --formatter json
> {"message":"{}"}
$ list_user_limits --user ctl-user --formatter erlang
> Listing limits for user "ctl-user" ...
> <<"{}">>
$ clear_user_limits ctl-user nonsense
> Clearing "nonsense" limit for user "ctl-user" ...
$ clear_user_limits ctl-none all
> Clearing all limits for user "ctl-none" ...
! Error:
! {:no_such_user, "ctl-none"}
= 69
$ clear_user_limits ctl-none max-channels
> Clearing "max-channels" limit for user "ctl-none" ...
! Error:
! {:no_such_user, "ctl-none"}
= 69
$ clear_user_limits ctl-user
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_user_limits ctl-user
! 
! Usage
! 
! PROGRAM clear_user_limits <username> <limit_type> | all
= 64
$ update_vhost_metadata ctl-test --description 'some text' --tags a,b --default-queue-type quorum
> Updating metadata of vhost "ctl-test" ...
~ ctl-
$ list_vhosts -q name default_queue_type description tags
> ctl-test	quorum	some text	[a, b]
$ update_vhost_metadata ctl-test --tags c
> Updating metadata of vhost "ctl-test" ...
~ ctl-
$ list_vhosts -q name default_queue_type description tags
> ctl-test	quorum	some text	[c]
$ update_vhost_metadata ctl-test --default-queue-type classic
> Updating metadata of vhost "ctl-test" ...
~ ctl-
$ list_vhosts -q name default_queue_type description tags
> ctl-test	classic	some text	[c]
$ update_vhost_metadata ctl-test --default-queue-type nope
! Error (argument validation): Bad argument: Default queue type must be one of: quorum, stream, classic. Provided: nope
! Arguments given:
! 	update_vhost_metadata ctl-test --default-queue-type nope
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 65
$ update_vhost_metadata ctl-test --default-queue-type=
! Error (argument validation): Bad argument: Default queue type must not be an empty string
! Arguments given:
! 	update_vhost_metadata ctl-test --default-queue-type=
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 65
$ update_vhost_metadata ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	update_vhost_metadata ctl-test
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 64
$ update_vhost_metadata
! Error (argument validation): not enough arguments.
! Arguments given:
! 	update_vhost_metadata
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 64
$ update_vhost_metadata a b --tags a
! Error (argument validation): too many arguments.
! Arguments given:
! 	update_vhost_metadata a b --tags a
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 64
$ update_vhost_metadata ctl-none --tags a
> Updating metadata of vhost "ctl-none" ...
! Virtual host 'ctl-none' does not exist
= 65
$ set_vhost_limits -p ctl-test '{"max-queues": "a", "b":1}'
> Setting vhost limits to "{"max-queues": "a", "b":1}" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [{<<"b">>,1}] in limits
! max-queues should be a number, actually was <<"a">>
! 
= 69
$ set_user_limits ctl-none '{"max-queues": "a", "b":1}'
> Setting user limits to "{"max-queues": "a", "b":1}" for user "ctl-none" ...
! Error:
! Unrecognised terms [{<<"b">>,1},{<<"max-queues">>,<<"a">>}] in user-limits
= 69
$ list_vhost_limits -p ctl-test --formatter json
> []
$ list_vhost_limits -p ctl-test --formatter erlang
> Listing limits for vhost "ctl-test" ...
> []
$ list_vhost_limits --global
> Listing limits for all vhosts ...
> 
$ list_vhost_limits --global --formatter json
> []
$ list_user_limits --global --formatter json
> []
$ list_user_limits --global
> Listing limits for all users ...
> 
$ update_vhost_metadata ctl-test --protected-from-deletion false
! Error (argument validation): too many arguments.
! Arguments given:
! 	update_vhost_metadata ctl-test --protected-from-deletion false
! 
! Usage
! 
! PROGRAM update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] [--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]
= 64
$ update_vhost_metadata ctl-test --description new --formatter json
> {"node":"NODE","result":"ok"}
$ update_vhost_metadata ctl-test --description ''
> Updating metadata of vhost "ctl-test" ...
~ ctl-
$ list_vhosts -q name default_queue_type description tags
> ctl-test	classic		[c]
# Limits without a limit are limits: they are listed until they are cleared.
$ set_vhost_limits -p ctl-test {}
> Setting vhost limits to "{}" for vhost "ctl-test" ...
$ list_vhost_limits -p ctl-test
> Listing limits for vhost "ctl-test" ...
> 
$ list_vhost_limits -p ctl-test --formatter json
> []
$ list_vhost_limits --global
> Listing limits for all vhosts ...
> ctl-test	{}
> vhost	limits
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> component	name	value
> vhost-limits	limits	[]
$ set_vhost_limits -p ctl-test '{"max-queues": 3}'
> Setting vhost limits to "{"max-queues": 3}" for vhost "ctl-test" ...
$ set_vhost_limits -p ctl-test {}
> Setting vhost limits to "{}" for vhost "ctl-test" ...
$ list_parameters -p ctl-test --formatter json
> [
> ]
> {"component":"vhost-limits","name":"limits","value":"[]"}
$ clear_vhost_limits -p ctl-test
> Clearing vhost "ctl-test" limits ...
$ clear_vhost_limits -p ctl-test
> Clearing vhost "ctl-test" limits ...
! Error:
! Parameter does not exist
= 69
$ list_vhost_limits --global
> Listing limits for all vhosts ...
> 
$ set_parameter -p ctl-test vhost-limits limits {}
> Setting runtime parameter "limits" for component "vhost-limits" to "{}" in vhost "ctl-test" ...
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> component	name	value
> vhost-limits	limits	[]
$ clear_parameter -p ctl-test vhost-limits limits
> Clearing runtime parameter "limits" for component "vhost-limits" on vhost "ctl-test" ...
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> 
$ delete_user ctl-user
> Deleting user "ctl-user" ...
$ delete_vhost ctl-test
> Deleting vhost "ctl-test" ...
