#!/usr/bin/env bash
# theorems.sh - the two proofs, by one command each: numbers, verdicts, a figure. A session with one re-runs to the same
# bits, and every invalid option gives one line.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-theorems-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK
cd "$WORK" || exit 1

fail() {
    echo "FAILED: $*"
    exit 1
}
complains() { # complains MESSAGE COMMANDS: must print one line and end with status 1
    "$PEWTER" -c "$2" >out 2>err && fail "worked: $2"
    { [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err; } || fail "$2 said: $(cat err)"
}

"$PEWTER" -c 'reproduce theorem1 T=32 figure=one.svg' >out 2>err || fail "theorem1: $(cat err)"
[ "$(grep -c '^ reproduced: ' out)" = 5 ] || fail "theorem1 says: $(tail -20 out)"
for row in 't=32 *32 *32' 't=40 *38.2 *38.2' 't=64 *47.5 *47.5' 't=128 *55.25 *55.25'; do
    grep -qE "^ *$row$" out || fail "not in the table: $row"
done
grep -q 'construct theorem1 T=32' <(tr '\n' ' ' <one.svg) || fail "the figure doesn't say how it was made"

"$PEWTER" -c 'task reverse; reproduce theorem2 figure=off; prompt reverse 3 1 2; probe theorem2' >out 2>err ||
    fail "theorem2: $(cat err)"
[ "$(grep -c '^ reproduced: ' out)" = 4 ] || fail "theorem2 says: $(tail -20 out)"
grep -q '^  1 reverse *1 *-1 *1 *1$' out || fail "not the prompt's first token: $(head -20 out)"

"$PEWTER" --session proof -c 'construct theorem1 T=8; prompt sort 3 1 2; probe theorem1; train 5; probe theorem1
    export weights w.safetensors; import weights w.safetensors; digest' >out 2>err || fail "session: $(cat err)"
grep -q 'no longer the construction (after 5 steps of training)' out || fail "it has not moved: $(tail -20 out)"
"$PEWTER" replay proof --verify >out 2>err || fail "verify: $(cat out err)"
grep -q '^equal: ' out || fail "verify: $(cat out)"

complains 'T=0: allowed are 1..2048' 'reproduce theorem1 T=0'
complains 'context=32: must be at least T=64' 'construct theorem1 context=32'
complains "arm 1 isn't the construction of a proof: create one with 'construct theorem1'" 'probe theorem1'
complains "no 'theorem'; there are theorem1 and theorem2" 'construct theorem'
echo "two theorems"
