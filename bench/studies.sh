#!/usr/bin/env bash
# studies.sh - runs the studies (`reproduce NAME`) and prints a table of their verdicts, for docs/studies.md.
#
#   usage: bench/studies.sh [-j JOBS] [NAME...]    default: all studies
#
# Each study runs in a lab of its own, without a session. JOBS of them run at once, each on its share of the
# processors; this changes no bit. Output goes to build/studies/NAME.txt, with the figure next to it. The last
# column is wall time.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
export pewter=$root/build/release/pewter out=$root/build/studies threads=0
jobs=1
if [ "${1:-}" = -j ]; then
    jobs=${2:?usage: bench/studies.sh [-j JOBS] [NAME...]}
    shift 2
    threads=$((($(nproc) + jobs - 1) / jobs))
fi
mkdir -p "$out"
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    mapfile -t names < <("$pewter" -c 'reproduce --list' | sed -n '/^not reproduced/q; s/^\([a-z0-9]\{1,\}\) .*/\1/p')
fi

# run_study NAME: runs one study and writes its rows to NAME.rows.
run_study() {
    local name=$1 began took
    began=$(date +%s)
    if ! "$pewter" --threads "$threads" -c "reproduce $name figure=\"$out/$name.svg\"" >"$out/$name.txt" \
        2>"$out/$name.err"; then
        echo "| \`$name\` | failed | $(head -c 200 "$out/$name.err") | | $(($(date +%s) - began)) |" >"$out/$name.rows"
        return
    fi
    took=$(($(date +%s) - began))
    # Reads the last finding: lines "verdict: claim", each with its evidence on the next line.
    awk -v name="$name" -v took="$took" '
        /^[a-z0-9]+: / { n = 0 }
        /^ (reproduced|same order at toy scale|inconclusive|contradicted): / {
            at = index($0, ": "); verdict[n] = substr($0, 2, at - 2); claim[n] = substr($0, at + 2)
            getline; sub(/^ +/, ""); found[n++] = $0
        }
        END { for (i = 0; i < n; i++) printf "| %s | %s | %s | %s | %s |\n", i ? "" : "`" name "`", verdict[i], claim[i], found[i], i ? "" : took }
    ' "$out/$name.txt" >"$out/$name.rows"
}
export -f run_study

printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I NAME bash -c 'run_study NAME'
printf '| study | verdict | claim | found | s |\n|---|---|---|---|--:|\n'
for name in "${names[@]}"; do
    cat "$out/$name.rows"
done
