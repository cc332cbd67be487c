#!/usr/bin/env bash
# null_races.sh - measures how often `paired` reports one of two equal arms as best. An encoding races against
# itself with other initial values, so every "best" is an error. Prints the rate, and the rate of a test over
# samples.
#
# usage: bench/null_races.sh [--races N] [--seeds K] [--steps N] [--first SEED] [PEWTER]
#   --races    default 200; race i uses seed SEED + 1000 i for batches and the first arm, 500 more for the second
#   --seeds    seeds of each arm; default 6
#   --steps    training steps; default 300, where copying is half learned and seeds differ most
#   --first    SEED; default 1
#   PEWTER     the program; default build/release/pewter
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
races=200 seeds=6 steps=300 first=1
program=$root/build/release/pewter

die() {
    printf '%s\n' "null_races.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --races | --seeds | --steps | --first)
        [ $# -ge 2 ] || die "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) die "no option $1; there are --races, --seeds, --steps, --first" ;;
    *)
        program=$1
        shift
        ;;
    esac
done
[ -x "$program" ] || die "there is no $program; ./dev build makes it"

best=0 networks=0 pairs=0 done=0 began=$SECONDS

report() {
    [ "$done" -gt 0 ] || exit 1
    awk -v best="$best" -v races="$done" -v networks="$networks" -v pairs="$pairs" -v seeds="$seeds" \
        -v steps="$steps" -v s="$((SECONDS - began))" 'BEGIN {
        p = best / races; z = 1.96; d = 1 + z * z / races # Wilson, the interval of a share
        mid = (p + z * z / (2 * races)) / d
        half = z * sqrt(p * (1 - p) / races + z * z / (4 * races * races)) / d
        printf "%d races of none against none, %d seeds each, %d steps, %d s\n", races, seeds, steps, s
        printf "called best: %d, %.1f %% (95 %%: %.1f to %.1f)\n", best, 100 * p, 100 * (mid - half), 100 * (mid + half)
        printf "pairs of networks that differ by McNemar at 0.05: %d of %d, %.0f %%\n", networks, pairs, 100 * networks / pairs
    }'
}
trap 'report; exit 130' INT TERM # on interruption, reports the races so far

for ((i = 0; i < races; i++)); do
    seed=$((first + 1000 * i))
    said=$("$program" -c "seed $seed; task copy variant=rsc lengths=2..10 test=11..20; model tiny; race none,none seeds=$seeds; seed $((seed + 500)) arm=2; train $steps; eval samples=128; paired") ||
        die "race $i failed"
    grep -qE '^(best: |no arm is called best)' <<<"$said" || die "race $i has no verdict"
    ! grep -q '^best: ' <<<"$said" || best=$((best + 1))
    read -r differ of < <(sed -nE 's/^ +1 none : 2 none .* ([0-9]+) of ([0-9]+)$/\1 \2/p' <<<"$said")
    networks=$((networks + differ)) pairs=$((pairs + of)) done=$((done + 1))
done
report
