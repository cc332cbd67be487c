#!/usr/bin/env bash
# package.sh - `./dev package`: makes the packages of the commit HEAD in dist/, and tries them in bare chroots. Must run
# as root.
#
# Each package is built in a chroot, so it depends on the distribution's compiler and libraries and on nothing of this
# machine. Sources come from `git archive`, and every time in a package is that of the commit. So the same commit gives
# the same bytes, as long as the distribution has the same packages.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/.." && pwd)
folder=${PEWTER_DISTROS:-$source/build/distros}
dist=$source/dist
# shellcheck source=tests/distros/chroots.sh
. "$source/tests/distros/chroots.sh"

usage() {
    cat <<'END'
usage: ./dev package [WORD...]

Makes packages of the commit HEAD, with SHA256SUMS, in dist/. Without a word it makes all of them.
  deb        pewter_VERSION-1~deb12 and ~deb13: packages for Debian 12 and Debian 13, checked by lintian
             (debian12, debian13: for this one only), and pewter-cuda where there is an nvcc
  tarball    pewter-VERSION-linux-x86_64.tar.xz: for any distribution with glibc 2.31 or later
  compare    make the packages again at another path, and compare their bytes with those in dist/
  test       install the packages of dist/ in bare chroots of Debian 12 and 13, run, remove and purge them;
             unpack and run the tarball there and on Debian 11, which has glibc 2.31

Chroots are kept in build/distros, or where PEWTER_DISTROS says; remove a folder there to rebuild it.
PEWTER_MIRROR_DEBIAN names a mirror in place of debootstrap's own. PEWTER_CUDA=OFF leaves pewter-cuda out, and
PEWTER_CUDA_ARCHITECTURES=few or 90 makes it for fewer devices. A chroot with ccache uses it, except for compare. The
output of each build and test is kept in build/distros/log. Only root can make chroots.
END
}

say() { printf 'package: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# ---- arguments

parts=() debians=() compare='' try=''
for word in "$@"; do
    case $word in
    deb | tarball) parts+=("$word") ;;
    debian12 | debian13) debians+=("$word") ;;
    compare) compare=1 ;;
    test) try=1 ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        say "no '$word': allowed are deb, tarball, compare, test, debian12, debian13"
        exit 2
        ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || [ -n "$try" ] || parts=(deb tarball)
