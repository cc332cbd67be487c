#!/usr/bin/env bash
# train.sh - the program trains on the emulated device: in mode ref to the cpu's digests, in mode fast to nearly its loss and
# to the same bits in any order of threads, eagerly or late; the encoding is swapped, prompts are answered, tests and
# inspection work; models come from the cpu and go back with all their bits.
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-train-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state
tiny='task copy lengths=1..3; model layers=1 width=16 heads=2 ffn=24; optim batch=9'
whole="$tiny; race t5,rotary,learned; train 4; pe alibi; train 2; prompt copy 1 2; inspect layer=0 head=1; ablate 0.1"
whole="$whole; eval lengths=1..3 samples=5; restore; train 2; digest"

fail() {
    echo "FAILED: $*"
    exit 1
}

digests() { # digests COMMANDS: what they come to
    local said
    said=$("$PEWTER" -c "$1" 2>&1) || fail "$1: $said"
    grep -oE 'digest [0-9a-f]{32}' <<<"$said" | xargs
}

cpu=$(digests "$whole")
[ "$(wc -w <<<"$cpu")" -eq 6 ] || fail "three digests, not: $cpu"
[ "$(digests "backend cuda mode=ref; $whole")" = "$cpu" ] || fail "ref has other bits than the cpu"
moved=$(digests "$tiny; race t5,rotary,learned; train 2; backend cuda mode=ref; train 2; pe alibi; backend cpu; train 1; \
    backend cuda mode=ref; train 1; backend cpu; train 2; digest")
[ "$moved" = "$cpu" ] || fail "moved between cpu and ref it has other bits"
norms='model layers=2 width=12 heads=3 norm=layernorm norm_at=both act=gelu bias=on tied=off dropout=0.2; optim batch=5'
[ "$(digests "$norms; train 3; digest")" = "$(digests "backend cuda mode=ref; $norms; train 3; digest")" ] ||
    fail "ref has other bits with LayerNorm, GELU, biases and dropout"

# Everything that is printed is the same, too.
for where in cpu 'cuda mode=ref'; do
    "$PEWTER" -c "backend $where; $tiny; pe t5; train 5; prompt copy 2 1 3; eval lengths=1..4 samples=4; runs; table" |
        grep -v '^\(cpu\|cuda\): ' >"$WORK/${where%% *}.txt" || fail "$where"
done
diff "$WORK/cpu.txt" "$WORK/cuda.txt" || fail "ref prints something else"

loss() { # loss COMMANDS: of the last step
    "$PEWTER" --json -c "$1" | grep '"kind":"step"' | tail -n 1 | grep -oE '"loss":[0-9.]+' | cut -d: -f2
}
want=$(loss "$whole; train 10")
for precision in fp32 tf32 bf16; do
    got=$(loss "backend cuda precision=$precision; $whole; train 10")
    limit=$(case $precision in fp32) echo 1e-4 ;; *) echo 3e-2 ;; esac)
    awk -v a="$want" -v b="$got" -v limit="$limit" 'BEGIN { d = a > b ? a - b : b - a; exit !(b > 0 && d <= limit * a) }' ||
        fail "fast $precision: loss $got, the cpu's is $want"
done
fast=$(digests "backend cuda precision=bf16; $whole; train 6; digest")
for how in deferred order=reverse deferred,order=shuffle:5; do
    export PEWTER_EMU=$how
    [ "$(digests "backend cuda precision=bf16; $whole; train 6; digest")" = "$fast" ] || fail "fast has other bits: $how"
    [ "$(digests "backend cuda mode=ref; $whole")" = "$cpu" ] || fail "ref has other bits: $how"
done
echo "trained on the emulated device"
