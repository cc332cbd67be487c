#!/usr/bin/env bash
# The program killed while it trains, several times in one session: what it is in the end, how it evaluates and
# answers are those of a run that nobody interrupted, and the recording can be done again bit by bit.
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

results() { # of a run, from the evaluation on
    sed -n '/exact match/,$p' "$1"
}

# Starts it with these commands; what the shell says of its end is nobody's business.
start() {
    "$pewter" --threads 1 --session "$dir/s.pewter" -c "$1" >"$dir/out" 2>"$dir/err" &
    pid=$!
    disown
}

# The last command of the script has begun, and that is on record. (One that was asked for and hasn't, when the process
# ends, is one that nobody has given.)
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
    "$pewter" --threads 2 --session "$dir/s.pewter" -c "$after" >"$dir/out" 2>"$dir/err" || fail "it can't be gone on with"
    [ "$(results "$dir/out")" = "$(results "$dir/whole")" ] || fail "other results"
    "$pewter" replay "$dir/s.pewter" --verify >"$dir/out" 2>"$dir/err" || fail "it can't be done again"
    grep -q '^equal: ' "$dir/out" || fail "it is not equal"
done
printf 'kill -9 of the program: %d kills in %d sessions, all gone on with to the same bits and verified: 0 violations\n' \
    "$kills" "$sessions"
