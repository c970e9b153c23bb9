# How much the log tells.
$ set_log_level debug
> Setting log level to "debug" ...
$ set_log_level info -q
$ set_log_level notice
> Setting log level to "notice" ...
$ set_log_level warning
> Setting log level to "warning" ...
$ set_log_level error
> Setting log level to "error" ...
$ set_log_level critical
> Setting log level to "critical" ...
$ set_log_level none
> Setting log level to "none" ...
$ set_log_level alert
> Setting log level to "alert" ...
$ set_log_level emergency
> Setting log level to "emergency" ...
$ set_log_level connection debug
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_log_level connection debug
! 
! Usage
! 
! PROGRAM set_log_level <log_level>
= 64
$ set_log_level
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_log_level
! 
! Usage
! 
! PROGRAM set_log_level <log_level>
= 64
$ set_log_level a b c
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_log_level a b c
! 
! Usage
! 
! PROGRAM set_log_level <log_level>
= 64
$ set_log_level chatty
! Error:
! level chatty is not supported. Try one of debug, info, warning, error, critical, none
= 69
$ set_log_level info --formatter json
> {"node":"NODE","result":"ok"}
$ set_log_level ""
! Error:
! level "" is not supported. Try one of debug, info, warning, error, critical, none
= 69
