#!/usr/bin/env bash
# studies.sh - runs the studies (`reproduce NAME`) and prints a table of their verdicts, for docs/studies.md.
#
#   bench/studies.sh [NAME...]    all, unless some are named
#
# Each runs in a laboratory of its own, without a recording. What it prints goes to build/studies/NAME.txt, its figure
# beside it. Times are the machine's of that moment.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
pewter=$root/build/release/pewter
out=$root/build/studies
mkdir -p "$out"
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    mapfile -t names < <("$pewter" -c 'reproduce --list' | sed -n '/^not reproduced/q; s/^\([a-z0-9]\{1,\}\) .*/\1/p')
fi
printf '| study | verdict | claim | found | s |\n|---|---|---|---|--:|\n'
for name in "${names[@]}"; do
    began=$(date +%s)
    if ! "$pewter" -c "reproduce $name figure=\"$out/$name.svg\"" >"$out/$name.txt" 2>"$out/$name.err"; then
        echo "| \`$name\` | failed | $(head -c 200 "$out/$name.err") | | $(($(date +%s) - began)) |"
        continue
    fi
    took=$(($(date +%s) - began))
    # Of the last finding: a line "verdict: claim", and what was found below it.
    awk -v name="$name" -v took="$took" '
        /^[a-z0-9]+: / { n = 0 }
        /^ (reproduced|same order at toy scale|inconclusive|contradicted): / {
            at = index($0, ": "); verdict[n] = substr($0, 2, at - 2); claim[n] = substr($0, at + 2)
            getline; sub(/^ +/, ""); found[n++] = $0
        }
        END { for (i = 0; i < n; i++) printf "| %s | %s | %s | %s | %s |\n", i ? "" : "`" name "`", verdict[i], claim[i], found[i], i ? "" : took }
    ' "$out/$name.txt"
done
