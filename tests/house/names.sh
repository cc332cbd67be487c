#!/usr/bin/env bash
# names.sh - checks names that a compiler accepts: a tag (struct, enum, union) has one definition in the tree,
# and a file-local function has more than a bare verb as its name.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

while IFS= read -r tag; do
    fail "$tag is defined more than once: $(files '*.c' '*.h' | xargs grep -lE "^(struct|enum|union) $tag \{" | tr '\n' ' ')"
done < <(files '*.c' '*.h' | grep -E '^(src|sessions|tasks|kernels)/' |
    xargs sed -nE 's/^(struct|enum|union) (pw_[a-z0-9_]+) \{.*/\2/p' | grep -vxE 'pw_(backend|ctx)' | sort | uniq -d) # each backend has its own of these two

while IFS= read -r place; do
    fail "$place: the function's name lacks its object"
done < <(files '*.c' | grep -E '^(src|sessions|tasks|kernels/cpu)/' |
    xargs grep -nE '^static [^;={}()]*[ *](draw|begin|tell|say|says|look|add|of|at|about)\(' /dev/null | cut -d'(' -f1)
finish
