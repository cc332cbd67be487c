# terminal_gone.sh - when the terminal disappears the program ends, soon and without using the processor.
. "$(dirname "$0")/lib.sh"

shell 80x24
workbench
t kill-server
wait_exit

# The same for a program that ignores SIGHUP and isn't sent it: only the descriptor reports the end.
shell 80x24 "PEWTER=$PEWTER"
line "setsid -w sh -c 'trap \"\" HUP; echo \$\$ >$WORK/pid; exec \"\$PEWTER\"' ; echo status=\$?"
until_true "the workbench takes the screen" flag_is alternate_on 1
APP_PID=$(cat "$WORK/pid")
t kill-server
wait_exit

# The same during training.
shell 80x24
workbench
command_line "train 100000"
wait_for "TRAIN"
t kill-server
wait_exit
