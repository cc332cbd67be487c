#!/usr/bin/env bash
# invent.sh - the page of the guide on inventing an encoding. Its script runs, with less training, and draws the same
# pictures with any number of threads. The page shows these pictures. Each answer in the page is the program's own.
ROOT=$(realpath "$(dirname "$0")/../..")
PAGE=$ROOT/docs/guide/invent.md
. "$(dirname "$0")/lib_files.sh"
. "$ROOT/tests/e2e/lib_page.sh"

# ---- the script
sed 's/seeds=3/seeds=1/; s/^press Space$/train 2/; s/^press 2 e$/press 2\neval samples=4/' "$ROOT/docs/invent.pewter" >invent.pewter
script_draws invent.pewter
page_shows "$PAGE" "$ROOT/docs/invent.pewter"

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
    page_block "$PAGE" "$2" >block
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
