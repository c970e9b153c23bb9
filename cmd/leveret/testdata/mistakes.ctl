# Which of several mistakes is told, and what else random command lines have shown.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
# A grant: expressions, then the user, then the virtual host.
$ set_permissions -p ctl-test ctl-no . [ (
> Setting permissions for user "ctl-no" in vhost "ctl-test" ...
! Error:
! {:invalid_regexp, ~c"[", {~c"missing terminating ] for character class", 1}}
= 69
$ set_permissions -p ctl-no ctl-no . . .
> Setting permissions for user "ctl-no" in vhost "ctl-no" ...
! Error:
! User ctl-no does not exist
= 67
$ set_permissions -p ctl-no ctl-user . . .
> Setting permissions for user "ctl-user" in vhost "ctl-no" ...
! Error:
! Virtual host ctl-no does not exist
= 69
$ set_permissions_globally ctl-no . ( .
> Setting permissions for user "ctl-no" in all virtual hosts ...
! Error:
! {:invalid_regexp, ~c"(", {~c"missing closing parenthesis", 1}}
= 69
$ set_permissions_globally ctl-no . . .
> Setting permissions for user "ctl-no" in all virtual hosts ...
! Error:
! User ctl-no does not exist
= 67
$ set_topic_permissions -p ctl-test ctl-no ctl-no ( [
> Setting topic permissions on "ctl-no" for user "ctl-no" in vhost "ctl-test" ...
! Error:
! {:invalid_regexp, "(", {~c"missing closing parenthesis", 1}}
= 69
$ set_topic_permissions -p ctl-test ctl-no ctl-no . .
> Setting topic permissions on "ctl-no" for user "ctl-no" in vhost "ctl-test" ...
! Error:
! User ctl-no does not exist
= 67
$ set_topic_permissions -p ctl-no ctl-no amq.topic . .
> Setting topic permissions on "amq.topic" for user "ctl-no" in vhost "ctl-no" ...
! Error:
! User ctl-no does not exist
= 67
$ set_topic_permissions -p ctl-no ctl-user amq.topic . .
> Setting topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-no" ...
! Error:
! Virtual host ctl-no does not exist
= 69
$ set_topic_permissions -p ctl-test ctl-user ctl-no . .
> Setting topic permissions on "ctl-no" for user "ctl-user" in vhost "ctl-test" ...
! Error:
! Exchange ctl-no does not exist
= 69
$ set_topic_permissions -p ctl-test ctl-user amq.topic ^a ^b
> Setting topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-test" ...
$ list_user_topic_permissions ctl-user --no-table-headers
> Listing topic permissions for user "ctl-user" ...
> ctl-test	amq.topic	^a	^b
$ authenticate_user ctl-user ''
> Authenticating user "ctl-user" ...
! Error:
! Error: failed to authenticate user "ctl-user"
! user 'ctl-user' attempted to log in with a blank password, which is prohibited by the internal authN backend. To use TLS/x509 certificate-based authentication, see the rabbitmq_auth_mechanism_ssl plugin and configure the client to use the EXTERNAL authentication mechanism. Alternatively change the password for the user to be non-blank.
= 65
$ authenticate_user ctl-no ''
> Authenticating user "ctl-no" ...
! Error:
! Error: failed to authenticate user "ctl-no"
! user 'ctl-no' attempted to log in with a blank password, which is prohibited by the internal authN backend. To use TLS/x509 certificate-based authentication, see the rabbitmq_auth_mechanism_ssl plugin and configure the client to use the EXTERNAL authentication mechanism. Alternatively change the password for the user to be non-blank.
= 65
# Limits that are no object.
$ set_user_limits ctl-user null
> Setting user limits to "null" for user "ctl-user" ...
! Error:
! user-limits not a list null
= 69
$ set_user_limits ctl-user '"x"'
> Setting user limits to ""x"" for user "ctl-user" ...
! Error:
! user-limits not a list <<"x">>
= 69
$ set_user_limits ctl-user 1.5
> Setting user limits to "1.5" for user "ctl-user" ...
! Error:
! user-limits not a list 1.5
= 69
$ set_user_limits ctl-user '[1,{"a":null}]'
> Setting user limits to "[1,{"a":null}]" for user "ctl-user" ...
! Error:
! Unrecognised terms [1,#{<<"a">> => null}] in user-limits
= 69
$ set_parameter -p ctl-test vhost-limits limits '"x"'
> Setting runtime parameter "limits" for component "vhost-limits" to ""x"" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! limits not a list <<"x">>
! 
= 69
$ set_parameter -p ctl-test vhost-limits limits '[1]'
> Setting runtime parameter "limits" for component "vhost-limits" to "[1]" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [1] in limits
! 
= 69
$ set_parameter -p ctl-test vhost-limits limits '{"max-queues":"a","b":1}'
> Setting runtime parameter "limits" for component "vhost-limits" to "{"max-queues":"a","b":1}" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [{<<"b">>,1}] in limits
! max-queues should be a number, actually was <<"a">>
! 
= 69
# Operator policies are parameters, too.
$ set_parameter -p ctl-test policy p {
> Setting runtime parameter "p" for component "policy" to "{" in vhost "ctl-test" ...
! Error:
! policies may not be set using this method
= 69
$ set_parameter -p ctl-no ctl-no p 1
> Setting runtime parameter "p" for component "ctl-no" to "1" in vhost "ctl-no" ...
! Error:
! Validation failed
! 
! component ctl-no not found
! 
= 69
$ set_parameter -p ctl-no operator_policy p '{"pattern":"^q","definition":{"max-length":1},"priority":1}'
> Setting runtime parameter "p" for component "operator_policy" to "{"pattern":"^q","definition":{"max-length":1},"priority":1}" in vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ set_parameter -p ctl-test operator_policy p null
> Setting runtime parameter "p" for component "operator_policy" to "null" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! p not a list null
! 
= 69
$ set_parameter -p ctl-test operator_policy p '{"max-queues":[null]}'
> Setting runtime parameter "p" for component "operator_policy" to "{"max-queues":[null]}" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! Unrecognised terms [{<<"max-queues">>,[null]}] in p
! Key "definition" not found in p
! Key "pattern" not found in p
! Key "priority" not found in p
! 
= 69
$ set_parameter -p ctl-test operator_policy p '{"pattern":"(","definition":{"max-length":"a"},"priority":"a"}'
> Setting runtime parameter "p" for component "operator_policy" to "{"pattern":"(","definition":{"max-length":"a"},"priority":"a"}" in vhost "ctl-test" ...
! Error:
! Validation failed
! 
! <<"a">> is not a valid maximum length
! pattern should be regular expression but is invalid: {"missing closing parenthesis",
!                                                       1}
! priority should be a number, actually was <<"a">>
! 
= 69
$ set_parameter -p ctl-test operator_policy p '{"pattern":"^q","definition":{"max-length":1},"priority":1,"apply-to":"queues"}'
> Setting runtime parameter "p" for component "operator_policy" to "{"pattern":"^q","definition":{"max-length":1},"priority":1,"apply-to":"queues"}" in vhost "ctl-test" ...
$ list_operator_policies -p ctl-test
> Listing operator policy overrides for vhost "ctl-test" ...
> ctl-test	p	^q	queues	{"max-length":1}	1
> vhost	name	pattern	apply-to	definition	priority
$ clear_parameter -p ctl-test operator_policy ctl-no
> Clearing runtime parameter "ctl-no" for component "operator_policy" on vhost "ctl-test" ...
! Error:
! Parameter does not exist
= 69
$ clear_parameter -p ctl-no operator_policy p
> Clearing runtime parameter "p" for component "operator_policy" on vhost "ctl-no" ...
! Error:
! Parameter does not exist
= 69
$ clear_parameter -p ctl-test operator_policy p
> Clearing runtime parameter "p" for component "operator_policy" on vhost "ctl-test" ...
$ set_operator_policy -p ctl-test p ^q '{"max-length":1}' --priority 2 --apply-to queues
> Setting operator policy override "p" for pattern "^q" to "{"max-length":1}" with priority "2" for vhost "ctl-test" ...
$ set_vhost_limits -p ctl-test '{"max-queues":7}'
> Setting vhost limits to "{"max-queues":7}" for vhost "ctl-test" ...
$ list_parameters -p ctl-test
> Listing runtime parameters for vhost "ctl-test" ...
> component	name	value
> operator_policy	p	{"pattern":"^q","definition":{"max-length":1},"priority":2,"apply-to":"queues"}
> vhost-limits	limits	{"max-queues":7}
$ list_parameters -p ctl-test --formatter json
> [
> ]
> {"component":"operator_policy","name":"p","value":"{\"pattern\":\"^q\",\"definition\":{\"max-length\":1},\"priority\":2,\"apply-to\":\"queues\"}"}
> {"component":"vhost-limits","name":"limits","value":"{\"max-queues\":7}"}
$ set_vhost_tags ctl-test z b z ''
> Setting tags for virtual host "ctl-test" to [z, b, z, ] ...
~ ctl-test
$ list_vhosts -q name tags
> ctl-test	[, b, z]
# A virtual host that is not there is told when nothing else is wrong.
$ set_policy -p ctl-no p * '{"max-length":1}'
> Setting policy "p" for pattern "*" to "{"max-length":1}" with priority "0" for vhost "ctl-no" ...
! Error:
! Validation failed
! 
! pattern should be regular expression but is invalid: {"quantifier does not follow a repeatable item",
!                                                       1}
! 
= 69
$ set_policy -p ctl-no p . '{"max-length":-1}'
> Setting policy "p" for pattern "." to "{"max-length":-1}" with priority "0" for vhost "ctl-no" ...
! Error:
! Validation failed
! 
! -1 is not a valid maximum length
! 
= 69
$ set_policy -p ctl-no --apply-to x p . '{"max-length":1}'
> Setting policy "p" for pattern "." to "{"max-length":1}" with priority "0" for vhost "ctl-no" ...
! Error:
! Validation failed
! 
! apply-to 'x' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'
! 
= 69
$ set_policy -p ctl-no p . '{"max-length":1}'
> Setting policy "p" for pattern "." to "{"max-length":1}" with priority "0" for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ set_operator_policy -p ctl-no p . '{"max-length":-1}'
> Setting operator policy override "p" for pattern "." to "{"max-length":-1}" with priority "0" for vhost "ctl-no" ...
! Error:
! Validation failed
! 
! -1 is not a valid maximum length
! 
= 69
$ set_operator_policy -p ctl-no p . '{"max-length":1}'
> Setting operator policy override "p" for pattern "." to "{"max-length":1}" with priority "0" for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ set_vhost_limits -p ctl-no '{"max-queues":"x"}'
> Setting vhost limits to "{"max-queues":"x"}" for vhost "ctl-no" ...
! Error:
! Validation failed
! 
! max-queues should be a number, actually was <<"x">>
! 
= 69
$ set_vhost_limits -p ctl-no '{"max-queues":1}'
> Setting vhost limits to "{"max-queues":1}" for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ set_parameter -p ctl-no operator_policy x '{"pattern":"*","definition":{}}'
> Setting runtime parameter "x" for component "operator_policy" to "{"pattern":"*","definition":{}}" in vhost "ctl-no" ...
! Error:
! Validation failed
! 
! no policy provided
! pattern should be regular expression but is invalid: {"quantifier does not follow a repeatable item",
!                                                       1}
! Key "priority" not found in x
! 
= 69
$ set_parameter -p ctl-no vhost-limits limits '{"max-queues":"x"}'
> Setting runtime parameter "limits" for component "vhost-limits" to "{"max-queues":"x"}" in vhost "ctl-no" ...
! Error:
! Validation failed
! 
! max-queues should be a number, actually was <<"x">>
! 
= 69
$ set_parameter -p ctl-no vhost-limits limits '{"max-queues":1}'
> Setting runtime parameter "limits" for component "vhost-limits" to "{"max-queues":1}" in vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
# What is JSON by its syntax, but not for RabbitMQ.
$ set_global_parameter ctl-odd '{"a":1e400}'
> Setting global runtime parameter "ctl-odd" to "{"a":1e400}" ...
! Error:
! Could not parse JSON document: {error,
!                                    {failed_to_decode_json,
!                                        <<"{\"a\":1e400}">>}}
= 69
$ set_global_parameter ctl-odd '["\ud800"]'
> Setting global runtime parameter "ctl-odd" to "["\ud800"]" ...
! Error:
! Could not parse JSON document: {error,
!                                    {failed_to_decode_json,
!                                        <<"[\"\\ud800\"]">>}}
= 69
$ set_policy -p ctl-test ctl-odd . '{"max-length":1E400}'
> Setting policy "ctl-odd" for pattern "." to "{"max-length":1E400}" with priority "0" for vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,
!                                    {failed_to_decode_json,
!                                        <<"{\"max-length\":1E400}">>}}
= 69
$ set_vhost_limits -p ctl-test '{"\udc00":1}'
> Setting vhost limits to "{"\udc00":1}" for vhost "ctl-test" ...
! Error:
! Could not parse JSON document: {error,
!                                    {failed_to_decode_json,
!                                        <<"{\"\\udc00\":1}">>}}
= 69
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
