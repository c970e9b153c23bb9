# Policies and operator policies.
$ -q add_vhost ctl-test
$ -q add_vhost ctl-2
$ set_policy -p ctl-test p1 '^q' '{"max-length":10,"dead-letter-exchange":"d"}'
> Setting policy "p1" for pattern "^q" to "{"max-length":10,"dead-letter-exchange":"d"}" with priority "0" for vhost "ctl-test" ...
$ set_policy -p ctl-test p2 '^x' '{"alternate-exchange":"ae"}' --priority 7 --apply-to exchanges
> Setting policy "p2" for pattern "^x" to "{"alternate-exchange":"ae"}" with priority "7" for vhost "ctl-test" ...
$ set_policy -p ctl-test p3 '' '{"max-length":0}' --priority -2 --apply-to classic_queues
> Setting policy "p3" for pattern "" to "{"max-length":0}" with priority "-2" for vhost "ctl-test" ...
$ set_policy -p ctl-test p4 'a' '{"max-length":-1}'
> Setting policy "p4" for pattern "a" to "{"max-length":-1}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! -1 is not a valid maximum length
! 
= 69
$ set_policy -p ctl-test p4 'a' '{"foo":1}'
> Setting policy "p4" for pattern "a" to "{"foo":1}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! [{<<"foo">>,1}] are not recognised policy settings
! 
= 69
$ set_policy -p ctl-test p4 'a' '{}'
> Setting policy "p4" for pattern "a" to "{}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! no policy provided
! 
= 69
$ set_policy -p ctl-test p4 'a' 'notjson'
> Setting policy "p4" for pattern "a" to "notjson" with priority "0" for vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,{failed_to_decode_json,<<"notjson">>}}
= 69
$ set_policy -p ctl-test p4 'a' '{"max-length":'
> Setting policy "p4" for pattern "a" to "{"max-length":" with priority "0" for vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,
!                                    {failed_to_decode_json,
!                                        <<"{\"max-length\":">>}}
= 69
$ set_policy -p ctl-test p4 'a' '{"max-length":10, "dead-letter-exchange":5, "overflow":"x"}'
> Setting policy "p4" for pattern "a" to "{"max-length":10, "dead-letter-exchange":5, "overflow":"x"}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! 5 is not a valid dead letter exchange name
! 
= 69
$ set_policy -p ctl-test p4 '(' '{"max-length":10}'
> Setting policy "p4" for pattern "(" to "{"max-length":10}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! pattern should be regular expression but is invalid: {"missing closing parenthesis",
!                                                       1}
! 
= 69
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --apply-to foo
> Setting policy "p4" for pattern "a" to "{"max-length":10}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'
! 
= 69
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --priority x
! Error (argument validation): Invalid options for this command:
! --priority : x
! Arguments given:
! 	set_policy -p ctl-test p4 a {"max-length":10} --priority x
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --priority 1.5
! Error (argument validation): Invalid options for this command:
! --priority : 1.5
! Arguments given:
! 	set_policy -p ctl-test p4 a {"max-length":10} --priority 1.5
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ set_policy -p ctl-no p4 'a' '{"max-length":10}'
> Setting policy "p4" for pattern "a" to "{"max-length":10}" with priority "0" for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ set_policy -p ctl-no p4 'a' '{"max-length":10}' --formatter json
! Virtual host 'ctl-no' does not exist
= 65
$ set_policy -p ctl-test p5 'a' '{"max-length":10}' --formatter json
> {"node":"NODE","result":"ok"}
$ set_policy -p ctl-test p5 'a' '{"max-length":"x"}' --formatter json
! Error:
! Validation failed
! 
! <<"x">> is not a valid maximum length
! 
= 69
$ set_policy -p ctl-test p4 'a'
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_policy -p ctl-test p4 a
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ set_policy
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_policy
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ set_policy a b c d
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_policy a b c d
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ set_policy -p ctl-test p6 'a' '{"max-length":10}' -q
$ set_policy -p ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_policy -p ctl-test
! 
! Usage
! 
! PROGRAM set_policy [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>
= 64
$ list_policies -p ctl-test
> Listing policies for vhost "ctl-test" ...
> ctl-test	p1	^q	all	{"dead-letter-exchange":"d","max-length":10}	0
> ctl-test	p2	^x	exchanges	{"alternate-exchange":"ae"}	7
> ctl-test	p3		classic_queues	{"max-length":0}	-2
> ctl-test	p5	a	all	{"max-length":10}	0
> ctl-test	p6	a	all	{"max-length":10}	0
> vhost	name	pattern	apply-to	definition	priority
$ list_policies -p ctl-test -q
> ctl-test	p1	^q	all	{"dead-letter-exchange":"d","max-length":10}	0
> ctl-test	p2	^x	exchanges	{"alternate-exchange":"ae"}	7
> ctl-test	p3		classic_queues	{"max-length":0}	-2
> ctl-test	p5	a	all	{"max-length":10}	0
> ctl-test	p6	a	all	{"max-length":10}	0
> vhost	name	pattern	apply-to	definition	priority
$ list_policies -p ctl-test -s
> ctl-test	p1	^q	all	{"dead-letter-exchange":"d","max-length":10}	0
> ctl-test	p2	^x	exchanges	{"alternate-exchange":"ae"}	7
> ctl-test	p3		classic_queues	{"max-length":0}	-2
> ctl-test	p5	a	all	{"max-length":10}	0
> ctl-test	p6	a	all	{"max-length":10}	0
$ list_policies -p ctl-test --formatter json
> [
> ]
> {"apply-to":"all","definition":"{\"dead-letter-exchange\":\"d\",\"max-length\":10}","name":"p1","pattern":"^q","priority":0,"vhost":"ctl-test"}
> {"apply-to":"all","definition":"{\"max-length\":10}","name":"p5","pattern":"a","priority":0,"vhost":"ctl-test"}
> {"apply-to":"all","definition":"{\"max-length\":10}","name":"p6","pattern":"a","priority":0,"vhost":"ctl-test"}
> {"apply-to":"classic_queues","definition":"{\"max-length\":0}","name":"p3","pattern":"","priority":-2,"vhost":"ctl-test"}
> {"apply-to":"exchanges","definition":"{\"alternate-exchange\":\"ae\"}","name":"p2","pattern":"^x","priority":7,"vhost":"ctl-test"}
$ list_policies -p ctl-no
> Listing policies for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ list_policies -p ctl-test extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	list_policies -p ctl-test extra
! 
! Usage
! 
! PROGRAM list_policies [--vhost <vhost>] [--no-table-headers] [--timeout <timeout>]
= 64
$ set_operator_policy -p ctl-test o1 '^q' '{"max-length":10}' --priority 2 --apply-to queues
> Setting operator policy override "o1" for pattern "^q" to "{"max-length":10}" with priority "2" for vhost "ctl-test" ...
$ set_operator_policy -p ctl-test o1 '^q' '{"dead-letter-exchange":"x"}'
> Setting operator policy override "o1" for pattern "^q" to "{"dead-letter-exchange":"x"}" with priority "0" for vhost "ctl-test" ...
! Error:
! Validation failed
! 
! [{<<"dead-letter-exchange">>,<<"x">>}] are not recognised policy settings
! 
= 69
$ set_operator_policy -p ctl-test o1 '^q' '{"max-length":10}' --formatter json
> {"node":"NODE","result":"ok"}
$ list_operator_policies -p ctl-test
> Listing operator policy overrides for vhost "ctl-test" ...
> ctl-test	o1	^q	all	{"max-length":10}	0
> vhost	name	pattern	apply-to	definition	priority
$ list_operator_policies -p ctl-test --formatter json
> [
> ]
> {"apply-to":"all","definition":"{\"max-length\":10}","name":"o1","pattern":"^q","priority":0,"vhost":"ctl-test"}
$ clear_operator_policy -p ctl-test o1
> Clearing operator policy "o1" on vhost "ctl-test" ...
$ clear_operator_policy -p ctl-test o1
> Clearing operator policy "o1" on vhost "ctl-test" ...
! Error:
! Parameter does not exist
= 69
$ clear_operator_policy -p ctl-test
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_operator_policy -p ctl-test
! 
! Usage
! 
! PROGRAM clear_operator_policy [--vhost <vhost>] <name>
= 64
$ clear_policy -p ctl-test p1
> Clearing policy "p1" on vhost "ctl-test" ...
$ clear_policy -p ctl-test p1
> Clearing policy "p1" on vhost "ctl-test" ...
! Error:
! Parameter does not exist
= 69
$ clear_policy -p ctl-test p1 --formatter json
! Error:
! Parameter does not exist
= 69
$ clear_policy -p ctl-test p2 --formatter json
> {"node":"NODE","result":"ok"}
$ clear_policy -p ctl-no p1
> Clearing policy "p1" on vhost "ctl-no" ...
! Error:
! Parameter does not exist
= 69
$ clear_policy
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_policy
! 
! Usage
! 
! PROGRAM clear_policy [--vhost <vhost>] <name>
= 64
$ list_policies -p ctl-2
> Listing policies for vhost "ctl-2" ...
> 
$ list_policies -p ctl-2 --formatter json
> []
$ set_policy -p ctl-2 twice a '{"message-ttl":10,"max-length":7}' --apply-to=all --priority=5
> Setting policy "twice" for pattern "a" to "{"message-ttl":10,"max-length":7}" with priority "5" for vhost "ctl-2" ...
$ -q delete_vhost ctl-2
$ -q delete_vhost ctl-test
