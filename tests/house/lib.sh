# shellcheck shell=bash
# lib.sh - what the house tests share. Each is called with the root of the repository and exits 0, 1 or, where the
# machine lacks what it needs, 77, which ctest shows as skipped.
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

# files PATTERN...: what git tracks, or without git (a release archive, also inside of another repository; a foreign owner)
# every file outside build/.
# Patterns are of whole file names: '*.c'.
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
        [ ! -f "$name" ] || printf '%s\n' "$name" # git also lists what was removed and not yet committed
    done | sort
}
