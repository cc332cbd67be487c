#!/usr/bin/env bash
# inside.sh COMPILER USER [CTEST-ARGUMENT...] - runs as root in a chroot of distros.sh. Builds and tests the checkout
# /checkout/COMPILER-USER as USER, with the usual limits. USER is root, or user: one without privileges. First it compares
# the trained bits of this compiler's -O1 with the golden digests, which are of -O3. Its exit status is that of `./dev test`,
# or that of bits.sh if bits differ.
set -eu
compiler=$1 user=$2 folder=/checkout/$1-$2
shift 2
export DEBIAN_FRONTEND=noninteractive
cd "$folder"

case $compiler in
gcc) compilers=(CC=cc CXX=c++) ;; # the default of a bare machine
clang)
    compilers=(CC=clang CXX=clang++)
    if ! command -v clang >/dev/null; then
        apt-get -q -y update
        apt-get -q -y install --no-install-recommends clang
    fi
    ;;
esac
run=(env)
./dev packages
if [ "$user" != root ]; then
    id user >/dev/null 2>&1 || useradd --create-home user
    chown -R user: "$folder"
    run=(runuser -u user -- env HOME="$(getent passwd user | cut -d: -f6)")
fi
printf 'compiler: %s\n' "$("${compilers[0]#CC=}" --version | head -n 1)"
ulimit -n 1024 # the limit of most machines
bits=0 status=0
"${run[@]}" bash bench/bits.sh every=8 "$compiler-O1" || bits=$?
"${run[@]}" "${compilers[@]}" PEWTER_WERROR=ON ./dev test release "$@" || status=$?
[ "$status" -ne 0 ] || status=$bits
exit "$status"
