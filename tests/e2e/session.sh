# session.sh - a session's life: train, prompt, swap, kill -9. Start again and resume with the same bits, go back in
# time, branch. Errors of names, folders and a second process are one line.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config
mkdir -p "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
MODEL='seed 1; model tiny layers=1 width=32'

digest_of() { # COMMANDS: the text of the last `digest` of an unrecorded run
    "$PEWTER" -c "$1" | sed -n 's/.*digest //p' | tail -n 1
}

# ---- headless: killed during training, resumed, the same bits as without a break
want=$(digest_of "$MODEL; pe t5; train 1500; digest")
"$PEWTER" --session broken -c "$MODEL; pe t5; train 1500" >/dev/null 2>&1 &
pid=$!
until_true "its first steps are on record" sh -c "'$PEWTER' sessions 2>/dev/null | grep -qE '^broken .* [1-9][0-9]* '"
kill -KILL $pid
wait $pid 2>/dev/null
got=$("$PEWTER" --session broken -c 'digest' | sed -n 's/.*digest //p')
[ "$got" = "$want" ] || fail "resumed it ends with $got, without a break with $want"
"$PEWTER" replay broken --verify >"$WORK/verdict" || fail "not verified: $(cat "$WORK/verdict")"
grep -q '^equal: ' "$WORK/verdict" || fail "no verdict: $(cat "$WORK/verdict")"

# ---- headless: a signal ends the program in order, unless it was ignored at the start
for signal in TERM HUP; do
    (
        [ $signal = HUP ] || trap '' HUP
        exec "$PEWTER" --session "by_$signal" -c "$MODEL; train 1000000"
    ) >/dev/null 2>&1 &
    pid=$!
    until_true "its steps are on record" sh -c "'$PEWTER' sessions 2>/dev/null | grep -qE '^by_$signal .* [1-9][0-9]* .*not ended'"
    [ $signal = HUP ] || kill -HUP $pid
    kill -$signal $pid
    wait $pid 2>/dev/null
    status=$?
    [ $status -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: status $status"
    "$PEWTER" sessions | grep "^by_$signal " | grep -q 'not ended' && fail "SIG$signal leaves it open"
    "$PEWTER" replay "by_$signal" --json | tail -n 1 | grep -q '"kind":"checkpoint"' || fail "SIG$signal: no last checkpoint"
    rm -r "$XDG_STATE_HOME/pewter/sessions/by_$signal.pewter"
done

# ---- headless: at the end the program reports data that the disk didn't accept, and since when
"$PEWTER" --session gone -c "$MODEL; train 1000000" >/dev/null 2>"$WORK/lost" &
pid=$!
until_true "its steps are on record" sh -c "'$PEWTER' sessions 2>/dev/null | grep -qE '^gone .* [1-9][0-9]* .*not ended'"
rm "$XDG_STATE_HOME/pewter/sessions/gone.pewter/session.db"
sleep 0.2
kill $pid
wait $pid 2>/dev/null
[ "$(wc -l <"$WORK/lost")" -eq 1 ] || fail "not one line: $(cat "$WORK/lost")"
grep -qE '^pewter: gone: nothing is recorded from [0-9:]{8} on \([0-9]+ events\): session\.db was removed' "$WORK/lost" ||
    fail "no message that nothing is recorded:  $(cat "$WORK/lost")"
rm -r "$XDG_STATE_HOME/pewter/sessions/gone.pewter"

# ---- in the workbench
shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
workbench
command_line "$MODEL"
command_line 'save mine'
wait_for 'saved as mine'
wait_for 'rec mine'
command_line 'save mine' # it has a name already: as `save` alone
wait_for '^ checkpoint at step 0'
command_line 'train 120'
wait_for 'idle 120'
command_line 'prompt sort 3 1 2'
wait_for 'given sort 3 1 2'
command_line 'checkpoint before the swap'
wait_for '^ checkpoint at step 120'
command_line 'pe alibi'
command_line 'train 100000'
wait_for 'TRAIN'
until_true "steps after the swap are on record" sh -c "'$PEWTER' sessions | grep -qE '^mine .* (1[3-9][0-9]|[2-9][0-9][0-9]) '"

# no other process may write to it
said=$("$PEWTER" --session mine -c 'train 1' 2>&1 >/dev/null) && fail "two processes record in one session"
grep -q "open in pewter $APP_PID" <<<"$said" || fail "the message lacks the process: $said"

kill -KILL "$APP_PID"
wait_for 'status=137'

workbench # a new session, which stays empty and leaves nothing behind
wait_for '^ the last session was not ended; :open mine continues it'
command_line 'quit'
wait_exit

workbench mine
wait_for 'continues at step [0-9]*; [0-9]* steps were re-run, with the recorded bits|^.*: pause'
wait_for 'PAUSE' # it waits where it stopped
wait_for '1 alibi'
wait_for 'given sort 3 1 2'
command_line 'goto 60'
wait_for '← past'
wait_for '1 none' # the encoding of that time
command_line 'goto live'
command_line 'stop'
command_line 'open mine from=50'
wait_for 'is already open|continues as a new session, [0-9-]*, at step 50'
wait_for '1 none'
command_line 'train 5'
wait_for 'idle 55'
command_line 'train 1000000; eval; mark never'
wait_for 'TRAIN'
command_line 'quit'
wait_exit
left=$("$PEWTER" sessions | sed -n 2p)
"$PEWTER" replay "${left%% *}" --plain | grep -q "not run, because pewter ended: 'eval' and 1 more" || fail "the message lacks the waiting lines"

"$PEWTER" sessions >"$WORK/list"
[ "$(wc -l <"$WORK/list")" -eq 5 ] || fail "not three sessions and their total: $(cat "$WORK/list")"
"$PEWTER" replay mine --verify >"$WORK/verdict" || fail "not verified: $(cat "$WORK/verdict")"

# ---- a line typed during a re-run waits, and a message says so
"$PEWTER" --session again -c 'model small; train 100000' >/dev/null 2>&1 &
pid=$!
until_true "its steps are on record" sh -c "'$PEWTER' sessions | grep -qE '^again .* ([3-9][0-9]|[0-9]{3,})  '"
kill -KILL $pid
wait $pid 2>/dev/null
workbench again
wait_for 're-running event [0-9]*/[0-9]'
command_line 'digest'
wait_for '^ waits for the re-run of the session; Ctrl-C ends it'
keys C-c
wait_for 'digest [0-9a-f]{32}'
command_line 'quit'
wait_exit
rm -r "$XDG_STATE_HOME/pewter/sessions/again.pewter"

# ---- every error is one line, and no file is left behind
wrong() {
    local want=$1
    shift
    said=$("$PEWTER" "$@" 2>&1 >/dev/null) && fail "$*: taken"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$*: not one line: $said"
    grep -q -- "$want" <<<"$said" || fail "$*: '$said' lacks '$want'"
}
wrong "no session 'nix'" nix
wrong "begin with '-'" --session -x -c 'train 1'
wrong 'nix: there is no such session' -c 'open nix'
wrong 'there is no step' -c 'open mine from=100000'
wrong 'save: nothing is recorded' -c 'save other'
mkdir "$XDG_STATE_HOME/pewter/sessions/plain.pewter"
wrong 'plain' --session plain -c 'train 1'
"$PEWTER" sessions | grep -q '^other' && fail "a failed save leaves a session"
exit 0
