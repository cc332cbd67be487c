#!/usr/bin/env bash
# tour.sh - the tour of the guide. Its script runs, with less training, and draws the same pictures with any number of
# threads. The tour shows these pictures, and names no key without effect.
ROOT=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib_files.sh"
. "$ROOT/tests/e2e/lib_page.sh"

# ---- the script
sed 's/seeds=6/seeds=1/; s/^press Space$/train 2/; s/^press e$/eval samples=4/; s/^\(press .*\) e$/\1\neval samples=4/' \
    "$ROOT/docs/tour.pewter" >tour.pewter
echo 'press 3 ] [ 2 e j k G f v v Enter ?' >>tour.pewter # further keys of the tour
script_draws tour.pewter

# ---- the text
sed -n '1,/^The pictures are/p' "$ROOT/docs/guide/tour.md" >section
page_shows section "$ROOT/docs/tour.pewter"

# A key in backquotes must be one that the script has pressed: it has an effect where the tour names it.
sed -n 's/^press //p' tour.pewter "$ROOT/docs/tour.pewter" | tr ' ' '\n' | sort -u >pressed
# shellcheck disable=SC2016 # the backquotes belong to the text
grep -oE '`([^`: ]|Enter|Space)( [^` ])*`' section | tr -d '`' | tr ' ' '\n' | sort -u >named
check 'the tour names keys' test "$(wc -l <named)" -gt 10
check 'keys that nothing has pressed' test -z "$(comm -23 named pressed)"
exit $failed
