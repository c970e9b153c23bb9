# Parameters, and what else there is of virtual hosts and users.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> 
$ -q list_parameters -p ctl-test
> 
$ -q list_parameters -p ctl-test --formatter json
> []
$ list_parameters -p ctl-no
> Listing runtime parameters for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ list_parameters extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	list_parameters extra
! 
! Usage
! 
! PROGRAM list_parameters [--vhost <vhost>] [--no-table-headers] [--timeout <timeout>]
= 64
$ set_parameter -p ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_parameter -p ctl-test
! 
! Usage
! 
! PROGRAM set_parameter [--vhost <vhost>] <component_name> <name> <value>
= 64
$ set_parameter -p ctl-test nonesuch name 1
> Setting runtime parameter "name" for component "nonesuch" to "1" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! component nonesuch not found
! 
= 69
$ set_parameter -p ctl-test nonesuch name {nope
> Setting runtime parameter "name" for component "nonesuch" to "{nope" in vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,{failed_to_decode_json,<<"{nope">>}}
= 69
$ set_parameter -p ctl-no nonesuch name 1
> Setting runtime parameter "name" for component "nonesuch" to "1" in vhost "ctl-no" ...
! Error:
! Validation failed
! 
! component nonesuch not found
! 
= 69
$ -q set_vhost_limits -p ctl-test '{"max-queues":7}'
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> component	name	value
> vhost-limits	limits	{"max-queues":7}
$ -q list_parameters -p ctl-test --formatter json
> [
> ]
> {"component":"vhost-limits","name":"limits","value":"{\"max-queues\":7}"}
$ -q list_parameters -p ctl-test --formatter erlang
> [[{component,<<"vhost-limits">>},
>   {name,<<"limits">>},
>   {value,<<"{\"max-queues\":7}">>}]]
$ -q list_parameters -p ctl-test --formatter csv
> "component","name","value"
> "vhost-limits","limits","{""max-queues"":7}"
$ -q list_parameters -p ctl-test -s
> vhost-limits	limits	{"max-queues":7}
$ -q list_parameters -p ctl-test --no-table-headers
> vhost-limits	limits	{"max-queues":7}
$ clear_parameter -p ctl-test nonesuch name
> Clearing runtime parameter "name" for component "nonesuch" on vhost "ctl-test" ...
! Error:
! Parameter does not exist
= 69
$ clear_parameter -p ctl-test vhost-limits
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_parameter -p ctl-test vhost-limits
! 
! Usage
! 
! PROGRAM clear_parameter [--vhost <vhost>] <component_name> <name>
= 64
$ clear_parameter -p ctl-no nonesuch name
> Clearing runtime parameter "name" for component "nonesuch" on vhost "ctl-no" ...
! Error:
! Parameter does not exist
= 69
$ -q list_parameters -p ctl-test
> component	name	value
> vhost-limits	limits	{"max-queues":7}
$ set_global_parameter ctl-test-parameter '{"a":[1,"b",null,true,1.5]}'
> Setting global runtime parameter "ctl-test-parameter" to "{"a":[1,"b",null,true,1.5]}" ...
$ set_global_parameter ctl-test-parameter
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_global_parameter ctl-test-parameter
! 
! Usage
! 
! PROGRAM set_global_parameter <name> <value>
= 64
$ set_global_parameter ctl-test-parameter {nope
> Setting global runtime parameter "ctl-test-parameter" to "{nope" ...
! Error:
! Could not parse JSON document: {error,{failed_to_decode_json,<<"{nope">>}}
= 69
$ set_global_parameter -q ctl-test-parameter '"text"'
~ ctl-test|name|Listing
$ list_global_parameters
> Listing global runtime parameters ...
> ctl-test-parameter	"text"
> name	value
~ ctl-test|name|Listing
$ -q list_global_parameters
> ctl-test-parameter	"text"
> name	value
~ ctl-test
$ -q list_global_parameters --formatter json
> {"name":"ctl-test-parameter","value":"\"text\""}
$ list_global_parameters extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	list_global_parameters extra
! 
! Usage
! 
! PROGRAM list_global_parameters [--no-table-headers] [--timeout <timeout>]
= 64
$ clear_global_parameter ctl-test-parameter
> Clearing global runtime parameter "ctl-test-parameter" ...
$ clear_global_parameter ctl-test-parameter
> Clearing global runtime parameter "ctl-test-parameter" ...
! Error:
! Parameter does not exist
= 69
$ clear_global_parameter
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_global_parameter
! 
! Usage
! 
! PROGRAM clear_global_parameter <name>
= 64
$ set_permissions_globally nonesuch .* .* .*
> Setting permissions for user "nonesuch" in all virtual hosts ...
! Error:
! User nonesuch does not exist
= 67
$ set_permissions_globally ctl-user ^a
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_permissions_globally ctl-user ^a
! 
! Usage
! 
! PROGRAM set_permissions_globally <username> <conf> <write> <read>
= 64
$ set_permissions_globally ctl-user ^a ^b ( 
> Setting permissions for user "ctl-user" in all virtual hosts ...
! Error:
! {:invalid_regexp, ~c"(", {~c"missing closing parenthesis", 1}}
= 69
$ list_user_topic_permissions ctl-user
> Listing topic permissions for user "ctl-user" ...
> 
$ list_user_topic_permissions nonesuch
> Listing topic permissions for user "nonesuch" ...
! Error:
! {:no_such_user, "nonesuch"}
= 69
$ -q list_user_topic_permissions ctl-user --formatter json
> []
$ -q set_topic_permissions -p ctl-test ctl-user amq.topic ^a ^b
$ list_user_topic_permissions ctl-user
> Listing topic permissions for user "ctl-user" ...
> ctl-test	amq.topic	^a	^b
$ -q list_user_topic_permissions ctl-user --formatter json
> [
> ]
> {"exchange":"amq.topic","read":"^b","vhost":"ctl-test","write":"^a"}
$ -q list_user_topic_permissions ctl-user -s
> ctl-test	amq.topic	^a	^b
$ set_vhost_tags ctl-test one two
> Setting tags for virtual host "ctl-test" to [one, two] ...
$ set_vhost_tags ctl-no one
> Setting tags for virtual host "ctl-no" to [one] ...
! Error:
! Virtual host "ctl-no" does not exist
= 65
$ set_vhost_tags
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_vhost_tags
! 
! Usage
! 
! PROGRAM set_vhost_tags <vhost> <tag> [...]
= 64
~ ctl-test
$ -q list_vhosts name tags --formatter json
> {"name":"ctl-test","tags":["one","two"]}
$ -q set_vhost_tags ctl-test
~ ctl-test
$ -q list_vhosts name tags
> ctl-test	[]
$ clear_password nonesuch
> Clearing password for user "nonesuch" ...
! Error:
! {:no_such_user, "nonesuch"}
= 69
$ clear_password
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_password
! 
! Usage
! 
! PROGRAM clear_password <username>
= 64
$ clear_password ctl-user
> Clearing password for user "ctl-user" ...
$ authenticate_user ctl-user secret
> Authenticating user "ctl-user" ...
! Error:
! Error: failed to authenticate user "ctl-user"
! user 'ctl-user' - invalid credentials
= 65
$ close_all_user_connections ctl-user reason
> Closing connections of user ctl-user, reason: reason...
$ close_all_user_connections ctl-user
! Error (argument validation): not enough arguments.
! Arguments given:
! 	close_all_user_connections ctl-user
! 
! Usage
! 
! PROGRAM close_all_user_connections <username> <explanation>
= 64
$ close_all_user_connections nonesuch reason
> Closing connections of user nonesuch, reason: reason...
$ -q close_all_user_connections ctl-user reason
@ disconnect
$ -q delete_vhost ctl-test
$ -q delete_user ctl-user
$ rotate_logs
! Error:
! This command does not rotate logs anymore [deprecated]
= 69
$ node_health_check
> This command is DEPRECATED and is a no-op. It will be removed in a future version. 
> Use one of the options covered in https://www.rabbitmq.com/monitoring.html#health-checks instead.
$ autocomplete list_q
> list_queues
$ autocomplete nonesuch
$ autocomplete
! Error (argument validation): not enough arguments.
! Arguments given:
! 	autocomplete
! 
! Usage
! 
! PROGRAM autocomplete [prefix] [--timeout <timeout>]
= 64
$ hash_password
> Will hash provided password
> Password: 
! Error:
! not_enough_args
= 69
$ hash_password a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	hash_password a b
! 
! Usage
! 
! PROGRAM hash_password <cleartext_password> [--hashing-algorithm <algorithm>]
= 64
$ force_gc
> Will ask all processes on node NODE to schedule a full sweep GC
$ force_gc extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	force_gc extra
! 
! Usage
! 
! PROGRAM force_gc [--timeout <timeout>]
= 64
$ await_startup -q
$ await_startup extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	await_startup extra
! 
! Usage
! 
! PROGRAM await_startup
= 64
$ wait
! Error (argument validation): "No pid or pidfile specified"
! Arguments given:
! 	wait
! 
! Usage
! 
! PROGRAM wait [<pidfile>] [--pid|-P <pid>] [--timeout <timeout>]
= 64
$ wait /nonexistent/ctl-pid --timeout 1
> Waiting for pid file '/nonexistent/ctl-pid' to appear
! Error: operation wait on node NODE timed out. Timeout value used: 1000
= 75
$ wait --pid abc
! Error (argument validation): Invalid options for this command:
! --pid : abc
! Arguments given:
! 	wait --pid abc
! 
! Usage
! 
! PROGRAM wait [<pidfile>] [--pid|-P <pid>] [--timeout <timeout>]
= 64
$ wait file --pid 1
! Error (argument validation): "Cannot specify both pid and pidfile"
! Arguments given:
! 	wait file --pid 1
! 
! Usage
! 
! PROGRAM wait [<pidfile>] [--pid|-P <pid>] [--timeout <timeout>]
= 64
