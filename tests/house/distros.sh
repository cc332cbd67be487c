#!/usr/bin/env bash
# distros.sh - tests `./dev distros` if no distribution can be downloaded, and if it is killed. It must print
# a line for each distribution that can't be bootstrapped, and fail at the end. It must leave no mount and no
# process behind.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

if ! unshare --mount --pid --fork true 2>/dev/null; then
    echo "skipped: chroots with mounts of their own need root"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/bin" "$work/place"
printf '#!/bin/sh\necho "I: Retrieving InRelease"\necho "E: no mirror answers"\nexit 1\n' >"$work/bin/debootstrap"
chmod +x "$work/bin/debootstrap"
touch "$work/keys"
out=$(PATH=$work/bin:$PATH PEWTER_DISTROS=$work/place PEWTER_KEYS_UBUNTU=$work/keys bash tests/distros/distros.sh) &&
    fail "no distribution is available, and the status is 0"
[ "$out" = "debian12: cannot be bootstrapped: E: no mirror answers
debian13: cannot be bootstrapped: E: no mirror answers
ubuntu24.04: cannot be bootstrapped: E: no mirror answers" ] || fail "not a line for each: $out"
bash tests/distros/distros.sh debian11 >/dev/null 2>&1
[ $? -eq 2 ] || fail "takes a distribution that it doesn't know"

# A root with nothing but this machine's /usr. Its process is killed from outside with SIGKILL.
root=$work/root nap=99991.$$
mkdir -p "$root"/{usr,proc,dev,tmp,etc}
for folder in bin lib lib64 sbin; do ln -s "usr/$folder" "$root/$folder"; done
# Succeeds if a process with that argument exists. (The pattern doesn't match grep's own command line.)
sleeps() {
    grep -qszx "9999[1]\\.$$" /proc/[0-9]*/cmdline
}
# shellcheck disable=SC2016 # for that shell
unshare --mount --propagation private bash -c 'mount --bind /usr "$1/usr" && exec bash tests/distros/enter.sh "$1" \
    sh -c "tty=\$(ls /dev/pts/ptmx) && test -r /proc/self/stat && echo \$tty >/tmp/started && sleep $2"' - "$root" "$nap" &
entered=$!
for ((i = 0; i < 1000; i++)); do
    [ ! -s "$root/tmp/started" ] || break
    sleep 0.02
done
[ "$(cat "$root/tmp/started" 2>/dev/null)" = /dev/pts/ptmx ] || fail "nothing runs in the chroot"
sleeps || fail "nothing sleeps in the chroot"
kill -KILL "$entered"
wait "$entered" 2>/dev/null
for ((i = 0; i < 500; i++)); do
    sleeps || break
    sleep 0.02
done
sleeps && fail "a process still runs in the chroot"
grep -F "$root" /proc/mounts && fail "something stays mounted"
finish
