# plain.sh - lines instead of a screen: text for everything, no control sequences, and lessons to their end.
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-plain-XXXXXX)
pid= # process id of a program in the background
trap '[ -z "$pid" ] || kill -KILL "$pid"; rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
export HOME=$WORK LC_ALL=C.UTF-8
unset XDG_STATE_HOME

fail() {
    echo "FAILED: $*"
    tail -n 20 out* err*
    exit 1
}
# plain INPUT: runs the program in plain mode on these lines.
plain() {
    printf '%s\n' "$1" | "$PEWTER" --plain >out 2>err
    status=$?
    LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out err && fail "control characters: $1"
    return $status
}
has() {
    grep -qE -- "$1" out || fail "no line has: $1"
}

plain 'race none,t5
train 20
eval lengths=2..9 samples=16
prompt sort 3 1 2
inspect layer=1 head=2
arm 2
table
show curves
show lengths
show attention
show step
show encoding
show prompt
show log' || fail "status $?"
has '^arm 1  none  step 20: loss [0-9.]+, token accuracy'
has 'exact match by length'
has '^arm 2 t5 8/16$'
has '^ +step +loss +token accuracy '
has '^ +20 +[0-9.]+ +[0-9.]+ '
has '^ +step +trained lengths +longer ones$'
has '^ +length  1 none +2 t5'
has '^  >8 +[01][0-9.]* +[01][0-9.]* .*mean beyond training$'
has '^  9 +[01]\.[0-9]+ \(.*beyond training$'
has '^longer than trained, arms compared on the same samples: no arm is called best'
has '^arm 2 t5 8/16, evaluated at step 20$'
has '^  first errors: [0-9]+ early stops?, .* in [0-9]+ of [0-9]+ answers$'
has "head L1H2, the keys that each query attends to"
has "^  query 0 'sort' attends to 0 'sort' 1\.00$"
has "^  token 1, '.+', (right|wrong): candidates '"
has '^contributions to logit '
has '^  MLP 0 +-?[0-9.]+'
has '^  sum [-+][0-9.]+, logits of the forward pass [-+][0-9.]+, off by '
has '^logit lens'
has 'bucket by distance 0 1 2 3 4 4'
has '^buckets; one with 0 pairs was never trained:$'
has '^[0-9:]+ command: prompt sort 3 1 2'

plain 'step; eval lengths=2 samples=2
show curves' || fail "status $?"
has '^ +1 +[01][0-9.]* +-$' # and no numbers for lengths that were not evaluated

plain ':step
:pe NoPE
:q' || fail "a line with a colon, as in the documentation"
has '^arm 1: none'

plain 'show attention
show step
show encoding
show lengths
show curves
show prompt' || fail "showing an empty pane succeeds"
has '^no attention yet'
has 'nothing evaluated yet'

plain 'show heads' && fail "an unknown pane is accepted"
grep -q "^pewter: show: no pane 'heads'; there are curves, lengths, attention, step, encoding, prompt, log, findings$" err ||
    fail "the message"

# waiting: for earlier commands, for a time, for a key (an empty line); the end of the input ends a wait
plain 'train 3
wait done
say after
wait 0.1 s
wait key

say key
wait key' || fail "waits"
[ "$(grep -cE '^(after|key)$' out)" = 2 ] || fail "lines not in order"
plain 'wait key now' && fail "accepts words after 'key'"
plain 'wait -1 s' && fail "accepts a negative time"

# a file's lines run in order, whether the screen or the lab executes them, and before the commands after `source`
printf 'train 3\nset fps 5\nshow curves\nsource second\nsay last\n' >first
printf 'say "in between"\nwait 0.1 s\n' >second
plain 'source first; say behind
say end' || fail "a file of both sides' commands"
[ "$(grep -oE '^arm 1  none  step 3:|^arm 1 none$|^in between$|^last$|^behind$|^end$' out | tr '\n' ';')" = \
    "$(grep -oE '^arm 1  none  step 3:' out);$(grep -oE '^arm 1 none$' out);in between;last;behind;end;" ] || fail "the order"
"$PEWTER" -c 'source first; say behind' >out 2>err || fail "headless"
[ "$(tail -n 3 out | tr '\n' ';')" = 'in between;last;behind;' ] || fail "the order headless"
printf 'say before\nfocus log\nsay after\n' >focuses
"$PEWTER" -c 'source focuses' >out 2>err && fail "focus without a screen"
[ "$(cat err)" = 'pewter: focuses:2: focus: there are no panes in plain mode' ] || fail "the message about focus in a file"
[ "$(cat out)" = before ] || fail "not only the lines before the failure ran"
printf 'source itself\n' >itself
"$PEWTER" -c 'source itself' >out 2>err && fail "a file that names itself"
[ "$(cat err)" = 'pewter: itself:1: source: more than 1000 nested files; does itself source itself?' ] || fail "the message about endless nesting"
"$PEWTER" -c 'source nowhere' >out 2>err && fail "no such file"
{ [ "$(wc -l <err)" = 1 ] && grep -q '^pewter: .*nowhere' err; } || fail "not one line about the missing file"

