#!/usr/bin/env bash
# replica.sh - tests the inspection of another replica: keys, titles, files and figures. The session records the
# choice, re-runs it to the bit, and continues with it.
. "$(dirname "$0")/lib.sh"

shell 120x36
workbench --session rr
wait_for 'sort'
command_line 'model tiny width=16 layers=2 heads=2; optim batch=4; race none,t5 seeds=3; train 30; prompt sort 3 1 2'
wait_for 'idle 30'
keys 3
wait_for '3 Attention .*1 none(, replica 1 of | r1/)3'
keys ')'
wait_for 'replica 2 of 3 ' # the line above all panes
wait_for '3 Attention .*1 none(, replica 2 of | r2/)3'
wait_for '6 Prompt .*1 none(, replica 2 of | r2/)3'
keys '>' # the second replica of the other arm
wait_for '6 Prompt .*2 t5 8/16(, replica 2 of | r2/)3'
keys 5
keys Enter
wait_for '5 Encoding .*2 t5 8/16(, replica 2 of | r2/)3'
keys '('
wait_for '5 Encoding .*2 t5 8/16(, replica 1 of | r1/)3'
keys ')'
wait_for '5 Encoding .*2 t5 8/16(, replica 2 of | r2/)3'
command_line 'inspect replica=4'
wait_for 'inspect: replica=4: arm 2 has replicas 1..3'
command_line 'train 20'
wait_for 'idle 50'
command_line "export figure $WORK/a.svg pane=attention"
until_true 'the figure' test -s "$WORK/a.svg"
grep -q 'replica 2 of 3' "$WORK/a.svg" || fail "the caption doesn't say which replica: $(grep -o 'Arm [^<]*' "$WORK/a.svg")"
keys Q
wait_for 'status=0'

# ---- re-run, replayed, resumed
"$PEWTER" replay rr --verify >"$WORK/said" 2>&1 || fail "not equal: $(cat "$WORK/said")"
grep -q '^equal: ' "$WORK/said" || fail "no verdict: $(cat "$WORK/said")"
"$PEWTER" replay rr -c 'show prompt' >"$WORK/said" 2>&1
grep -q '^arm 2, replica 2 of 3  step 50' "$WORK/said" || fail "the recording shows another one: $(cat "$WORK/said")"
"$PEWTER" --session rr -c "export attention $WORK/two.npz; export attention $WORK/one.npz replica=1
    inspect replica=1; export attention $WORK/first.npz" >"$WORK/said" 2>&1 || fail "not resumed: $(cat "$WORK/said")"
cmp -s "$WORK/one.npz" "$WORK/first.npz" || fail "replica=1 is another file than the first replica's"
cmp -s "$WORK/one.npz" "$WORK/two.npz" && fail "the resumed session inspects the first replica"
"$PEWTER" replay rr --verify >"$WORK/said" 2>&1 || fail "not equal after it went on: $(cat "$WORK/said")"

# ---- without a screen: printed lines and JSON name the replica
"$PEWTER" --no-session --json -c 'model tiny width=16 layers=1 heads=2; race none seeds=2; prompt sort 2 1
    inspect replica=2' >"$WORK/said" 2>&1 || fail "not inspected: $(cat "$WORK/said")"
grep '"kind":"attention"' "$WORK/said" | tail -n 1 | grep -q '"replicate":2' || fail 'attention of no replica'
grep '"kind":"arm"' "$WORK/said" | tail -n 1 | grep -q '"inspected":2' || fail 'the arm event lacks the inspected replica'
