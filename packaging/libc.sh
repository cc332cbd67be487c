#!/usr/bin/env bash
# libc.sh - runs in a chroot of Debian 11 and puts its C library into /oldlibc: what the linker needs of glibc 2.31.
set -eu
cd "$(mktemp -d)"
apt-get -q -y update
apt-get -q download libc6 libc6-dev
rm -rf /oldlibc
for file in *.deb; do dpkg-deb -x "$file" /oldlibc; done
find /oldlibc -type l -lname '/*' | while IFS= read -r link; do # absolute links would lead out of the folder
    ln -sfr "/oldlibc$(readlink "$link")" "$link"
done
