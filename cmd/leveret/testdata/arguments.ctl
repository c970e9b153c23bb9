# Arguments are listed as a client gave them: in its order, and with names twice. 4.3 puts those of a queue in order when it adds the queue type.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
@ connect in order
$ list_queues -p ctl-test -q name arguments
> name	arguments
> ordered	[{"a",5},{"a",6},{"array",[[{"y","1"},{"x","2"},{"y","3"}],"t"]},{"table",[{"y","1"},{"x","2"},{"y","3"}]},{"x-queue-type","classic"},{"z","1"},{"z","2"}]
> typed	[{"z","1"},{"x-queue-type","quorum"},{"a",5},{"z","2"},{"x-queue-type","classic"}]
$ list_queues -p ctl-test --formatter=json name arguments
> [
> ]
> {"arguments":[["a","signedint",5],["a","signedint",6],["array","array",{"longstr":"t","table":[["x","longstr","2"],["y","longstr","1"],["y","longstr","3"]]}],["table","table",[["x","longstr","2"],["y","longstr","1"],["y","longstr","3"]]],["x-queue-type","longstr","classic"],["z","longstr","1"],["z","longstr","2"]],"name":"ordered"}
> {"arguments":[["a","signedint",5],["x-queue-type","longstr","classic"],["x-queue-type","longstr","quorum"],["z","longstr","1"],["z","longstr","2"]],"name":"typed"}
~ ordered
$ list_exchanges -p ctl-test -q name arguments
> x.ordered	[{"z","1"},{"a",5},{"z","2"},{"a",6},{"table",[{"y","1"},{"x","2"},{"y","3"}]},{"array",[[{"y","1"},{"x","2"},{"y","3"}],"t"]}]
~ ordered
$ list_exchanges -p ctl-test --formatter=json name arguments
> {"arguments":[["a","signedint",5],["a","signedint",6],["array","array",{"longstr":"t","table":[["x","longstr","2"],["y","longstr","1"],["y","longstr","3"]]}],["table","table",[["x","longstr","2"],["y","longstr","1"],["y","longstr","3"]]],["z","longstr","1"],["z","longstr","2"]],"name":"x.ordered"}
~ ordered
$ list_bindings -p ctl-test -q source_name destination_name arguments
> 	ordered	[]
> x.ordered	ordered	[{"a",5},{"a",6},{"array",[[{"y","1"},{"x","2"},{"y","3"}],"t"]},{"table",[{"y","1"},{"x","2"},{"y","3"}]},{"z","1"},{"z","2"}]
$ list_consumers -p ctl-test -q queue_name consumer_tag arguments
> ordered	tag	[{"z","1"},{"a",5},{"z","2"},{"a",6},{"table",[{"y","1"},{"x","2"},{"y","3"}]},{"array",[[{"y","1"},{"x","2"},{"y","3"}],"t"]}]
> queue_name	consumer_tag	arguments
$ list_consumers -p ctl-test --formatter=erlang queue_name arguments
> Listing consumers in vhost ctl-test ...
>                          {<<"x">>,longstr,<<"2">>},
>                          {<<"y">>,longstr,<<"3">>}]},
>                  {<<"x">>,longstr,<<"2">>},
>                  {<<"y">>,longstr,<<"3">>}]},
>                  {longstr,<<"t">>}]}]}]]]
>                 [{<<"y">>,longstr,<<"1">>},
>                 [{table,[{<<"y">>,longstr,<<"1">>},
>                {<<"a">>,signedint,5},
>                {<<"a">>,signedint,6},
>                {<<"array">>,array,
>                {<<"table">>,table,
>                {<<"z">>,longstr,<<"2">>},
>    {arguments,[{<<"z">>,longstr,<<"1">>},
> [[[{queue_name,<<"ordered">>},
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
