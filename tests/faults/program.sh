#!/usr/bin/env bash
# program.sh - runs the program with failing allocations: one call fails, or all calls from some call on. Every run must
# end with the expected output, or with status 1 and one line that reports the lack of memory. No run may end by a
# signal.
#
# usage: program.sh PEWTER SHIM    PEWTER_FAULTS=N tries N places instead of 36 (all: every one)
set -eu
pewter=$1 shim=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ln -s "$(realpath "$shim")" "$dir/shim.so" # LD_PRELOAD can't hold a path with a blank
shim=$dir/shim.so

script="task copy lengths=1..3 alphabet=4 test=4..5; model tiny width=16 heads=2; train 2; eval samples=3
race none,t5 seeds=2; prompt copy 1 2 0; train 2; inspect head=1 view=bias; fork rotary; pe alibi; runs; set threads 1; eval samples=2
export weights $dir/w.safetensors moments=on; import weights $dir/w.safetensors; export curves $dir/c.csv
export lengths $dir/l.jsonl; prompt copy 2 2; export attention $dir/a.npz; export batch $dir/b.npz; export table $dir/t.json
task sort; train 1; digest"

run() { # [NAME=VALUE...]: runs the program with these variables
    local status=0
    env "$@" PEWTER_FAIL_COUNT="$dir/count" LD_PRELOAD="$shim" "$pewter" --threads 2 -c "$script" \
        >"$dir/out" 2>"$dir/err" || status=$?
    echo "$status"
}

fail() {
    printf '%s\n' "$*"
    cat "$dir/err"
    exit 1
}

# The number of calls varies a little between runs, as threads wait for one another.
[ "$(run x=y)" = 0 ] || fail "fails with memory, too"
cp "$dir/out" "$dir/whole"
calls=$(cat "$dir/count")
[ "$calls" -gt 1000 ] || fail "only $calls calls were seen"

places=${PEWTER_FAULTS:-36}
[ "$places" = all ] && places=$calls
ended=0
for ((i = 0; i < places; i++)); do
    at=$((1 + i * (calls - 1) / places + (i * 7919) % (calls / places)))
    kind=x=y
    [ $((i % 3)) = 2 ] && kind=PEWTER_FAIL_ON=1
    status=$(run PEWTER_FAIL_AT=$at "$kind")
    case $status in
    0) cmp -s "$dir/out" "$dir/whole" || fail "call $at ($kind) of $calls: other results, and no error was reported" ;;
    1) # glibc reports a thread that lacks memory as 'temporarily unavailable'
        ended=$((ended + 1))
        grep -qiE 'memory|temporarily unavailable' "$dir/err" || fail "call $at ($kind) of $calls: the message does not name memory"
        [ "$(wc -l <"$dir/err")" = 1 ] || fail "call $at ($kind) of $calls: not one line"
        ;;
    *) fail "call $at ($kind) of $calls: status $status" ;;
    esac
done
[ "$ended" -gt $((places / 2)) ] || fail "only $ended of $places failures were noticed"
