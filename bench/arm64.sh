#!/usr/bin/env bash
# arm64.sh - verifies on one kind of processor a session that another kind recorded. It builds pewter for
# aarch64. This machine and an emulated aarch64 (qemu-user) record the same commands, and each verifies the
# other's session.
#
# usage: bench/arm64.sh FOLDER    keeps libraries, build and sessions in FOLDER; a second run reuses them
#
# Needs Debian's gcc-aarch64-linux-gnu and qemu-user, and `./dev build release` first. apt installs the
# libraries for aarch64 only into FOLDER. For kernels and model alone, use bench/bits.sh. docs/bits.md has the
# results of the last run.
set -eu
[ $# -eq 1 ] || {
    echo "usage: bench/arm64.sh FOLDER" >&2
    exit 2
}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
cd "$1"
here=$PWD
libraries=(libc6-dev libncurses-dev libreadline-dev libcjson-dev zlib1g-dev nettle-dev libsqlite3-dev libpng-dev librsvg2-dev
    libpcre2-dev libutf8proc-dev)

# Runs apt with the machine's sources, for aarch64, as if no package was installed.
apt_arm64() {
    apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$here/apt" \
        -o Dir::State::status="$here/apt/status" -o Dir::Cache="$here/apt/cache" -o APT::Sandbox::User= \
        -o Debug::NoLocking=1 "$@"
}

root() {
    mkdir -p apt/lists/partial apt/cache/archives/partial root.new
    : >apt/status
    apt_arm64 update
    apt_arm64 install --no-install-recommends --download-only "${libraries[@]}"
    for package in apt/cache/archives/*.deb; do
        dpkg -x "$package" root.new
    done
    find root.new -type l -lname '/*' | while read -r link; do # an absolute link would lead to this machine's own libraries
        ln -sfrT "root.new$(readlink "$link")" "$link"
    done
    mv root.new root
}

build() {
    cat >toolchain.cmake <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT $here/root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
END
    export PKG_CONFIG_SYSROOT_DIR=$here/root
    export PKG_CONFIG_LIBDIR=$here/root/usr/lib/aarch64-linux-gnu/pkgconfig:$here/root/usr/share/pkgconfig
    cmake -S "$source" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" >&2
    cmake --build build --target pewter >&2
}

[ -d root ] || root >&2
build

native() { "$source/build/release/pewter" "$@"; }
emulated() { qemu-aarch64 -L root build/pewter "$@"; }

# All encodings, and at least one event of each kind that is compared.
script='seed 1; task copy lengths=2..5 alphabet=6; model tiny layers=2 width=32 heads=4; optim batch=4
    race none,learned,sinusoidal,t5,alibi,rotary seeds=2; train 60; arm 4; prompt copy 3 1 2; inspect layer=1 head=2
    patch heads from="copy 3 1 1"; table length=20; eval lengths=2..8 samples=8; failing; ablate 0.1
    eval lengths=2..8 samples=8; restore; checkpoint before the swap; pe rotary; train 60; prompt copy 0 1 2 3 4 5
    set temperature 0.7; prompt copy 1 1; eval lengths=2..8 samples=8; digest'
rm -rf x86.pewter arm64.pewter
native --session ./x86.pewter -c "$script" >x86.out
emulated --session ./arm64.pewter -c "$script" >arm64.out
grep digest x86.out >x86.digests
grep digest arm64.out | diff x86.digests - || {
    echo "the digests differ"
    exit 1
}
for threads in 1 2 8; do
    emulated --threads $threads replay ./x86.pewter --verify
done
native replay ./arm64.pewter --verify
