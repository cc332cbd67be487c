#!/usr/bin/env bash
# program_kill.sh - kills the program while it trains, several times in one session. Its final state, evaluation and
# answers must equal those of an uninterrupted run. The recorded session must re-run bit for bit.
#
# usage: program_kill.sh PEWTER [SESSIONS]
set -eu
pewter=$1 sessions=${2:-3}
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; rm -rf "$dir"' EXIT

script="task copy lengths=1..3 alphabet=4 test=4..5; model tiny width=16 heads=2; pe none; train 2000"
after="eval samples=4; prompt copy 1 2 0; digest"

fail() {
    printf 'violation: session %s: %s\n' "$i" "$*"
    cat "$dir/out" "$dir/err"
    exit 1
}

results() { # FILE: its results, from the evaluation on
    sed -n '/exact match/,$p' "$1"
}

# start COMMANDS: starts the program. The shell's message about the killed job is suppressed.
start() {
    "$pewter" --threads 1 --session "$dir/s.pewter" -c "$1" >"$dir/out" 2>"$dir/err" &
    pid=$!
    disown
}

# Whether the last command of the script has begun and is recorded. (A command that was queued and had not begun when
# the process ended is not recorded.)
is_begun() {
    "$pewter" replay "$dir/s.pewter" --json 2>/dev/null | grep '"kind":"command"' | grep -q 'train 2000'
}

i=0
"$pewter" --threads 2 -c "$script; $after" >"$dir/whole" 2>/dev/null
grep -q digest "$dir/whole" || fail "nothing to compare with"
kills=0
for ((i = 1; i <= sessions; i++)); do
    rm -rf "$dir/s.pewter"
    start "$script"
    for ((patience = 600; patience > 0; patience--)); do
        ! is_begun || break
        sleep 0.05
    done
    for ((life = 0; life < 1 + i % 3; life++)); do
        sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
        kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
        while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
        start "digest"
    done
    kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
    while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
    pid=
    "$pewter" --threads 2 --session "$dir/s.pewter" -c "$after" >"$dir/out" 2>"$dir/err" || fail "it cannot be continued"
    [ "$(results "$dir/out")" = "$(results "$dir/whole")" ] || fail "other results"
    "$pewter" replay "$dir/s.pewter" --verify >"$dir/out" 2>"$dir/err" || fail "the re-run fails"
    grep -q '^equal: ' "$dir/out" || fail "it is not equal"
done
printf 'kill -9 of the program: %d kills in %d sessions, all continued to the same bits and verified: 0 violations\n' \
    "$kills" "$sessions"
