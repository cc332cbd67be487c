#!/usr/bin/env bash
# manual.sh - the manual page fits 80 columns and any others, and its examples can be typed as they stand.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-manual-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
mkdir "$WORK/bin" "$WORK/here"
ln -s "$PEWTER" "$WORK/bin/pewter"
cd "$WORK/here" || exit 1
export HOME=$WORK PATH=$WORK/bin:$PATH LC_ALL=C.UTF-8
unset XDG_STATE_HOME XDG_CONFIG_HOME

fail() {
    echo "FAILED: $*"
    exit 1
}

pewter --manual >../page || fail "no page"

# ---- examples: blocks between .EX and .EE, in their order and in one folder
mkdir ../examples
awk '/^\.EX/ {n++; next} /^\.EE/ {open = 0} /^\.SH/ {examples = /EXAMPLES/; n = examples ? 0 : n} {
    if (examples && n > ended) { open = 1; ended = n }
    if (examples && open) print > sprintf("../examples/%02d", n) }' ../page
sed -i 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g' ../examples/* || fail "no examples"
set -- ../examples/*
[ $# -ge 8 ] || fail "too few examples: $*"
for example in ../examples/*; do
    timeout 300 bash -e -o pipefail "$example" >../out 2>../err </dev/null ||
        fail "status $? of: $(cat "$example")"$'\n'"$(cat ../out ../err)"
    grep -q '^pewter: ' ../err && fail "complains: $(cat "$example" ../err)"
done
for made in lengths.svg buckets.pdf steps.jsonl rope.pwt rope.txt own.tsv alibi.pewter; do
    [ -s $made ] || fail "no $made of the examples"
done
[ "$(grep -c '"kind":"step"' steps.jsonl)" = 20 ] || fail "not 20 steps"
pewter replay alibi --verify >../out || fail "what was taken over: $(cat ../out)"
pewter sessions | grep -q '^rope ' && fail "rope is still there"

# ---- the page on a terminal
command -v groff >/dev/null || {
    echo "the examples ran; groff is not installed, so nothing is known of widths"
    exit 0
}
groff -man -ww -Tutf8 -z ../page 2>../err
[ -s ../err ] && fail "groff warns: $(head -n 3 ../err)"
for width in 60 80 120; do
    groff -man -Tutf8 -rLL=${width}n ../page 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' >../shown
    long=$(awk -v w=$width 'length > w' ../shown)
    # below 80 columns a usage that is one word is longer
    [ $width -lt 80 ] || [ -z "$long" ] || fail "beyond $width columns: $long"
    [ "$(wc -l <../shown)" -gt 500 ] || fail "not all of it at $width columns"
done
grep -q '^EXAMPLES$' ../shown || fail "no section EXAMPLES"
exit 0
