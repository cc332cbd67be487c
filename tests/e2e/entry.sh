# entry.sh - entering and leaving a session. A new name creates a session, and the name is printed at the end. The quit
# commands of vi and of the shell work, too. A packed file is found by its name, and a session that isn't open can be
# deleted.
. "$(dirname "$0")/lib.sh"

mkdir -p "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$WORK/here"
cd "$WORK/here" || exit 1

# says STATUS TEXT ARGUMENTS...: the program must end with this status and one line that contains the text.
says() {
    local status=$1 text=$2 said
    shift 2
    said=$("$PEWTER" "$@" 2>&1 </dev/null)
    [ $? -eq "$status" ] || fail "$*: another status: $said"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$*: more than one line: $said"
    [[ $said == *"$text"* ]] || fail "$*: '$text' is not in: $said"
}

shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"

# ---- a new name creates a session; an unused session is removed
workbench first
wait_for "^ new session first; everything is recorded; 'pewter first' continues it"
command_line 'q'
wait_exit
wait_for '^status=0'
screen_has 'to continue:' && fail "prints how to continue a session that does not exist"
says 0 'no sessions in' sessions

workbench "'my first'"
wait_for "^ new session my first; everything is recorded; 'pewter 'my first'' continues it"
command_line 'model tiny layers=1 width=16; train 3'
wait_for 'idle 3'
command_line 'w'
wait_for '^ checkpoint at step 3, in session my first \('
keys u
wait_for "^! undo: no setting to undo; 'open \"my first\" from=STEP' goes back in training"
command_line 'save first'
wait_for '^ my first is now first'

# ---- an open session can't be deleted, from inside or from outside
command_line 'delete first'
wait_for '^! delete: first is the open session'
says 1 "first: it is open in pewter $APP_PID " session delete first
says 1 "delete: first: it is open in pewter $APP_PID " -c 'delete first'
command_line 'wq'
wait_exit
wait_for '^session first; to continue: pewter first$'

# ---- it is continued, and exit quits; without a session wq doesn't quit
workbench first
wait_for '^ continues at step 3'
command_line 'exit'
wait_exit
wait_for '^session first; to continue: pewter first$'
workbench --no-session
command_line 'wq'
wait_for "^! wq: nothing is recorded.*'quit' leaves anyway"
command_line 'q!'
wait_exit
wait_for '^status=0'
screen_has 'to continue:' && fail "prints how to continue a session that isn't recorded"

# ---- a packed file is found by its name, with any ending, unless a session has that name
says 0 'packed first into t.pew' session pack first -o t.pew
"$PEWTER" replay t.pew --plain >said || fail "replay t.pew: $(cat said)"
grep -q ': train 3$' said || fail "another recording: $(cat said)"
"$PEWTER" --plain t.pew >said || fail "t.pew: $(cat said)"
grep -q ': train 3$' said || fail "another recording: $(cat said)"
"$PEWTER" --session t.pewter -c 'mark in the folder' >/dev/null || fail "no session in the folder"
cp t.pew first
"$PEWTER" --session first -c 'mark in the session' >/dev/null || fail "the file was used instead of the session"
rm -r t.pewter

# ---- deletion
says 1 'it is a packed file' session delete t.pew
mkdir -p "$XDG_STATE_HOME/pewter/sessions/plain.pewter"
says 1 'not a session: there is no session.db in it' session delete plain
ln -s first.pewter "$XDG_STATE_HOME/pewter/sessions/link.pewter"
says 1 'it is a link' session delete link
rm "$XDG_STATE_HOME/pewter/sessions/link.pewter"
rmdir "$XDG_STATE_HOME/pewter/sessions/plain.pewter"
rm first
"$PEWTER" --session second -c 'mark x' >/dev/null || fail "no second session"
says 0 'deleted second' -c 'delete second'
says 0 'deleted first' session delete first
[ -z "$(ls -A "$XDG_STATE_HOME/pewter/sessions")" ] || fail "left: $(ls -A "$XDG_STATE_HOME/pewter/sessions")"
says 1 'first: there is no such session' session delete first
says 1 'delete: first: there is no such session' -c 'delete first'

# ---- mistyped commands create no session
printf 'say hello\n' >script
says 2 "'pewter run script' runs it" script
says 2 "'train' is a command; run it with 'pewter -c train', or ':train' in the workbench" train
says 2 "did you mean 'pewter sessions'?" sesions
says 2 "did you mean 'pewter doctor'?" docter
says 2 '--session: the name is empty; ' --session '' -c 'mark x'
says 2 "the session's name is empty" ''
says 2 'a word is empty' replay ''
says 2 "no verb 'rnu'; there are run, replay, session, sessions, study, devices, doctor" rnu script
says 2 'pack, unpack or delete' session remove
says 2 'delete needs NAME' session delete
[ -z "$(ls -A "$XDG_STATE_HOME/pewter/sessions")" ] || fail "made: $(ls -A "$XDG_STATE_HOME/pewter/sessions")"
exit 0
