#!/usr/bin/env bash
# study_kill.sh - kills a study of the demo's five encodings ten times at random moments: its runner, a process that
# trains, or all. It must end in the report of a study that was not interrupted, but for the cost, and with the same
# number of operations: nothing is lost, nothing is computed twice.
#
# usage: study_kill.sh PEWTER [SEEDS] [SEED OF THE MOMENTS]
set -eu
pewter=$1 seeds=${2:-10}
RANDOM=${3:-1}
dir=$(mktemp -d)
mkdir "$dir/whole" "$dir/killed"
export XDG_STATE_HOME=$dir
trap 'pkill -9 -f "$dir/" || :; rm -rf "$dir"' EXIT
text="race none,t5,alibi,rotary,sinusoidal; task sort; seeds $seeds"
cells=$((5 * seeds))

fail() {
    printf 'violation: %s\n' "$*"
    exit 1
}

report() { # STUDY
    "$pewter" study report "$1" | grep -v '^cost: ' | sed "s|$1|STUDY|g"
}

"$pewter" study new "$dir/whole/s" "$text" >"$dir/out"
SECONDS=0
"$pewter" study run "$dir/whole/s" >"$dir/out" 2>&1 || fail "run: $(cat "$dir/out")"
whole=$SECONDS

"$pewter" study new "$dir/killed/s" "$text" >"$dir/out"
SECONDS=0
for kill in 1 2 3 4 5 6 7 8 9 10; do
    "$pewter" study run "$dir/killed/s" >"$dir/out" 2>&1 &
    sleep "$((RANDOM % (whole / 6 + 1))).$((RANDOM % 10))"
    case $((kill % 3)) in
    0) pkill -9 -f "study run $dir/killed/s" || : ;;
    1) pkill -9 -f "$dir/killed/s/cells/.* --json" || : ;;
    2) pkill -9 -f "$dir/killed/s" || : ;;
    esac
    pkill -9 -f "study run $dir/killed/s" || :
    wait
    "$pewter" study status "$dir/killed/s" | sed -n "1s/^/kill $kill: /p"
done 2>/dev/null
# a process of a killed runner ends in order, and its cell runs elsewhere until then
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$pewter" study run "$dir/killed/s" >"$dir/out" 2>&1 || :
    "$pewter" study status "$dir/killed/s" >"$dir/status"
    ! grep -q "^$cells of at most $cells runs done" "$dir/status" || break
    sleep 1
done
grep -q "^$cells of at most $cells runs done, 0 running, 0 failed" "$dir/status" || fail "$(cat "$dir/status")"
report "$dir/whole/s" >"$dir/whole.txt"
report "$dir/killed/s" >"$dir/killed.txt"
diff "$dir/whole.txt" "$dir/killed.txt" || fail "the reports differ"
operations() { # STUDY
    "$pewter" study status "$1" | sed -n '1s/.*; \(.* operations\), .*/\1/p'
}
[ "$(operations "$dir/whole/s")" = "$(operations "$dir/killed/s")" ] || fail 'other operations'
echo "$cells runs: $whole s; with ten kills $SECONDS s; the same report"
