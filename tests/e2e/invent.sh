#!/usr/bin/env bash
# invent.sh - the page of the guide on inventing an encoding. Its script runs, with less training, and draws the same
# pictures with any number of threads. The page shows these pictures. Each answer in the page is the program's own.
ROOT=$(realpath "$(dirname "$0")/../..")
PAGE=$ROOT/docs/guide/invent.md
. "$(dirname "$0")/lib_files.sh"

# ---- the script
sed 's/seeds=3/seeds=1/; s/^press Space$/train 2/; s/^press 2 e$/press 2\neval samples=4/' "$ROOT/docs/invent.pewter" >invent.pewter
for threads in 1 3; do
    mkdir -p docs/pictures
    timeout 600 "$PEWTER" --no-session --threads $threads run invent.pewter >out 2>err </dev/null
    status=$?
    check "the script with $threads threads: $(tail -n 1 err)" test $status = 0
    mv docs "docs$threads"
done
check 'the same pictures' diff -r docs1 docs3

grep -o 'pictures/[a-z]*\.svg' "$PAGE" | sed 's:^:docs/:' | sort -u >shown
grep -o 'docs/pictures/[a-z]*\.svg' "$ROOT/docs/invent.pewter" | sort -u >drawn
check 'the page shows what the script draws' diff shown drawn
while read -r picture; do
    check "$picture is there and below 100 kB" test "$(stat -c %s "$ROOT/$picture" || echo 999999)" -lt 100000
done <drawn

# ---- the answers: a block begins with a command, and the rest is the end of its output
inside=0
checked=0
while IFS= read -r line; do
    case $line in
    '```')
        inside=$((1 - inside))
        if [ $inside = 1 ]; then
            command=
            : >want
        elif [ -n "$command" ]; then
            "$PEWTER" --no-session -c "$command" >out 2>err </dev/null
            sed 's/^pewter: //' out err | tail -n "$(wc -l <want)" >have
            check "$command: $(diff want have)" cmp -s want have
            checked=$((checked + 1))
        fi
        ;;
    'pe '* | 'race '*) [ "$inside" = 0 ] || command=$line ;;
    *) [ -z "${command:-}" ] || printf '%s\n' "$line" >>want ;;
    esac
done <"$PAGE"
check "answers: $checked" test $checked -ge 10

# ---- the formula's file, and what is exported, apart from learned values
check_block() { # check_block FILE PATTERN: checks that the page's block with the pattern is in the file
    awk -v pattern="$2" '/^```/ { if (inside && found) { printf "%s", text; exit }; inside = !inside; text = ""; found = 0; next }
        inside { text = text $0 "\n"; if (index($0, pattern)) found = 1 }' "$PAGE" >block
    check "the page has a block with $2" test -s block
    grep -vxFf "$1" block >missing
    check "$1 has the page's block with $2" test ! -s missing
}
"$PEWTER" --no-session -c "$(grep '^pe expr' "$ROOT/docs/invent.pewter")
    pe save logslope title=\"a logarithm of the distance\"; export formula logslope.py; export formula logslope.tex" >out 2>err
check 'the formula is saved and exported' test $? = 0
check_block "$XDG_CONFIG_HOME/pewter/encodings/logslope.pe" '# title: a logarithm'
check_block logslope.py 'def formula_bias'
check_block logslope.tex 'begin{align}'
"$PEWTER" --no-session -c 'model tiny width=16 layers=1 heads=2; race t5,alibi,logslope seeds=2; train 1' >out 2>err
check 'the name stands in a race' test $? = 0
exit $failed
