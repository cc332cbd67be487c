# terminal_idle.sh - an idle program sends nothing and uses no processor time; during training the frame rate is
# limited.
. "$(dirname "$0")/lib.sh"

ticks() { # processor time of the program so far
    awk '{ print $14 + $15 }' "/proc/$APP_PID/stat"
}
sent() { # bytes that the terminal has received since the pipe was opened
    stat -c %s "$WORK/sent"
}

shell 100x30
workbench
: >"$WORK/sent"
t pipe-pane -o "cat >>$WORK/sent"
keys Tab
until_true "bytes arrive in the pipe" test -s "$WORK/sent"
until_true "the focus moves" screen_has "┏━ 3 Attention"
settle=-1 # until two samples in a row are equal
until [ "$settle" = "$(sent)" ]; do
    settle=$(sent)
    sleep 1
done
before=$(ticks)
sleep 2 # the test measures a time without events
[ "$(sent)" = "$settle" ] || fail "$(($(sent) - settle)) bytes were sent in two idle seconds"
used=$(($(ticks) - before))
[ $used -le 4 ] || fail "$used ticks of processor time in two idle seconds"

command_line "set fps 10"
command_line "train 100000"
wait_for "TRAIN"
start=$(sent)
sleep 2
rate=$((($(sent) - start) / 2))
echo "training, 10 frames a second: $rate bytes a second"
[ $rate -le 100000 ] || fail "$rate bytes a second while training"
keys q
wait_for "^:quit .*Esc or n stays" # it asks, because it trains
keys q                           # one key too many: it isn't taken as text of the answer
keys n
wait_gone "^:quit"
screen_has "TRAIN" || fail "n didn't stay"
keys q
wait_for "^:quit .*Esc or n stays"
keys y # as in other programs
wait_exit
assert_terminal_is_back
