#!/usr/bin/env bash
# deb.sh SOURCE VERSION EPOCH [CUDA-TOOLKIT] - runs as root in a chroot of package.sh. Builds the Debian packages of the
# sources in SOURCE, checks them with lintian, and puts them into /build/out.
set -eu
source=$1 version=$2 epoch=$3 toolkit=${4:-}
export DEBIAN_FRONTEND=noninteractive SOURCE_DATE_EPOCH=$epoch
export CCACHE_DIR=/var/cache/ccache # debhelper changes HOME
[ "${COMPARE:-}" = 1 ] || ! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
maintainer=$(sed -n 's/^Maintainer: //p' "$source/packaging/debian/control")
cp -r "$source/packaging/debian" "$source/debian"
cd "$source"

apt-get -q -y update
apt-get -q -y install --no-install-recommends build-essential lintian
apt-get -q -y --no-install-recommends build-dep ./

cat >debian/changelog <<END
pewter ($version) $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release); urgency=medium

  * The changes for users are in /usr/share/doc/pewter/changelog.gz.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$epoch")
END
if [ -n "$toolkit" ]; then
    [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ] || export CMAKE_CUDA_COMPILER_LAUNCHER=ccache
    export DEB_BUILD_PROFILES=pkg.pewter.cuda CUDACXX=$toolkit/bin/nvcc CUDAToolkit_ROOT=$toolkit
fi
DEB_BUILD_OPTIONS="noautodbgsym nocheck parallel=$(nproc)" dpkg-buildpackage -b -uc -us
mkdir -p /build/out
mv ../*.deb /build/out/
lintian --info --allow-root --fail-on error,warning /build/out/*.deb