[ ${#debians[@]} -gt 0 ] || debians=(debian12 debian13)
[ "$(id -u)" -eq 0 ] || die "chroots need root"

# ---- the commit

cd "$source"
command -v git >/dev/null || die "packages are made of a commit, and there is no git here"
git() { command git -c safe.directory="$source" "$@"; }
git rev-parse HEAD >/dev/null 2>&1 || die "packages are made of a commit, and this folder is no git repository"
commit=$(git rev-parse HEAD)
version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(pewter VERSION \([0-9.]*\) .*/\1/p')
[ -n "$version" ] || die "CMakeLists.txt has no line 'project(pewter VERSION ...'"
epoch=$(git log -1 --format=%ct "$commit")
[ -z "$(git status --porcelain)" ] || say "the packages are those of the commit HEAD, without the changes in this folder"
path=/build/pewter-$version
[ -z "$compare" ] || path=/build/elsewhere/a/longer/path
out=$dist
[ -z "$compare" ] || out=$(mktemp -d)
mkdir -p "$out" "$folder/log"

# ---- chroots

# bare DISTRO: bootstraps the chroot that is never changed.
bare() {
    [ -d "$folder/bare/$1" ] || bootstrap "$1" "$folder/bare/$1" "$folder/log/$1" ||
        die "$1 cannot be bootstrapped: $(grep -m 1 '^E: ' "$folder/log/$1" || tail -n 1 "$folder/log/$1")"
}

# copy_bare DISTRO FOLDER: copies it, unless the copy is there.
copy_bare() {
    bare "$1"
    [ ! -d "$2" ] || return 0
    mkdir -p "$(dirname "$2")"
    rm -rf "$2.new"
    cp -a "$folder/bare/$1" "$2.new"
    mv "$2.new" "$2"
}

# logged NAME COMMAND...: keeps the output of a command.
logged() {
    local log=$folder/log/$1 began=$SECONDS
    shift
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 20 "$log" >&2
        die "${log##*/}: failed, see $log"
    }
    say "${log##*/}: done in $((SECONDS - began)) s"
}

# place_sources ROOT: puts the sources of the commit into the chroot.
place_sources() {
    rm -rf "$1/build"
    mkdir -p "$1$path"
    git archive "$commit" | tar -C "$1$path" --no-same-owner -x
}

# collect ROOT PATTERN: moves the packages that were made.
collect() {
    local file found=0
    for file in "$1/build/out"/$2; do
        [ -f "$file" ] || continue
        mv "$file" "$out/"
        found=1
    done
    [ $found -eq 1 ] || die "no $2 was made"
}

# The toolkit of CUDA is shown to the chroot at its own path.
toolkit=
if [ "${PEWTER_CUDA:-}" != OFF ] && command -v nvcc >/dev/null; then
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    [ "$toolkit" != /usr ] || toolkit= # a package of the distribution, which the chroot doesn't have
fi
[ -n "$toolkit" ] || say "without CUDA's nvcc, so pewter-cuda is left out"
# shellcheck disable=SC2317 # called by logged
enter_with_toolkit() {
    if [ -z "$toolkit" ]; then
        enter "$@"
        return
    fi
    mkdir -p "$1$toolkit"
    # shellcheck disable=SC2016 # for that shell
    in_background unshare --mount --propagation private bash -c 'mount --bind "$1" "$2$1" && shift 2 && exec bash "$@"' - \
        "$toolkit" "$1" "$chroots/enter.sh" "$@"
}

make_deb() {
    local root=$folder/build/$1
    copy_bare "$1" "$root"
    place_sources "$root"
    logged "package-deb-$1" enter_with_toolkit "$root" env COMPARE="$compare" \
        PEWTER_CUDA_ARCHITECTURES="${PEWTER_CUDA_ARCHITECTURES:-all}" bash "$path/packaging/deb.sh" "$path" "$version-1~${1/debian/deb}" "$epoch" "$toolkit"
    collect "$root" '*.deb'
}

# The program is linked with the C library of Debian 11, and everything else is of Debian 12.
make_tarball() {
    local root=$folder/build/debian12 old=$folder/build/debian11
    copy_bare debian11 "$old"
    copy_bare debian12 "$root"
    cp "$here/libc.sh" "$old/tmp/"
    logged package-libc enter "$old" bash /tmp/libc.sh
    rm -rf "$root/oldlibc"
    mv "$old/oldlibc" "$root/"
    place_sources "$root"
    logged package-tarball enter "$root" env COMPARE="$compare" bash "$path/packaging/tarball.sh" "$path" "$version" "$epoch"
    collect "$root" '*.tar.xz'
}

for part in ${parts[@]+"${parts[@]}"}; do
    case $part in
    deb) for debian in "${debians[@]}"; do make_deb "$debian"; done ;;
    tarball) make_tarball ;;
    esac
done

# ---- checksums, or the comparison

if [ -n "$compare" ]; then
    differs=0
    for file in "$out"/*; do
        if cmp -s "$file" "$dist/${file##*/}"; then
            say "${file##*/}: the same bytes"
        else
            say "${file##*/}: other bytes than in dist/; kept in $out"
            differs=1
        fi
    done
    [ $differs -eq 1 ] || rm -r "$out"
    exit $differs
fi
if [ ${#parts[@]} -gt 0 ]; then
    (
        cd "$dist"
        rm -f SHA256SUMS
        sha256sum -- * >SHA256SUMS
        chown -R --reference="$source" .
        ls -l
    )
fi

# ---- tests

# try_package NAME DISTRO WORD FILE...: runs try.sh in a copy of the bare chroot.
try_package() {
    local name=$1 root=$folder/try distro=$2 word=$3
    shift 3
    rm -rf "$root"
    copy_bare "$distro" "$root"
    mkdir "$root/try"
    cp "$here/try.sh" "$@" "$root/try/"
    [ "$word" = deb ] || tar -C "$root/try" --no-same-owner -xf "$1" # a bare chroot has no xz
    logged "package-test-$name" enter "$root" bash /try/try.sh "$word"
    rm -rf "$root"
}

if [ -n "$try" ]; then
    (cd "$dist" && sha256sum --quiet -c SHA256SUMS) || die "dist/ has no packages, or SHA256SUMS does not match"
    for debian in "${debians[@]}"; do
        try_package "deb-$debian" "$debian" deb "$dist"/pewter*~"${debian/debian/deb}"_*.deb
    done
    for debian in debian11 "${debians[@]}"; do
        try_package "tarball-$debian" "$debian" tarball "$dist"/pewter-*.tar.xz
    done
    say 'all packages pass'
fi
