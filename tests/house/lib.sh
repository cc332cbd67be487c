# shellcheck shell=bash
# lib.sh - functions for the house tests. Each test is called with the root of the repository. It exits with 0
# or 1, or with 77 if the machine lacks a tool that it needs, which ctest reports as skipped.
set -u
export LC_ALL=C
root=${1:?usage: $0 ROOT}
cd "$root" || exit 1
failures=0

fail() {
    printf '%s\n' "$*"
    failures=$((failures + 1))
}

finish() {
    [ "$failures" -eq 0 ] || {
        printf '%d found\n' "$failures"
        exit 1
    }
    exit 0
}

# files PATTERN...: lists files that git tracks and that match a pattern. Without a git repository of its own
# (a release archive, a foreign owner) it lists every file outside build/. A pattern covers the whole file
# name: '*.c'.
files() {
    local pattern names=()
    if [ "$(git rev-parse --show-toplevel 2>/dev/null)" -ef . ]; then
        for pattern in "$@"; do names+=(":(glob)**/$pattern"); done
        git ls-files -- "${names[@]}"
    else
        for pattern in "$@"; do names+=(-o -name "$pattern"); done
        find . \( -name .git -o -path ./build -o -path ./.cache -o -type d -name '*.pewter' \) -prune -o \
            -type f \( "${names[@]:1}" \) -printf '%P\n'
    fi | while IFS= read -r name; do
        [ ! -f "$name" ] || printf '%s\n' "$name" # git also lists files that were removed and not yet committed
    done | sort
}
