#!/usr/bin/env bash
# nulls.sh - checks that pointers and the results of strcmp are compared: `p == NULL`, not `!p`. nulls.py finds them, by
# clang-query (Debian: clang-tools).
# usage: nulls.sh ROOT BUILD [fix]
# shellcheck source=tests/house/lib.sh
rules=$(cd "$(dirname "$0")" && pwd)
. "$rules/lib.sh"

for query in clang-query clang-query-{14..19}; do
    if command -v "$query" >/dev/null && command -v python3 >/dev/null; then
        exec python3 "$rules/nulls.py" "$query" "$PWD" "${@:2}"
    fi
done
echo "skipped: there is no clang-query or no python3 here"
exit 77
