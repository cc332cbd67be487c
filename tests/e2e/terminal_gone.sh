# The terminal goes away: so does the program, soon and without burning the processor.
. "$(dirname "$0")/lib.sh"

shell 80x24
workbench
t kill-server
wait_exit 30

# The same for one that is deaf to SIGHUP because nobody sends it: only the descriptor tells.
shell 80x24 "PEWTER=$PEWTER"
line "setsid -w sh -c 'trap \"\" HUP; echo \$\$ >$WORK/pid; exec \"\$PEWTER\"' ; echo status=\$?"
until_true "the workbench takes the screen" flag_is alternate_on 1
APP_PID=$(cat "$WORK/pid")
t kill-server
wait_exit 30

# And while it trains.
shell 80x24
workbench
command_line "train 100000"
wait_for "TRAIN"
t kill-server
wait_exit 30
