#!/usr/bin/env bash
# tour.sh - the tour of the guide. Its script runs, with less training, and draws the same pictures with any number of
# threads. The tour shows these pictures, and names no key without effect.
ROOT=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib_files.sh"

# ---- the script
sed 's/seeds=6/seeds=1/; s/^press Space$/train 2/; s/^press e$/eval samples=4/; s/^\(press .*\) e$/\1\neval samples=4/' \
    "$ROOT/docs/tour.pewter" >tour.pewter
echo 'press 3 ] [ 2 e j k G f v v Enter ?' >>tour.pewter # further keys of the tour
for threads in 1 3; do
    mkdir -p docs/pictures
    timeout 600 "$PEWTER" --threads $threads run tour.pewter >out 2>err </dev/null
    status=$?
    check "the tour with $threads threads: $(tail -n 1 err)" test $status = 0
    mv docs "docs$threads"
done
check 'the same pictures' diff -r docs1 docs3

# ---- the text
sed -n '1,/^The pictures are/p' "$ROOT/docs/guide/tour.md" >section
grep -o 'pictures/[a-z]*\.svg' section | sed 's:^:docs/:' | sort -u >shown
grep -o 'docs/pictures/[a-z]*\.svg' "$ROOT/docs/tour.pewter" | sort -u >drawn
check 'the tour shows what the script draws' diff shown drawn
while read -r picture; do
    check "$picture is there and below 100 kB" test "$(stat -c %s "$ROOT/$picture" || echo 999999)" -lt 100000
done <drawn

# A key in backquotes must be one that the script has pressed: it has an effect where the tour names it.
sed -n 's/^press //p' tour.pewter "$ROOT/docs/tour.pewter" | tr ' ' '\n' | sort -u >pressed
# shellcheck disable=SC2016 # the backquotes belong to the text
grep -oE '`([^`: ]|Enter|Space)( [^` ])*`' section | tr -d '`' | tr ' ' '\n' | sort -u >named
check 'the tour names keys' test "$(wc -l <named)" -gt 10
check 'keys that nothing has pressed' test -z "$(comm -23 named pressed)"
exit $failed
