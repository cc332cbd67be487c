#!/usr/bin/env bash
# smoke.sh - checks that the benchmark programs follow bench.py's protocol, and that their numbers are
# consistent.
# usage: smoke.sh BENCH_TRAIN BENCH_PEAK BENCH_SERVE PEWTER BENCH_REPLAY BENCH_DECIDE BENCH_SEQUENTIAL
set -eu
train=$1 peak=$2 serve=$3 pewter=$4 replay=$5 decide=$6 sequential=$7 study=$8

fail() {
    printf '%s\n' "$*"
    exit 1
}

"$peak" 1 | grep -qE '^\{"kernel": "[a-z0-9]+", "gflops": [1-9][0-9.]*\}$' || fail "peak prints no rate"

out=$(printf 'run 0\nprofile 0\n' | "$train" layers=1 width=32 heads=4 positions=12 batch=4 vocab=16 'pe=t5(buckets=8,distance=16)')
[ "$(wc -l <<<"$out")" -eq 3 ] || fail "three lines were due: $out"
# 2 tables of 16x32, 12 matrices of 32x32 in the blocks, 3 norms of 32, 8 buckets for 4 heads.
sed -n 1p <<<"$out" | grep -q '"parameters": 13440}' || fail "not the parameters of this shape: $out"
sed -n 2p <<<"$out" | grep -qE '^\{"ms": \[[0-9.]+\], "loss": [0-9.]+\}$' || fail "one step, one time: $out"

# At least one chunk, with every operation that this model needs.
for op in for_chunks prepare reduce adamw embed_fwd embed_bwd norm_fwd norm_bwd linear_fwd linear_dx linear_dw \
    attention_fwd attention_bwd cross_entropy; do
    sed -n 3p <<<"$out" | grep -qE "\"$op\": \{\"calls\": [1-9]" || fail "the profile doesn't know $op: $out"
done

# Same model, same batch, same steps: timing must not change a bit of the loss.
[ "$(sed -n 2p <<<"$out" | grep -o '"loss": [0-9.]*')" = "$(sed -n 3p <<<"$out" | grep -o '"loss": [0-9.]*')" ] ||
    fail "the timed model computes something else: $out"

out=$(printf 'decode 0\ninspect 0\n' | "$train" layers=1 width=32 heads=4 positions=12 batch=4 vocab=16 | tail -n 2)
[ "$(grep -cE '^\{"ms": \[[0-9.]+\]\}$' <<<"$out")" -eq 2 ] || fail "one sequence each, one time each: $out"

# bf16, if the processor has a matrix unit; otherwise an error of one line.
if out=$("$peak" 1 bf16 2>&1); then
    out=$(printf 'run 0\nprofile 0\n' | "$train" layers=1 width=32 heads=4 positions=12 batch=4 vocab=16 precision=bf16)
    sed -n 1p <<<"$out" | grep -q 'amx bf16' || fail "not in bf16: $out"
    [ "$(grep -o '"loss": [0-9.]*' <<<"$out" | uniq | wc -l)" -eq 1 ] || fail "timed in bf16 it computes something else: $out"
else
    out=$("$train" precision=bf16 </dev/null 2>&1) && fail "took bf16, which peak doesn't find: $out"
    grep -q 'bf16 matrix units' <<<"$out" || fail "bf16 is refused without a reason: $out"
fi

# Four kinds of command and the frames, each answered during training.
out=$("$serve" sends=2 wait=10 demo 2>/dev/null)
[ "$(grep -cE '^\| demo \| (say|prompt|inspect|pause) \| 2 \|( [0-9.]+ \|){3}$' <<<"$out")" -eq 4 ] || fail "four rows were due: $out"
grep -qE "^\| demo \| a frame's wake-up \| [1-9]" <<<"$out" || fail "no frames: $out"

# A session: written, opened, sought through and drawn.
out=$("$replay" steps=2000 arms=2 seeks=5 2>/dev/null)
[ "$(grep -cE '^\| (opening|a moment|a moment and its frame|all of the curves) \| [1-9][0-9]* \|( [0-9.]+ \|){3}$' <<<"$out")" -eq 4 ] ||
    fail "four rows were due: $out"

# The decision rules by simulation: two equal arms with six seeds each rarely differ.
out=$("$decide" 40)
grep -qE '^\| 2 \| 6 \| other seeds \| ([0-9]|1[0-9])\.[0-9] \|' <<<"$out" || fail "no error rate of two arms: $out"
[ "$(grep -cE '^\|( [0-9]+ \|){2} (shared|other seeds) \|( [0-9.]+ \|){4}$' <<<"$out")" -eq 24 ] || fail "24 rows were due: $out"

# Studies that stop once they are decided: 12 rows of errors, 24 of power, 20 of coverage. Two arms that differ by 30
# points are always decided, with few seeds.
out=$("$sequential" 20)
[ "$(grep -cE '^\|( [0-9]+ \|){2} 3 to [24]0 \| (half shared|own) \|( [0-9.]+ \|){4}$' <<<"$out")" -eq 12 ] ||
    fail "12 rows of errors were due: $out"
[ "$(grep -cE '^\|( [0-9]+ \|){3} (half shared|own) \|( [0-9.]+ \|){5}$' <<<"$out")" -eq 24 ] ||
    fail "24 rows of power were due: $out"
[ "$(grep -cE '^\| [a-z -]+ \|( [-+0-9.]+ \|){14}$' <<<"$out")" -eq 20 ] || fail "20 rows of coverage were due: $out"
grep -qE '^\| 2 \| 30 \| 7 \| half shared \| 100\.0 \| 6\.[0-9] \|' <<<"$out" || fail "30 points are not found: $out"

# The cost of studies: a cell, and many cells.
out=$("$study" "$pewter" cells=10 lengths=4 steps=5)
[ "$(grep -cE '^\| .* \| -?[0-9]+\.[0-9]{2,3} \| (s|%) \|$' <<<"$out")" -eq 6 ] || fail "six rows were due: $out"

# The cost of the screen: an idle workbench sends no bytes.
if command -v python3 >/dev/null; then
    out=$(python3 "$(dirname "$0")/screen.py" --program "$pewter" --only idle --seconds 0.3 2>/dev/null)
    grep -q '^| idle for 0.3 s: sent | 0 bytes | 0 bytes |$' <<<"$out" || fail "an idle screen sends: $out"
fi

if "$train" width=nonsense </dev/null 2>/dev/null; then fail "took a width that is no number"; fi
