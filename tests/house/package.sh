#!/usr/bin/env bash
# package.sh - tests `./dev package` and .ci/release without making a package: wrong words, a folder without a commit, and
# a tag, version, changelog or folder that don't fit. The version is in one place, so the packages' files have none.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

command -v git >/dev/null || {
    echo "skipped: there is no git here"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fails STATUS PATTERN COMMAND...: the command must end with the status and one line that matches.
fails() {
    local status=$1 pattern=$2 out got=0
    shift 2
    out=$("$@" 2>&1) || got=$?
    [ $got -eq "$status" ] || fail "$*: status $got: $out"
    [ "$(wc -l <<<"$out")" -eq 1 ] || fail "$*: not one line: $out"
    grep -qE -- "$pattern" <<<"$out" || fail "$*: no '$pattern': $out"
}

mkdir "$work/checkout"
files '*' | tar --verbatim-files-from -T - -c | tar -C "$work/checkout" -x
cd "$work/checkout" || exit 1
unset GIT_DIR GIT_WORK_TREE

# ---- ./dev package
fails 2 "no 'debian11': allowed are deb, tarball, compare, test, debian12, debian13" bash packaging/package.sh deb debian11
for word in deb tarball compare test; do
    bash packaging/package.sh --help | grep -q "^  $word " || fail "--help has no $word"
done
if [ "$(id -u)" -eq 0 ]; then
    fails 1 'this folder is no git repository$' env GIT_CEILING_DIRECTORIES="$work" bash packaging/package.sh deb
else
    fails 1 'chroots need root$' bash packaging/package.sh deb
fi

# ---- .ci/release
git() { command git -c user.name=test -c user.email=test@test.invalid -c commit.gpgsign=false -c tag.gpgsign=false "$@"; }
git init -q .
git add -A
git commit -q -m test || fail "no repository"
version=$(sed -n 's/^project(pewter VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
fails 2 "'0.2.0': allowed are a tag such as v0.2.0, and --check" bash .ci/release 0.2.0
fails 1 'usage: ' bash .ci/release
fails 1 "v99.0.0: the version in CMakeLists.txt is $version, so the tag must be v$version" bash .ci/release v99.0.0 --check
fails 1 "there is no tag v$version" bash .ci/release "v$version" --check
git tag "v$version"
bash .ci/release "v$version" --check || fail "a release that fits is refused"
echo more >>README.md
fails 1 'the folder has changes:  M README.md' bash .ci/release "v$version" --check
git commit -q -a -m more
fails 1 "the checked-out commit is not that of v$version" bash .ci/release "v$version" --check
sed -i "s/^## $version, .*/## $version, not released/" CHANGELOG.md
fails 1 "CHANGELOG.md begins with '## $version, not released', but" bash .ci/release "v$version" --check

grep -rnF "$version" packaging dev && fail "the version is in two places"
finish
