#!/usr/bin/env bash
# train.sh - the program trains on the emulated device. Mode ref has the cpu's digests. Mode fast has nearly its loss,
# and the same bits in any order of threads, eagerly or deferred. Swaps, prompts, tests and inspection work. Models move
# from the cpu and back with all their bits.
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-train-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state
tiny='task copy lengths=1..3; model layers=1 width=16 heads=2 ffn=24; optim batch=5'
short="$tiny; race t5,rotary; train 2; pe ldpe arm=2; train 1; digest"
whole="$tiny; race t5,rotary,learned; train 3; pe alibi; pe ldpe arm=2; pe aspe arm=3; train 1; prompt copy 1 2; inspect layer=0 head=1; ablate 0.1"
whole="$whole; eval lengths=1..2 samples=2; restore; train 1; digest"

fail() {
    echo "FAILED: $*"
    exit 1
}

digests() { # digests COMMANDS: prints the digests
    local said
    said=$("$PEWTER" -c "$1" 2>&1) || fail "$1: $said"
    grep -oE 'digest [0-9a-f]{32}' <<<"$said" | xargs
}

cpu=$(digests "$whole")
[ "$(wc -w <<<"$cpu")" -eq 6 ] || fail "three digests, not: $cpu"
[ "$(PEWTER_EMU=deferred,order=shuffle:5 digests "backend cuda mode=ref; $whole")" = "$cpu" ] || fail "ref has other bits"
norms='model layers=2 width=12 heads=3 norm=layernorm norm_at=both act=gelu bias=on tied=off dropout=0.2; optim batch=3'
[ "$(digests "$norms; train 2; digest")" = "$(digests "backend cuda mode=ref; $norms; train 2; digest")" ] ||
    fail "ref has other bits with LayerNorm, GELU, biases and dropout"

# Learned formulas: by distance, of a layer and dense with a mask, and a network; rotations by keys and by length.
for formula in 'a = learn(1) per head; bias = -softplus(a) * log1p(d)' \
    'a = learn(0.3) per head; T = learn(normal(0.2), 9) per layer; bias = T(i * 0.3) * tanh(a * j) + a * T[d]; mask = d < 5' \
    'angle = (i + key) * 100 ** (-2 * p / D); gain = 0.9 ** ((key ? -1 : 1) * i * (p + 1)); pairing = interleaved' \
    'angle = (i + 3 * key) / n * (p + 1) + l; bias = -d / (h + 1); scale = 1 + i / 50 + h; embed = sin(i + c)' \
    'w = learn(normal(1)) per channel; r = learn(1) per pair; t = learn(0.5) per head, layer; embed = w * cos(i / 5); angle = r * i / (p + 1); t0 = learn(0.1) per layer; gain = 1 + t0 * p; scale = t * log(n + 2)' \
    'rotary_dim = 2; r = learn(1) per pair; angle = r * i / (p + 2); gain = 1 + r / 9' \
    'a = learn(0.1); bias = mlp(log1p(abs(a) * d) / log1p(abs(a) * max(i, 4)), hidden=5)'; do
    learned="$tiny; pe expr '$formula'; train 3; eval lengths=1..9 samples=1; train 2; digest"
    [ "$(PEWTER_EMU=deferred,order=shuffle:5 digests "backend cuda mode=ref; $learned")" = "$(digests "$learned")" ] ||
        fail "ref has other bits with the formula $formula"
done

# The printed text is the same, too.
for pe in t5 fire; do
    for where in cpu 'cuda mode=ref'; do
        "$PEWTER" -c "backend $where; $tiny; pe $pe; train 2; prompt copy 2 1 3; eval lengths=1..2 samples=2; runs; table" |
            grep -v '^\(cpu\|cuda\): ' >"$WORK/${where%% *}.txt" || fail "$where"
    done
    diff "$WORK/cpu.txt" "$WORK/cuda.txt" || fail "ref prints something else of $pe"
done
# The events are equal to the last digit, with a device that is as late as possible. Between the steps the bias of fire
# is laid out for more positions than the steps have.
told='train 9; prompt copy 2 1 3; inspect layer=0 head=1; eval lengths=1..6 samples=9; train 3; eval lengths=1..40 samples=1; train 9'
for pe in t5 fire; do
    for where in cpu 'cuda mode=ref'; do
        PEWTER_EMU=deferred "$PEWTER" --json -c "backend $where; $tiny; pe $pe; $told" |
            grep -E '"kind":"(step|prompt|token|attention|look|eval)"' |
            sed -E 's/^\{"seq":[0-9]+,"time":[0-9.]+//' >"$WORK/${where%% *}.json" || fail "$where"
    done
    [ "$(grep -c '"kind":"\(eval\|look\|attention\)"' "$WORK/cpu.json")" -ge 3 ] || fail "too few events: $(cat "$WORK/cpu.json")"
    grep -q '"tokens_right":[1-9]' "$WORK/cpu.json" || fail "too few tokens are right to be compared"
    diff "$WORK/cpu.json" "$WORK/cuda.json" || fail "ref gives other events with $pe"
done

loss() { # loss COMMANDS: prints the loss of both arms' last steps
    "$PEWTER" --json -c "$1" | grep '"kind":"step"' | tail -n 2 | grep -oE '"loss":[0-9.]+' | cut -d: -f2 | xargs
}
want=$(loss "$short")
for precision in fp32 tf32 bf16; do
    got=$(loss "backend cuda precision=$precision; $short")
    awk -v want="$want" -v got="$got" -v limit="$(case $precision in fp32) echo 1e-5 ;; *) echo 1e-2 ;; esac)" '
        BEGIN { split(want, a); n = split(got, b); d1 = (a[1] - b[1]) / a[1]; d2 = (a[2] - b[2]) / a[2]
            exit !(n == 2 && d1 * d1 <= limit * limit && d2 * d2 <= limit * limit) }' ||
        fail "fast $precision: losses $got, the cpu's are $want"
done
fast=$(digests "backend cuda precision=bf16; $short")
for how in deferred order=reverse deferred,order=shuffle:5; do
    [ "$(PEWTER_EMU=$how digests "backend cuda precision=bf16; $short")" = "$fast" ] || fail "fast has other bits: $how"
done
echo "trained on the emulated device"
