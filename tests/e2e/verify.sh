#!/usr/bin/env bash
# verify.sh - a recorded session has the same bits on every instruction set that this processor supports, with 1, 2 and
# 8 threads. (Compilers and other processors: bench/bits.sh.)
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-verify-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK

fail() {
    echo "FAILED: $*"
    exit 1
}

# Past step 100, where digests are emitted automatically. Each step of scalar kernels costs as much as ten of the
# others.
"$PEWTER" --session it -c 'seed 1; task copy lengths=1..3 alphabet=5; model tiny layers=1 width=16 heads=2
    optim batch=2; race NoPE,t5 seeds=2; train 60; prompt copy 0 1; eval lengths=2..3 samples=4
    checkpoint before the swap; pe rope; train 45; prompt copy 2 1 3; eval lengths=2..3 samples=4
    probe dispersion samples=2; probe buckets; digest' >"$WORK/said" 2>&1 || fail "not recorded: $(cat "$WORK/said")"

"$PEWTER" replay it --plain >"$WORK/said"
for typed in 'race NoPE,t5 seeds=2' 'pe rope'; do # aliases stay as typed
    grep -q "$typed" "$WORK/said" || fail "'$typed' is not on record: $(cat "$WORK/said")"
done

verdicts=0
for isa in scalar avx2 avx512; do
    PEWTER_ISA=$isa "$PEWTER" -c 'digest' >/dev/null 2>&1 || continue # refused in one line: e2e.bits checks that
    for threads in 1 2 8; do
        PEWTER_ISA=$isa "$PEWTER" --threads $threads replay it --verify >"$WORK/said" 2>&1 ||
            fail "$isa, $threads threads: status $?: $(cat "$WORK/said")"
        grep -q "now: .* $threads threads\?, $isa, class portable" "$WORK/said" ||
            fail "not on $isa with $threads threads: $(cat "$WORK/said")"
        grep -qE '^equal: .* 420 steps, [1-9][0-9]* digests, 8 evaluations, .* and 9 models of checkpoints' "$WORK/said" ||
            fail "$isa, $threads threads: not all of it: $(cat "$WORK/said")"
        verdicts=$((verdicts + 1))
    done
done
# Two checkpoints of the same moment: the end of one session and the beginning of its copy. Then a command that changes
# a model.
"$PEWTER" --session still -c 'mark here' >"$WORK/said" 2>&1 || fail "not recorded: $(cat "$WORK/said")"
"$PEWTER" replay still --from 0 -c 'optim lr=0.02; train 2' >"$WORK/said" 2>&1 || fail "no copy: $(cat "$WORK/said")"
copy=$(find "$WORK/pewter/sessions" -name '*.pewter' ! -name it.pewter ! -name still.pewter)
"$PEWTER" replay "$copy" --verify >"$WORK/said" 2>&1 || fail "the copy, status $?: $(cat "$WORK/said")"

# Encodings that read the tokens, swapped within one session that is closed and continued between two of them.
reads='' half=''
for pe in fox inkling inkling_formula grape stickbreaking stickbreaking_formula cope cope_formula selective pope grape_turn path wall; do
    reads="$reads; pe $pe; train 4; prompt flipflop w 1 i 0 w 0 i 1 r; probe permutation; digest"
    [ $pe != grape ] || half=$reads reads=''
done
"$PEWTER" --session reads -c "seed 1; task flipflop; model tiny layers=1 width=16 heads=2; optim batch=2 $half" \
    >"$WORK/said" 2>&1 || fail "not recorded: $(cat "$WORK/said")"
"$PEWTER" --session reads -c "train 1 $reads; fork; train 2; probe decay; inspect head=1" >"$WORK/said" 2>&1 ||
    fail "not continued: $(cat "$WORK/said")"
PEWTER_ISA=scalar "$PEWTER" --threads 3 replay reads --verify >"$WORK/said" 2>&1 ||
    fail "encodings that read tokens, status $?: $(cat "$WORK/said")"
grep -qE '^equal: .* 57 steps, [1-9][0-9]* digests' "$WORK/said" || fail "not all of it: $(cat "$WORK/said")"

[ $verdicts -ge 3 ] || fail "no instruction set is there"
echo "equal $verdicts times"
