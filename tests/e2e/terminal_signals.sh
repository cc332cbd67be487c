# terminal_signals.sh - whatever ends the program, it restores the terminal, and its status is true.
. "$(dirname "$0")/lib.sh"

shell 80x24
for signal in TERM:143 HUP:129; do
    workbench
    kill -${signal%:*} "$APP_PID"
    wait_exit
    wait_for "ended by SIG${signal%:*}"
    wait_for "^status=${signal#*:}$"
    assert_terminal_is_back
done

# A crash: the terminal is restored first, then the program dies of the same signal (128 + its number).
for signal in SEGV:139 ABRT:134 BUS:135 FPE:136 ILL:132 QUIT:131 USR1:138 ALRM:142 XCPU:152; do
    workbench
    kill -${signal%:*} "$APP_PID"
    wait_exit
    wait_for "^status=${signal#*:}$"
    assert_terminal_is_back
done

# A crash while the command line was open.
workbench
keys :
literal "tra"
wait_for "^:tra"
kill -SEGV "$APP_PID"
wait_exit
wait_for "^status=139$"
assert_terminal_is_back

# kill -STOP can't be handled; after -CONT the whole screen must be drawn again.
workbench
kill -STOP "$APP_PID"
wait_for "Stopped"
line "clear"
line "fg"
wait_for "1 Curves"
keys q
wait_exit
