# replay.sh - a session is printed, shown in the workbench at any moment, played, and watched while it is being
# recorded. Also the past of a live session, in all panes.
. "$(dirname "$0")/lib.sh"

mkdir -p "$XDG_STATE_HOME"

"$PEWTER" --session race -c 'seed 1; model tiny layers=1 width=32; race none,alibi; train 60; prompt sort 3 1 2
    eval lengths=2..4 samples=8; mark half way; train 60; fail me' >"$WORK/out" 2>"$WORK/err"
[ $? -eq 1 ] || fail "the script that fails at its end ends well"

# ---- printing
json=$("$PEWTER" replay race --json 2>"$WORK/replay.err") || fail "replay --json fails"
[ "$(grep -c '"kind":"step"' <<<"$json")" -eq 240 ] || fail "not 120 steps of two arms"
[ "$(grep -c '"kind":"command"' <<<"$json")" -ge 7 ] || fail "commands are missing"
[ ! -s "$WORK/replay.err" ] || fail "replay --json complains: $(cat "$WORK/replay.err")"
text=$("$PEWTER" replay race --plain) || fail "replay --plain fails"
for what in ': train 60' 'mark: half way' 'exact match by length' "! .*no command 'fail'"; do
    grep -qE "$what" <<<"$text" || fail "the log lacks '$what': $text"
done

# ---- export: the same lines from a closed session and from one being recorded
"$PEWTER" replay race -c "export events $WORK/race.jsonl" >/dev/null || fail "export events of a recording"
[ "$(cat "$WORK/race.jsonl")" = "$json" ] || fail "export events differs from replay --json"
"$PEWTER" --session so_far -c "model tiny layers=1 width=32; train 20; mark here; export events $WORK/far.jsonl; train 5" \
    >/dev/null || fail "export events"
lines=$(wc -l <"$WORK/far.jsonl")
[ "$("$PEWTER" replay so_far --json | head -n "$lines")" = "$(cat "$WORK/far.jsonl")" ] || fail "another past than replay's"
[ "$(grep -c '"kind":"step"' "$WORK/far.jsonl")" -eq 20 ] || fail "not the session so far"
grep -q '"text":"here"' "$WORK/far.jsonl" || fail "the latest event is missing"

# ---- read-only use without a screen
past=$("$PEWTER" replay race -c "goto 30; show curves; show prompt; export figure $WORK/past.svg pane=curves; goto mark
    goto end; show prompt; export figure $WORK/end.svg pane=curves") || fail "goto in replay -c"
[ "$(grep -c '^ *30 ' <<<"$past")" -eq 2 ] || fail "not at step 30: $past"
grep -q '^ *31 ' <<<"$past" && fail "later than step 30: $past"
for what in 'no prompt yet' 'mark: half way' 'given *sort 3 1 2'; do
    grep -q "$what" <<<"$past" || fail "goto: no '$what': $past"
done
grep -q '>120<' "$WORK/end.svg" || fail "the figure of the end is another moment's"
grep -q '>120<' "$WORK/past.svg" && fail "the figure of step 30 is another moment's"

# ---- each wrong call gives one line
wrong() {
    local want=$1
    shift
    said=$("$PEWTER" "$@" 2>&1 >/dev/null) && fail "$*: taken"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$*: not one line: $said"
    grep -q -- "$want" <<<"$said" || fail "$*: '$said' lacks '$want'"
}
wrong 'needs a SESSION' replay
wrong "no session 'nix'" replay nix
wrong 'too many words' replay race more
wrong 'replay: --session is not allowed; name the session after the verb' replay race --session other
wrong "no option '-x'" replay -x
wrong 'goto: step 121: arm 1 had 0..120' replay race -c 'goto 121; show curves'
wrong 'goto: plain mode has no timeline' -c 'goto 3'
wrong "play: not available in plain mode; use 'goto' to move in a recording" replay race -c play
wrong 'must end in .jsonl' replay race -c 'export events x.json'
wrong 'usage: export events FILE.jsonl' replay race -c 'export events'
wrong "no option 'n'" replay race -c 'export events x.jsonl n=3'
wrong 'nothing is recorded' -c 'export events x.jsonl'

# ---- in the workbench
shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
workbench replay race
wait_for 'replay race · step 120'
wait_for '▸ end '
wait_for 'model'
command_line 'goto 30'
wait_for 'replay race · step 30'
wait_for '← past'
wait_for 'no prompt yet' # all panes show that moment
keys .
wait_for 'step 31'
keys ,
wait_for 'step 30'
keys :
line 'goto +20'
wait_for 'step 50'
command_line 'goto 121'
wait_for '^! goto: step 121: arm 1 had 0..120'
command_line 'goto mark'
wait_for 'mark: half way'
command_line 'goto mark nothing'
wait_for "^! goto: no mark has 'nothing'"
command_line 'goto command -2'
wait_for '^ *eval lengths=2..4'
command_line 'goto command 99'
wait_for '^! goto command 99: too few commands after this moment'
command_line 'goto around'
wait_for '^! goto: .around.: allowed are'
command_line 'train 5'
wait_for '^! train: this is a recording; .pewter replay race --from STEP'
command_line 'play speed=2000'
wait_for '^! play: speed=2000: allowed are 1..1000, recorded'
command_line 'goto start'
wait_for 'event 1 of|event 2 of'
command_line 'play speed=1000' # to the end
wait_for '▸ end '
wait_for 'step 120'
keys Space
wait_for '▸ play|▸ end'
keys L
wait_for '▸ end '
keys S-Left
wait_for '← past'
keys q
wait_for 'status=0'

# ---- watched during recording: the view stays at the right end
"$PEWTER" --session live -c 'seed 2; model tiny layers=1 width=32; train 100000' >/dev/null 2>&1 &
recorder=$!
until_true "the session is there" test -s "$XDG_STATE_HOME/pewter/sessions/live.pewter/session.db"
workbench replay live
wait_for "follow live \\(pid $recorder\\)"
wait_for '▸ live.*event [0-9]'
before=$(screen | grep -o 'event [0-9]*$')
moved() {
    [ "$(screen | grep -o 'event [0-9]*$')" != "$before" ]
}
until_true "it goes on" moved
kill "$recorder"
wait "$recorder" 2>/dev/null
wait_for 'replay live · step'
keys q
wait_for 'status=0'

# ---- the past of a live session: all panes; commands that need the present go back to it
workbench --threads 1
wait_for 'rec '
command_line 'model tiny layers=1 width=32; train 200'
wait_for '┤ 200'
command_line 'prompt sort 3 1 2'
wait_for 'given sort 3 1 2'
command_line 'goto 50'
wait_for 'viewing step 50 of 200'
wait_for 'no prompt yet'
command_line 'goto end'
wait_for 'given sort 3 1 2'
command_line 'goto 50'
wait_for 'no prompt yet'
command_line 'prompt sort 9 8'
wait_for 'live again'
wait_for 'given sort 9 8'
keys q
wait_for 'status=0'
