# shellcheck shell=bash
# chroots.sh - bootstraps chroots of distributions and enters them. `./dev distros` and `./dev package` source it.

chroots=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# in_background COMMAND...: runs a command and waits, so that a signal is handled at once. A command in its own
# namespace of processes (enter.sh, enter_mounts) ends with all its children.
child=
in_background() {
    "$@" &
    child=$!
    local status=0
    wait "$child" || status=$?
    child=
    return "$status"
}
# shellcheck disable=SC2317 # called by a signal
stop() {
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
    exit 130
}
trap stop INT TERM HUP

# bootstrap DISTRO FOLDER LOG: bootstraps in a temporary folder and renames it when it is complete.
bootstrap() {
    local new=$2.new suite mirror options=(--variant=minbase)
    case $1 in
    debian11) suite=bullseye mirror=${PEWTER_MIRROR_DEBIAN:-} ;;
    debian12) suite=bookworm mirror=${PEWTER_MIRROR_DEBIAN:-} ;;
    debian13) suite=trixie mirror=${PEWTER_MIRROR_DEBIAN:-} ;;
    ubuntu24.04) suite=noble mirror=${PEWTER_MIRROR_UBUNTU:-} options+=("--components=main,universe") ;;
    esac
    rm -rf "$new"
    mkdir -p "$(dirname "$2")"
    if [ "$suite" = noble ]; then # Debian's debootstrap may not support noble yet; all versions of Ubuntu use one script
        local keys=${PEWTER_KEYS_UBUNTU:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
        if [ ! -f "$keys" ]; then
            echo "E: there is no $keys: the package ubuntu-keyring has it, and PEWTER_KEYS_UBUNTU may name another" >"$3"
            return 1
        fi
        in_background enter_mounts debootstrap "${options[@]}" "--keyring=$keys" "$suite" "$new" "$mirror" gutsy \
            >"$3" 2>&1 || return 1
    else
        in_background enter_mounts debootstrap "${options[@]}" "$suite" "$new" ${mirror:+"$mirror"} >"$3" 2>&1 || return 1
    fi
    mv "$new" "$2"
}

# The namespace also removes the mounts of debootstrap.
# shellcheck disable=SC2317 # called by in_background
enter_mounts() {
    exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$@"
}

# enter ROOT COMMAND...: runs a command in a chroot, with the names of this machine's network.
enter() {
    [ ! -f /etc/resolv.conf ] || cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    in_background bash "$chroots/enter.sh" "$@"
}
