#!/usr/bin/env bash
# distros.sh - `./dev distros`: builds and tests in bare chroots of distributions, with each compiler, as root and as a
# user without privileges. Must run as root. Our own machines have more installed than a bare one, and a test may depend
# on that unnoticed.
#
# A chroot is bootstrapped once (debootstrap, with its default mirrors) and kept. Each run copies the checkout's files
# into it, and `./dev test` installs its packages there. inside.sh runs in the chroot.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
folder=${PEWTER_DISTROS:-$source/build/distros}

distros=(debian12 debian13 ubuntu24.04)
compilers=(gcc clang)
users=(root user)

usage() {
    cat <<'END'
usage: ./dev distros [WORD...] [-- CTEST-ARGUMENT...]

Builds and runs all tests in bare chroots, warnings being errors, and prints a line for each combination of
  distribution   debian12, debian13, ubuntu24.04
  compiler       gcc, clang
  user           root, user (without rights)
WORDs restrict them: `./dev distros debian13 gcc` has two combinations, root and user. Exit status 1 if one fails. A
combination takes as long as a build and all tests: a quarter of an hour on two cores.

Chroots are kept in build/distros, or where PEWTER_DISTROS says, and used again; remove a folder there to rebuild
it. PEWTER_MIRROR_DEBIAN and PEWTER_MIRROR_UBUNTU name mirrors in place of debootstrap's own, PEWTER_KEYS_UBUNTU the
keyring by which Ubuntu's is checked (that of the package ubuntu-keyring). The output of a combination is kept in
build/distros/log.
END
}

say() { printf '%s\n' "$*"; }

# ---- arguments

asked_distros=() asked_compilers=() asked_users=()
while [ $# -gt 0 ]; do
    case $1 in
    debian12 | debian13 | ubuntu24.04) asked_distros+=("$1") ;;
    gcc | clang) asked_compilers+=("$1") ;;
    root | user) asked_users+=("$1") ;;
    --)
        shift
        break
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        say "distros: no '$1'; there are ${distros[*]}, ${compilers[*]}, ${users[*]}" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#asked_distros[@]} -eq 0 ] || distros=("${asked_distros[@]}")
[ ${#asked_compilers[@]} -eq 0 ] || compilers=("${asked_compilers[@]}")
[ ${#asked_users[@]} -eq 0 ] || users=("${asked_users[@]}")

# ---- chroots

# shellcheck source=tests/distros/chroots.sh
. "$here/chroots.sh"

# copy DISTRO NAME: copies the files of this checkout, and no build results.
copy() {
    local target=$folder/$1/checkout/$2
    rm -rf "$target"
    mkdir -p "$target"
    # shellcheck source=tests/house/lib.sh
    (. "$source/tests/house/lib.sh" "$source" && files '*' | tar -C "$source" --verbatim-files-from -T - -c) |
        tar -C "$target" --no-same-owner -x
}

# summary LOG: the summary of ctest, or the last error.
summary() {
    local passed
    passed=$(sed -n 's/^\([0-9]*\)% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\3 tests, \2 failed/p' "$1" | tail -n 1)
    if [ -n "$passed" ]; then
        local skipped failed
        skipped=$(sed -n '/did not run:/,$p' "$1" | grep -c '(Skipped)') || true
        failed=$(sed -n '/tests FAILED:/,$p' "$1" | sed -nE 's/^[[:space:]]*[0-9]+ - ([^ ]+) \((Failed|Timeout|SEGFAULT|Subprocess|Child).*/\1/p' | tr '\n' ' ')
        printf '%s, %s skipped%s' "$passed" "$skipped" "${failed:+: ${failed% }}"
    else
        printf 'does not build: %s' "$(grep -m 1 -E '^(E|dev): |(error|warning): |^FAILED' "$1" || tail -n 1 "$1")"
    fi
}

# ---- all distributions

[ "$(id -u)" -eq 0 ] || {
    say "distros: chroots need root" >&2
    exit 1
}
logs=$folder/log
mkdir -p "$logs"
failures=0
for distro in "${distros[@]}"; do
    if [ ! -d "$folder/$distro" ] && ! bootstrap "$distro" "$folder/$distro" "$logs/$distro"; then
        say "$distro: cannot be bootstrapped: $(grep -m 1 '^E: ' "$logs/$distro" || tail -n 1 "$logs/$distro")"
        failures=$((failures + 1))
        continue
    fi
    for compiler in "${compilers[@]}"; do
        for user in "${users[@]}"; do
            log=$logs/$distro-$compiler-$user began=$SECONDS verdict=passed
            copy "$distro" "$compiler-$user"
            enter "$folder/$distro" bash "/checkout/$compiler-$user/tests/distros/inside.sh" \
                "$compiler" "$user" "$@" >"$log" 2>&1 </dev/null || verdict=FAILED
            [ "$verdict" = passed ] || failures=$((failures + 1))
            version=$(sed -nE 's/^compiler: .*[^0-9]([0-9]+\.[0-9]+\.[0-9]+).*/\1/p' "$log" | head -n 1)
            say "$distro $compiler ${version:+$version }as $user: $verdict: $(summary "$log") in $((SECONDS - began)) s"
        done
    done
done
exit "$((failures > 0))"
