#!/usr/bin/env bash
# sentences.sh - checks that no sentence of a C file's comments or of a document has more than 40 words
# (sentences.py). Skipped where there is no Python.
# shellcheck source=tests/house/lib.sh
rules=$(cd "$(dirname "$0")" && pwd)
. "$rules/lib.sh"

python=/usr/bin/python3
[ -x $python ] || exit 77
while IFS= read -r finding; do
    fail "$finding"
done < <(files '*.c' '*.h' '*.cu' '*.md' | xargs -r $python "$rules/sentences.py")
finish
