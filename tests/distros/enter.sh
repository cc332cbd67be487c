#!/usr/bin/env bash
# enter.sh ROOT COMMAND... - runs a command as root in the chroot ROOT, with its own /proc, /dev and terminals.
#
# Mounts are in their own namespace, and so are processes. When this script ends, even by SIGKILL, the kernel removes
# both, so no cleanup is needed.
set -eu

if [ "${1:-}" != --inside ]; then
    exec unshare --mount --propagation private --pid --fork --kill-child \
        bash "${BASH_SOURCE[0]}" --inside "$@"
fi
root=$2
shift 2

mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for i in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${i%:*}" "$root/dev/${i#*:}"; done

# Pass only the variables for network access from the caller's environment.
kept=()
for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || kept+=("$name=${!name}")
done
exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${kept[@]+"${kept[@]}"} "$@"
