# manual.sh - the manual page fits 80 columns and other widths, and its examples work as printed.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/bin" "$WORK/here" "$WORK/examples"
ln -s "$PEWTER" "$WORK/bin/pewter"
export PATH=$WORK/bin:$PATH LC_ALL=C.UTF-8
cd "$WORK/here" || exit 1

command pewter --manual >../page || fail "no page"

# ---- examples: blocks between .EX and .EE, in order and in one folder
awk '/^\.EX/ {n++; next} /^\.EE/ {open = 0} /^\.SH/ {examples = /EXAMPLES/; n = examples ? 0 : n} {
    if (examples && n > ended) { open = 1; ended = n }
    if (examples && open) print > sprintf("../examples/%02d", n) }' ../page
sed -i 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g' ../examples/* || fail "no examples"
set -- ../examples/*
[ $# -ge 8 ] || fail "too few examples: $*"
shell 80x24 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
screens=0
for example in ../examples/*; do
    if grep -qE '^pewter (--demo|[a-z]+)$' "$example" && [ "$(wc -l <"$example")" = 1 ]; then # opens the workbench
        line "clear; $(cat "$example"); echo status=\$?"
        until_true "the workbench takes the screen: $(cat "$example")" flag_is alternate_on 1
        wait_for pewter
        keys Q
        wait_for '^status=0'
        screens=$((screens + 1))
        continue
    fi
    timeout 300 bash -e -o pipefail "$example" >../out 2>../err </dev/null ||
        fail "status $? of: $(cat "$example")"$'\n'"$(cat ../out ../err)"
    grep -q '^pewter: ' ../err && fail "complains: $(cat "$example" ../err)"
done
[ $screens -ge 2 ] || fail "too few screens: $screens"
for made in lengths.svg buckets.pdf steps.jsonl rope.pwt rope.txt own.tsv alibi.pewter; do
    [ -s $made ] || fail "no $made of the examples"
done
[ "$(grep -c '"kind":"step"' steps.jsonl)" = 20 ] || fail "not 20 steps"
command pewter replay alibi --verify >../out || fail "the continued session differs: $(cat ../out)"
command pewter sessions | grep -q '^rope ' && fail "rope is still there"

# ---- the output of --help on a terminal
long=$("$PEWTER" --help | awk 'length > 80')
[ -z "$long" ] || fail "--help beyond 80 columns: $long"

# ---- the page on a terminal
command -v groff >/dev/null || {
    echo "the examples ran; groff is not installed, so widths are not tested"
    exit 0
}
for page in '' =commands =formulas; do
    command pewter --manual$page >../page || fail "no page $page"
    groff -man -ww -Tutf8 -z ../page 2>../err
    [ -s ../err ] && fail "groff warns about $page: $(head -n 3 ../err)"
    for width in 80 120; do
        groff -man -Tutf8 -rLL=${width}n ../page 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' >"../shown$page$width"
        long=$(awk -v w=$width 'length > w' "../shown$page$width")
        [ -z "$long" ] || fail "page $page beyond $width columns: $long"
        [ "$(wc -l <"../shown$page$width")" -gt 70 ] || fail "not all of page $page at $width columns"
    done
done
grep -q '^EXAMPLES$' ../shown80 || fail "no section EXAMPLES"
exit 0
