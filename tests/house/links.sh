#!/usr/bin/env bash
# links.sh ROOT - every link of a document to a file of this repository leads to one, and README.md is one screen.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

while IFS= read -r document; do
    while IFS= read -r link; do
        [ -e "$(dirname "$document")/$link" ] || fail "$document: $link: there is no such file"
    done < <(grep -oE '\]\([^)# ]+' "$document" | sed 's/^](//' | grep -v ://)
done < <(files '*.md')
[ ! -e README.md ] || [ "$(wc -l <README.md)" -le 60 ] || fail "README.md: $(wc -l <README.md) lines; one screen is at most 60"
finish
