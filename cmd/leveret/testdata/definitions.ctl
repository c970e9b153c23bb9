# Definitions by way of files that the test's user cannot have, and of standard input.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
$ export_definitions
! Error (argument validation): not enough arguments.
! Arguments given:
! 	export_definitions
! 
! Usage
! 
! PROGRAM export_definitions <file_path | "-"> [--format <json>] [--timeout <timeout>]
= 64
$ export_definitions a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	export_definitions a b
! 
! Usage
! 
! PROGRAM export_definitions <file_path | "-"> [--format <json>] [--timeout <timeout>]
= 64
$ export_definitions /ctl-no/x
! Error (argument validation): Bad argument: Directory /ctl-no does not exist
! Arguments given:
! 	export_definitions /ctl-no/x
! 
! Usage
! 
! PROGRAM export_definitions <file_path | "-"> [--format <json>] [--timeout <timeout>]
= 65
$ export_definitions /
> Exporting definitions in JSON to a file at "/" ...
! Error:
! Path / is a directory
= 65
$ import_definitions /ctl-no/x
! Error (argument validation): Bad argument: File /ctl-no/x does not exist
! Arguments given:
! 	import_definitions /ctl-no/x
! 
! Usage
! 
! PROGRAM import_definitions <file_path> [--format <json>] [--skip-if-unchanged] [--timeout <timeout>]
= 65
$ import_definitions /
> Importing definitions in JSON from a file at "/" ...
! Error:
! Path / is a directory
= 65
$ import_definitions /dev/null
> Importing definitions in JSON from a file at "/dev/null" ...
! Error:
! File /dev/null is zero-sized
= 65
$ import_definitions a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	import_definitions a b
! 
! Usage
! 
! PROGRAM import_definitions <file_path> [--format <json>] [--skip-if-unchanged] [--timeout <timeout>]
= 64
< []
$ import_definitions
> Importing definitions in JSON from standard input ...
! Error:
! {:badmap, []}
! 
= 70
< {"queues":[{"name":"z","vhost":"ctl-no","durable":true,"auto_delete":false,"arguments":{}}]}
$ import_definitions
> Importing definitions in JSON from standard input ...
! Error:
! Please create virtual host "ctl-no" prior to importing definitions.
= 69
< {"queues":[{"name":"z","vhost":"ctl-test","durable":true,"auto_delete":false,"arguments":{"x-max-length":"a"}}]}
$ import_definitions
> Importing definitions in JSON from standard input ...
! Error:
! precondition_failed: invalid arg 'x-max-length' for queue 'z' in vhost 'ctl-test': "expected integer, got longstr"
= 69
< {"policies":[{"vhost":"ctl-test","name":"p","pattern":"","definition":{"max-length":"a"}}]}
$ import_definitions
> Importing definitions in JSON from standard input ...
! Error:
! Validation failed
! 
! <<"a">> is not a valid maximum length
!  (vhost: "ctl-test" key: "p")
= 69
# Wrong limits of users.
< {"users":[{"name":"ctl-user","password_hash":"","tags":[],"limits":{"max-channels":1.5,"b":{"c":1},"max-connections":null}}]}
$ import_definitions
> Importing definitions in JSON from standard input ...
! Error:
! {errors,[{"Unrecognised terms ~tp in ~ts",
!           [[{<<"b">>,#{<<"c">> => 1}}],<<"user-limits">>]},
!          {"~ts should be a number, actually was ~tp",[<<"max-channels">>,1.5]},
!          {"~ts should be a number, actually was ~tp",
!           [<<"max-connections">>,null]}]}
= 69
$ -q set_policy -p ctl-test p '' '{"max-length":1e3}'
! Error:
! Validation failed
! 
! 1.0e3 is not a valid maximum length
! 
= 69
$ -q set_policy -p ctl-test p '' '{"max-length":{"a":[1]}}'
! Error:
! Validation failed
! 
! #{<<"a">> => [1]} is not a valid maximum length
! 
= 69
$ -q set_policy -p ctl-test p '' '{"max-length":99999999999999999999,"max-length":5}'
$ -q list_policies -p ctl-test
> ctl-test	p		all	{"max-length":99999999999999999999}	0
> vhost	name	pattern	apply-to	definition	priority
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
