#!/usr/bin/env bash
# tarball.sh SOURCE VERSION EPOCH - runs as root in a chroot of Debian 12. Builds the portable program from the sources
# in SOURCE, and puts a tarball into /build/out.
#
# The program is linked with the C library of Debian 11 (/oldlibc, made by libc.sh), so it needs glibc 2.31 or later.
# Debian's archives of all other libraries are linked into it. There is none of cJSON, so its archive is compiled from
# Debian's source package. The C library stays dynamic, because the program loads plug-ins, librsvg and locales.
set -eu
source=$1 version=$2 epoch=$3
glibc=2.31
name=pewter-$version-linux-$(uname -m)
stage=/build/stage/$name
libraries=(libcjson-dev libncurses-dev libreadline-dev zlib1g-dev nettle-dev libsqlite3-dev libpng-dev libpcre2-dev libutf8proc-dev)
export DEBIAN_FRONTEND=noninteractive SOURCE_DATE_EPOCH=$epoch LC_ALL=C
export CCACHE_DIR=/var/cache/ccache # debhelper changes HOME
[ "${COMPARE:-}" = 1 ] || ! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
fail() {
    echo "tarball: $*" >&2
    exit 1
}

sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -q -y update
apt-get -q -y install --no-install-recommends build-essential cmake ninja-build pkg-config xz-utils librsvg2-dev "${libraries[@]}"

# ---- cJSON
archives=/usr/lib/$(uname -m)-linux-gnu
mkdir -p /build/cjson
cd /build/cjson
apt-get -q source cjson # with Debian's patches
cd cjson-*/
cc -O2 -ffile-prefix-map="$PWD=." -c cJSON.c
ar rcsD "$archives/libcjson.a" cJSON.o

# ---- the program
# gcc finds the C library and the start files by -B, and the linker the files that they name by --sysroot. Threads and
# dlopen are libraries of their own in glibc 2.31.
cd "$source"
cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DPEWTER_CUDA=OFF \
    -DPEWTER_STATIC=ON -DCMAKE_C_FLAGS="-ffile-prefix-map=$source=." -DCMAKE_C_STANDARD_LIBRARIES='-lpthread -ldl -lm' \
    -DCMAKE_EXE_LINKER_FLAGS="-B/oldlibc/usr/lib/$(uname -m)-linux-gnu --sysroot=/oldlibc"
cmake --build build
cmake --install build --strip --prefix "$stage"

needed=$(objdump -p "$stage/bin/pewter" | awk '$1 == "NEEDED" { print $2 }')
[ -n "$needed" ] || fail "objdump cannot read the program"
grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so\.[0-9]$' <<<"$needed" && fail "it needs more than the C library"
newest=$(objdump -T "$stage/bin/pewter" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
[ "$(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -n 1)" = "GLIBC_$glibc" ] || fail "it needs $newest"

# ---- the licences of everything that is linked into the program
doc=$stage/share/doc/pewter
mkdir "$doc/licenses"
cp /usr/share/common-licenses/GPL-3 "$doc/licenses/GPL-3"
{
    echo "The program bin/pewter contains these libraries, built from Debian's source packages:"
    echo
    for package in "${libraries[@]}"; do
        cp "/usr/share/doc/$package/copyright" "$doc/licenses/${package%-dev}"
        # shellcheck disable=SC2016 # dpkg's own variables
        dpkg-query -W -f '  ${source:Package} ${source:Version}\n' "$package"
    done
    echo
    echo "GNU Readline is under the GNU General Public License, version 3 or later. The program as a whole is"
    echo "therefore distributed under the terms of that licence (GPL-3). pewter's own sources are under the"
    echo "licence in ../LICENSE. This folder has the licences of all the libraries."
} >"$doc/licenses/README"
cat >"$stage/README" <<END
pewter $version, for x86-64 Linux with glibc $glibc or later

  bin/pewter          the program; it finds share/ from where it is
  bin/pewter --demo   a race of encodings
  bin/pewter doctor   checks this machine
  man -l share/man/man1/pewter.1

Copy the folder to any place, or its parts into ~/.local. Figures as PDF and PNG need the library librsvg-2.so.2.
Licences: share/doc/pewter.
END

# ---- the tarball: sorted names, the time of the commit, no owner
find "$stage" -type d -exec chmod 755 {} +
mkdir -p /build/out
tar -C /build/stage --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=go-w --format=ustar -c "$name" |
    xz -T1 --x86 --lzma2=preset=9e >"/build/out/$name.tar.xz" # the filter for machine code saves 4 %
size=$(stat -c %s "/build/out/$name.tar.xz")
[ "$size" -le 3000000 ] || fail "the tarball has $size bytes: allowed are 3,000,000"
