#!/usr/bin/env bash
# bits.sh - the program trains to the same digest on every instruction set that this processor supports and with any
# number of threads. They are selected at the start or during training. (Compilers and other processors: bench/bits.sh.)
set -u
PEWTER=$(realpath "$1")
begin='task copy lengths=1..3; optim batch=9; race t5,rotary,learned'
script="$begin; train 6"
want=''
failed=0

compare() { # compare WHAT OUTPUT: checks that the digests in OUTPUT equal those of the first call
    local got
    got=$(grep -oE '[0-9a-f]{32}' <<<"$2" | xargs)
    want=${want:-$got}
    if [ "$(wc -w <<<"$got")" != 3 ] || [ "$got" != "$want" ]; then
        echo "FAILED: $1: digests ${got:-none}, not $want"
        echo "$2"
        failed=1
    fi
}

compare 'the best, 1 thread' "$("$PEWTER" --threads 1 -c "$script; digest" 2>&1)"
for isa in scalar avx2 avx512; do
    if ! out=$("$PEWTER" -c "set isa $isa" 2>&1); then
        # It must be refused, and the message must name the allowed values.
        grep -q "isa=$isa: this processor and build allow auto|scalar" <<<"$out" || {
            echo "FAILED: set isa $isa says: $out"
            failed=1
        }
        continue
    fi
    for threads in 2 3; do
        out=$("$PEWTER" --threads "$threads" -c "set isa $isa; $script; digest" 2>&1)
        compare "set isa $isa, $threads threads" "$out"
    done
    compare "PEWTER_ISA=$isa" "$(PEWTER_ISA=$isa "$PEWTER" --threads 2 -c "$script; digest" 2>&1)"
    compare "to $isa on the way" "$("$PEWTER" --threads 2 -c "$begin; train 4; \
        set isa $isa; train 2; digest" 2>&1)"
done
exit $failed
