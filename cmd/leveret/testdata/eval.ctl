# Only expressions that client test suites use are answered. Alarms are not set here: they would disturb other users of a real broker.
$ eval 'rabbit_alarm:get_alarms().'
> []
$ eval node().
> NODE
$ eval foo
! Error (argument validation): "syntax error before: "
! Arguments given:
! 	eval foo
! 
! Usage
! 
! PROGRAM eval <expression>
= 64
$ eval a b
! Error (argument validation): "syntax error before: "
! Arguments given:
! 	eval a b
! 
! Usage
! 
! PROGRAM eval <expression>
= 64
< 
$ eval
! Error:
! Evaluation failed: syntax error before: 
= 65