# without any terminal: pictures of a given size
"$PEWTER" -c 'train 3; eval samples=8; prompt sort 2 1; screenshot a.svg size=80x24 focus=lengths; screenshot b.txt size=40x12
    screenshot c.ans' >out 2>err || fail "screenshots"
[ "$(grep -c '^wrote [abc]\.' out)" = 3 ] || fail "says where"
grep -q '<svg .*width="672" height="384"' a.svg || fail "80x24"
[ "$(wc -l <b.txt)" = 12 ] || fail "12 rows"
[ "$(wc -l <c.ans)" = 48 ] || fail "48 rows"
[ "$(wc -c <a.svg)" -lt 100000 ] || fail "80x24 takes more than 100 kB"
"$PEWTER" -c 'train 3; eval samples=8; prompt sort 2 1; screenshot d.svg size=80x24 focus=lengths' >out 2>err
cmp -s <(sed 's/[0-9][0-9]:[0-9][0-9]:[0-9][0-9]//' a.svg) <(sed 's/[0-9][0-9]:[0-9][0-9]:[0-9][0-9]//' d.svg) ||
    fail "the same screen, other bytes"

# a lesson's text is shown in full, or refused
x=$(printf '%0501d' 0)
printf '# Long\nsay %s\nwait key\n' "$x" >long.pewter
plain 'present ./long.pewter' && fail "a paragraph that is too long"
grep -q 'say: at most 500 bytes of text are allowed; this one has 501$' err || fail "the message about a paragraph"
printf '# Long\nsay %s\nsay %s\nsay %s\nsay %s\nwait key\n' "${x%?}" "${x%?}" "${x%?}" "${x%?}" >long.pewter
plain 'present ./long.pewter' && fail "a step that is too long"
grep -q 'say: a step has at most 1535 bytes; with this paragraph it has 2003$' err || fail "the message about a step"

# the lessons, from the first line to the last; `present` alone lists them
"$PEWTER" --plain <<<present >out 2>err || fail "present"
has '^present encodings +Encodings in five minutes$'
mapfile -t lessons < <(sed -n 's/^present \([a-z]*\) .*/\1/p' out)
[ "${#lessons[@]}" -ge 3 ] || fail "three lessons come with the program"
for lesson in "${lessons[@]}"; do
    steps=$(grep -c '^wait key' "$PEWTER_SOURCE_DIR/lessons/$lesson.pewter")
    { [ "$steps" -ge 8 ] && [ "$steps" -le 14 ]; } || fail "$lesson has $steps steps"
    # the real commands in order, but with two steps of training
    sed -E 's/^train .*/train 2/; s/^eval$/eval samples=2/' "$PEWTER_SOURCE_DIR/lessons/$lesson.pewter" >"$lesson.pewter"
    plain "present ./$lesson.pewter" || fail "$lesson ended with $?"
    has 'the lesson has ended'
    [ "$(grep -c 'press Enter to continue' out)" = "$steps" ] || fail "$lesson: not $steps steps"
    [ ! -s err ] || fail "$lesson complained"
    # a paragraph fits an event
    awk '/^say / && length > 460 { print FILENAME ": too long: " $0; bad = 1 } END { exit bad }' "$lesson.pewter" || fail "$lesson"
done

# A signal ends the program in order, and is its status. Each run has its own files: the shell truncates them only after
# the fifo has been opened at both ends. Until then a shared file would hold the output of the previous run.
for signal in TERM HUP INT; do
    mkfifo line.$signal
    "$PEWTER" --no-session <line.$signal >out.$signal 2>err.$signal &
    pid=$!
    exec 9>line.$signal
    echo 'train 1' >&9
    end=$((SECONDS + 60))
    until grep -qs 'step 1' out.$signal; do
        [ $SECONDS -le $end ] || fail "SIG$signal: it doesn't train"
        sleep 0.02
    done
    kill -$signal $pid
    end=$((SECONDS + 60))
    while grep -qs '^State:[^Z]*$' /proc/$pid/status; do
        [ $SECONDS -le $end ] || fail "SIG$signal: it still runs"
        sleep 0.02
    done
    wait $pid
    [ $? -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: another status"
    pid=
    exec 9>&-
    grep -q "ended by SIG$signal" err.$signal || fail "SIG$signal: it doesn't say so"
done
