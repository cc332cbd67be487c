#!/usr/bin/env bash
# figure_several.sh - tests figures of several arms: recorded sessions beside the lab's arms, and a page of one arm
# for several arms. Figures are made from scripts, from a replay, and on the screen.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

MODEL='model tiny width=16 layers=1 heads=2; optim batch=4; seed 3'
SHORT='task sort lengths=2..4 test=5..7'

complains() { # complains MESSAGE COMMANDS: one line, status 1, and no file
    rm -f x.*
    "$PEWTER" -c "$2" >out 2>err && fail "worked: $2"
    { [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err; } || fail "$2 said: $(cat err)"
    ls x.* 2>/dev/null && fail "a file was written in spite of the error: $2"
}
has() { # has FILE TEXT...: the picture contains each text
    local file=$1 text
    shift
    for text; do
        grep -qF -- "$text" "$file" || fail "$file has no $text: $(grep -o '<text.*' "$file" | sed 's/.*">//')"
    done
}
hasnt() {
    grep -qF -- "$2" "$1" && fail "$1 has $2"
}
images() {
    grep -o 'base64,[^"]*' "$1"
}

# ---- recorded sessions
"$PEWTER" --session monday -c "$MODEL; $SHORT; race none,t5; train 30; eval samples=8" >out 2>err || fail "$(cat err)"
"$PEWTER" --session tuesday -c "$MODEL; task sort lengths=2..5 test=6..9; race alibi seeds=2; train 40; eval samples=8" \
    >out 2>err || fail "$(cat err)"
"$PEWTER" --session untold -c "$MODEL; train 2" >out 2>err || fail "$(cat err)"

for run in 1 2; do
    "$PEWTER" -c "export figure l$run.svg pane=lengths sessions=\"monday,tuesday\"
        export figure c$run.svg pane=curves sessions=monday,tuesday
        export figure e$run.svg pane=curves page=exact sessions=monday,tuesday" >out 2>err || fail "$(cat err)"
done
for file in l c e; do
    cmp -s ${file}1.svg ${file}2.svg || fail "$file: the same commands, other bytes"
    has ${file}1.svg '>monday: none' '>monday: t5 8/16' '>tuesday: alibi' 'From recorded sessions: monday: none at step 30' \
        'tuesday: alibi at step 40' '| tuesday: '
    hasnt ${file}1.svg '>1 none' # the lab that draws them has no data of its own
    grep -qE '/tmp|20[0-9][0-9]-' ${file}1.svg && fail "a path or a date"
done
has l1.svg '>trained: monday<' '>trained: tuesday<' 'lengths 2 to 4 (monday); 2 to 5 (tuesday).' '>9</text>' 'n=2'
has c1.svg '>40</text>'

# Beside the lab's own arms; with selected arms; from a path, and from a packed session.
"$PEWTER" session pack tuesday -o dienstag.pwt >out 2>err || fail "$(cat err)"
"$PEWTER" -c "$MODEL; $SHORT; race rotary,none; train 5; eval samples=4
    export figure b.svg pane=lengths sessions=\"$XDG_STATE_HOME/pewter/sessions/monday.pewter, dienstag.pwt\"
    export figure n.svg pane=lengths sessions=monday arms=1 names=\",ours,theirs\"" >out 2>err || fail "$(cat err)"
has b.svg '>1 rotary' '>2 none' '>monday: none' '>dienstag: alibi' '>trained: this lab, monday<' '4 samples (1 rotary, 2 none), 8'
has n.svg '>1 rotary' '>ours'
hasnt n.svg '>monday: t5'

# In a replay, the replayed session is drawn once.
"$PEWTER" replay monday -c 'export figure r.svg pane=lengths sessions="monday,tuesday"' >out 2>err || fail "$(cat err)"
cmp -s r.svg l1.svg || fail "of a recording: another picture"
"$PEWTER" replay tuesday -c 'export figure r.svg pane=curves sessions=monday' >out 2>err || fail "$(cat err)"
has r.svg '>1 alibi' '>monday: none'
# Of the session that is being recorded, in its current state.
"$PEWTER" --session now -c "$MODEL; $SHORT; train 3; eval samples=4; export figure o.svg pane=lengths sessions=now,monday" \
    >out 2>err || fail "$(cat err)"
has o.svg '>now: none' '>monday: none'

cp -r "$XDG_STATE_HOME/pewter/sessions/monday.pewter" broken.pewter
dd if=/dev/zero of=broken.pewter/session.db bs=1024 seek=8 count=100 conv=notrunc 2>/dev/null
echo 'train 5' >script.pewter
FIGURE='export figure x.svg pane=lengths'
complains 'sessions: wednesday: there is no such session' "$FIGURE sessions=monday,wednesday"
complains 'broken' "$FIGURE sessions=broken.pewter"
complains 'script.pewter: it is a script, not a session' "$FIGURE sessions=script.pewter"
complains "session 'untold' has no evaluation to draw" "$FIGURE sessions=monday,untold"
complains "two of them are called 'monday'" "$FIGURE sessions=monday,tuesday,monday"
complains 'a name is missing' "$FIGURE sessions=monday,"
complains "session 'monday' has no arm of arms=3" "$FIGURE sessions=monday arms=3"
complains 'lengths errors takes no sessions=; those that do: curves loss|' "$FIGURE page=errors sessions=monday"
complains 'is of task sort, and the lab of task copy: a figure of lengths is of one task' \
    "$MODEL; task copy; train 2; eval samples=2; $FIGURE sessions=monday"

# ---- several arms on a page of one arm
RACE="$MODEL; $SHORT; race none,t5,rotary; train 20; prompt sort 3 1"
"$PEWTER" --session maps -c "$RACE; arm 2; export figure m.svg pane=attention arms=all; show prompt; train 5
    export figure k.svg pane=encoding page=kernel arms=3,2; export figure d.svg pane=encoding page=decay arms=all
    export figure f.svg pane=lengths arms=2,3; export figure p.svg pane=attention page=map arms=1,3; digest" >out 2>err ||
    fail "$(cat err)"
has m.svg '>1 none<' '>2 t5 8/16<' '>3 rotary<' 'arms 1 none, 2 t5 8/16, 3 rotary at step 20.'
has p.svg '>1 none<' '>3 rotary<' 'arms 1 none, 3 rotary at step 25.'
hasnt p.svg '>2 t5'
has k.svg '>2 t5 8/16<' '>3 rotary<' '>head 1<'
has d.svg 'Left out, because they lack the data: 1 none, 2 t5 8/16.'
has f.svg '>2 t5 8/16 ' '>3 rotary '
hasnt f.svg '>1 none'
grep -q '^arm 2  step 20' out || fail "the figure changed the arm that answers: $(grep '^arm' out)"
# Each map belongs to its arm, whichever arm is chosen. Drawing must not change any computed value.
"$PEWTER" -c "$RACE; arm 3; export figure m3.svg pane=attention arms=all" >out3 2>err || fail "$(cat err)"
diff <(images m.svg) <(images m3.svg) >/dev/null || fail "maps depend on the arm that is chosen"
[ "$(images m.svg | sort -u | wc -l)" = 4 ] || fail "not three maps and a bar"
"$PEWTER" -c "$RACE; arm 2; train 5; digest" >plain 2>err || fail "$(cat err)"
[ "$(grep digest out)" = "$(grep digest plain)" ] || fail "drawing changes what is trained"
# The re-run is equal, and the replay draws the same figure.
"$PEWTER" replay maps --verify >out 2>err || fail "verify: $(cat out err)"
"$PEWTER" replay maps -c 'export figure rp.svg pane=attention page=map arms=1,3' >out 2>err || fail "$(cat err)"
cmp -s p.svg rp.svg || fail "the recording draws another picture"

complains "arm 1 none has no attention on a pinned prompt" 'train 2; export figure x.svg pane=attention arms=1'
complains 'arms=1,4: there is no arm 4' "$RACE; export figure x.svg pane=attention arms=1,4"
complains 'arms=1-3: allowed are numbers 1..8 separated by commas' "$RACE; export figure x.svg pane=attention arms=1-3"
complains 'attention heads takes no arms=' "$RACE; export figure x.svg pane=attention page=heads arms=1,2"
complains 'arm=1 and arms=2: only one of the two' "$RACE; export figure x.svg pane=attention arm=1 arms=2"
complains 'arm 1 none has nothing that rotates' "$RACE; export figure x.svg pane=encoding page=decay arms=1,3"
complains 'no L3H0' "$RACE; export figure x.svg pane=attention arms=1,2 layer=3"

# ---- on the screen, also during training; a page that can't draw several arms is replaced
shell 100x30
workbench
wait_for 'sort'
command_line "$MODEL"
command_line "$SHORT"
command_line "race none,t5"
command_line 'train 20'
wait_for 'idle 20'
command_line 'eval samples=16'
keys 2
wait_for 'of 16 exact'
keys v
wait_for 'errors 2/4'
command_line "export figure $WORK/s1.svg sessions=monday"
wait_for "wrote $WORK/s1.svg"
has s1.svg '<title>Exact match by length' '>2 t5 8/16' '>monday: t5 8/16'
command_line 'prompt sort 3 1'
command_line 'train'
command_line "export figure $WORK/s2.svg pane=attention arms=all"
wait_for "wrote $WORK/s2.svg"
has s2.svg '>1 none<' '>2 t5 8/16<'
command_line 'stop'
