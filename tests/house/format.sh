#!/usr/bin/env bash
# format.sh - checks that C and CUDA sources are formatted by clang-format. Its output differs between
# versions, so version 14 (Debian 12) is required.
# usage: format.sh ROOT [fix]
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

formatter=
for candidate in clang-format-14 clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "skipped: there is no clang-format 14 here"
    exit 77
fi

mapfile -t sources < <(files '*.c' '*.h' '*.cu' '*.cuh')
if [ "${2:-}" = fix ]; then
    exec "$formatter" -i "${sources[@]}"
fi
found=$("$formatter" --dry-run "${sources[@]}" 2>&1) || fail "$formatter failed: $found"
while IFS= read -r file; do
    fail "$file: not in the house style; ./dev format puts it there"
done < <(sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: code should be.*/\1/p' <<<"$found" | uniq)
finish
