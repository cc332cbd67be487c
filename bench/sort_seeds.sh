#!/usr/bin/env bash
# sort_seeds.sh - the experiment behind the demo. Encodings race on sorting (or copying) short sequences, over
# several seeds. They are tested at lengths up to twice as long. Prints a Markdown table with the spread over
# seeds.
#
# usage: bench/sort_seeds.sh [--task sort|copy] [--seeds "11 12 13 14 15"] [--keep FOLDER] [PEWTER]
#   --keep     keeps each seed's commands and `export lengths` file in FOLDER
#   PEWTER     the program; default build/release/pewter
#
# A seed sets the initial weights and the data. The settings of `tiny` were tuned with the encoding none on
# seeds 0 to 4 (src/reproduce/repro.h lists the seeds used in tuning). These are not in the default list;
# don't use them.
set -eu
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
arms=(none "t5(buckets=8,distance=16)" "t5(buckets=32,distance=128)" alibi rotary sinusoidal)
task="sort"
seeds="11 12 13 14 15"
keep=
program=$root/build/release/pewter

die() {
    printf '%s\n' "sort_seeds.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --task | --seeds | --keep)
        [ $# -ge 2 ] || die "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) die "no option $1; there are --task, --seeds, --keep" ;;
    *)
        program=$1
        shift
        ;;
    esac
done

# trained: the longest trained length; tests go to twice that, and the table shows 1.25, 1.5 and 2 times.
case $task in
sort) spec="sort alphabet=10" steps=1000 trained=8 shown="10 12 16" ;;
copy) spec="copy variant=cmc alphabet=10" steps=2000 trained=10 shown="13 15 20" ;;
*) die "--task is sort or copy, not $task" ;;
esac
[ -x "$program" ] || die "there is no $program; ./dev build makes it"

if [ -n "$keep" ]; then
    mkdir -p "$keep"
else
    keep=$(mktemp -d)
    trap 'rm -rf "$keep"' EXIT
fi

files=()
began=$SECONDS
for seed in $seeds; do
    file=$keep/$task-$seed.csv
    race=$(IFS=,; echo "${arms[*]}")
    cat >"$keep/$task-$seed.pewter" <<END
seed $seed
task $spec lengths=2..$trained test=$((trained + 1))..$((2 * trained))
model tiny
optim steps=$steps
race $race
train $steps
eval lengths=2..$((2 * trained)) samples=256
export lengths "$file"
END
    "$program" run "$keep/$task-$seed.pewter" >"$keep/$task-$seed.out" || die "seed $seed failed"
    files+=("$file")
done

echo "$task, trained $steps steps on lengths 2 to $trained, tested to $((2 * trained)), 256 samples a length;" \
    "seeds $seeds; exact match in per cent: mean (smallest to largest over seeds); $((SECONDS - began)) s in all."
echo
# The encoding's column may contain commas; later columns can't. Columns are therefore counted from the right:
# ..., length, samples, exact, exact_low, exact_high, token_accuracy, and `behind` more. Arms are identified
# by their order.
awk -F, -v names="$(IFS=';'; echo "${arms[*]}")" -v trained="$trained" -v shown="$shown" '
function note(key, value) {
    sum[key] += value
    n[key]++
    if (n[key] == 1 || value < low[key]) low[key] = value
    if (n[key] == 1 || value > high[key]) high[key] = value
}
function cell(key) {
    if (!n[key]) return "-"
    return sprintf("%.1f (%.1f to %.1f)", 100 * sum[key] / n[key], 100 * low[key], 100 * high[key])
}
function end_of_seed(   i) { # a seed counts once: by its mean over lengths
    for (i = 1; i <= n_seen; i++) {
        if (n_in[i]) note(i " in", s_in[i] / n_in[i])
        if (n_out[i]) note(i " out", s_out[i] / n_out[i])
    }
    split("", s_in); split("", n_in); split("", s_out); split("", n_out)
}
FNR == 1 {
    end_of_seed(); split("", arm); n_seen = 0
    for (behind = 0; $(NF - behind) != "token_accuracy"; behind++);
    next
}
{
    if (!($1 in arm)) arm[$1] = ++n_seen
    i = arm[$1]
    length_ = $(NF - behind - 5) + 0
    exact = $(NF - behind - 3)
    if (length_ <= trained) { s_in[i] += exact; n_in[i]++ } else { s_out[i] += exact; n_out[i]++ }
    note(i " " length_, exact)
}
END {
    end_of_seed()
    n_names = split(names, name, ";")
    n_shown = split(shown, at, " ")
    printf "| encoding | 2 to %d | %d to %d |", trained, trained + 1, 2 * trained
    for (k = 1; k <= n_shown; k++) printf " at %d |", at[k]
    printf "\n|---|--:|--:|"
    for (k = 1; k <= n_shown; k++) printf "--:|"
    print ""
    for (i = 1; i <= n_names; i++) {
        printf "| %s | %s | %s |", name[i], cell(i " in"), cell(i " out")
        for (k = 1; k <= n_shown; k++) printf " %s |", cell(i " " at[k])
        print ""
    }
}' "${files[@]}"
