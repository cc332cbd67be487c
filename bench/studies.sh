#!/usr/bin/env bash
# studies.sh - runs the studies (`reproduce NAME`) and prints a table of their verdicts for docs/studies.md.
#
#   bench/studies.sh [-j JOBS] [NAME...]    the named studies; default: all
#   bench/studies.sh -t [NAME...]           only the table, of studies that ran before
#
# Each study runs in its own lab, without a session. JOBS studies run at once and share the processors; this changes
# no bit. Output goes to build/studies/NAME.txt, with the figure beside it. The last column is wall time in seconds.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
export pewter=$root/build/release/pewter out=$root/build/studies threads=0
jobs=1 run=1
case ${1:-} in
-j)
    jobs=${2:?usage: bench/studies.sh [-j JOBS] [NAME...]}
    shift 2
    threads=$((($(nproc) + jobs - 1) / jobs))
    ;;
-t)
    run=0
    shift
    ;;
esac
mkdir -p "$out"
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    mapfile -t names < <("$pewter" -c 'reproduce --list' | sed -n '/^not reproduced/q; s/^\([a-z0-9]\{1,\}\) .*/\1/p')
fi

run_study() {
    local name=$1 began
    began=$(date +%s)
    rm -f "$out/$name.took"
    "$pewter" --threads "$threads" -c "reproduce $name figure=\"$out/$name.svg\"" >"$out/$name.txt" \
        2>"$out/$name.err" || return 0
    echo $(($(date +%s) - began)) >"$out/$name.took"
}
export -f run_study

# print_rows NAME: prints a row for each claim of a study's findings; of findings with the same name only the last
# counts. The title of a finding is its set-up. A claim is a line "verdict: claim", and the next line has the
# evidence.
print_rows() {
    local name=$1
    if [ ! -f "$out/$name.took" ]; then
        echo "| \`$name\` | | failed: $(head -c 200 "$out/$name.err") | | | |"
        return
    fi
    awk -v took="$(cat "$out/$name.took")" '
        /^[a-z0-9]+: / {
            at = index($0, ": "); name = substr($0, 1, at - 1)
            if (!(name in n)) order[++names] = name
            title[name] = substr($0, at + 2); n[name] = 0
        }
        /^ (reproduced|same order at toy scale|inconclusive|contradicted): / {
            at = index($0, ": "); i = n[name]++
            verdict[name, i] = substr($0, 2, at - 2); claim[name, i] = substr($0, at + 2)
            getline; sub(/^ +/, ""); found[name, i] = $0
        }
        END {
            for (k = 1; k <= names; k++) {
                name = order[k]
                for (i = 0; i < n[name]; i++)
                    printf "| %s | %s | %s | %s | %s | %s |\n", i ? "" : "`" name "`", title[name],
                        verdict[name, i], claim[name, i], found[name, i], i || k < names ? "" : took
            }
        }
    ' "$out/$name.txt"
}

[ $run -eq 0 ] || printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I NAME bash -c 'run_study NAME'
printf '| finding | set-up | verdict | claim | found | s |\n|---|---|---|---|---|--:|\n'
for name in "${names[@]}"; do
    print_rows "$name"
done
