#!/usr/bin/env bash
# inside.sh COMPILER USER [CTEST-ARGUMENT...] - what distros.sh does in a chroot, as its root: build and test the
# checkout /checkout/COMPILER-USER as that user (root, or user: one without rights), with the usual limits. Ends with
# the exit status of `./dev test`.
set -eu
compiler=$1 user=$2 folder=/checkout/$1-$2
shift 2
export DEBIAN_FRONTEND=noninteractive
cd "$folder"

case $compiler in
gcc) compilers=(CC=cc CXX=c++) ;; # what a bare machine takes
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
ulimit -n 1024 # what most machines have
status=0
"${run[@]}" "${compilers[@]}" PEWTER_WERROR=ON ./dev test release "$@" || status=$?
exit "$status"
