#!/usr/bin/env bash
# try.sh deb|tarball - runs as root in a bare chroot, with the packages in /try. Installs, runs and removes pewter, and
# checks that nothing is left but the sessions of the user.
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/root TERM=xterm-256color
unset XDG_STATE_HOME XDG_CONFIG_HOME
state=/root/.local
fail() {
    echo "try: $*" >&2
    exit 1
}

# list_files: every file of the system, without the package manager's own records.
list_files() {
    find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /try -o -path /var/lib/apt -o -path /var/lib/dpkg \
        -o -path /var/cache -o -path /var/log \) -prune -o -print | sort
}

# run_program PROGRAM: trains, records, replays, verifies, and opens the workbench on a terminal.
run_program() {
    local out
    "$1" --version
    "$1" doctor || true # this chroot has no UTF-8 locale by its variables
    env LC_ALL=C.UTF-8 "$1" doctor | grep -q '^! ' && fail "doctor finds a problem"
    "$1" --session try -c 'task sort; pe kerple_log; train 20; eval lengths=4; task text; export figure /tmp/figure.svg pane=lengths' ||
        fail "it does not train"
    [ -s /tmp/figure.svg ] || fail "no figure"
    "$1" replay try --verify || fail "its session does not verify"
    # script gives it a terminal; Q leaves the workbench.
    out=$( (
        sleep 2
        printf Q
    ) | LC_ALL=C.UTF-8 timeout 60 script -qec "stty rows 30 cols 100; $1 --no-session" /dev/null) || fail "the workbench fails: $out"
    grep -q 'pewter' <<<"$out" || fail "the workbench draws nothing"
    [ -d "$state/state/pewter/sessions/try.pewter" ] || fail "no session"
}

list_files >/tmp/before
case $1 in
deb)
    apt-get -q -y update
    before=$(dpkg-query -W -f '${Package}\n' | sort)
    apt-get -q -y install --no-install-recommends /try/*.deb
    dpkg -s pewter | sed -n 's/^Depends: /depends: /p'
    run_program pewter
    # minbase leaves out manual pages, so the package itself is read
    dpkg -L pewter | grep -qx /usr/share/man/man1/pewter.1.gz || fail "no manual page"
    if [ -n "$(find /try -name "pewter-cuda*.deb")" ]; then
        pewter --version | grep -q '^cuda: plug-in /usr/lib/' || fail "the plug-in is not found"
    fi
    apt-get -q -y remove pewter
    [ ! -e /usr/bin/pewter ] || fail "removed, and still there"
    # shellcheck disable=SC2046 # names of packages
    apt-get -q -y purge $(comm -13 <(echo "$before") <(dpkg-query -W -f '${Package}\n' | sort))
    ;;
tarball)
    folder=$(echo /try/pewter-*/)
    run_program "${folder}bin/pewter"
    cp "${folder}bin/pewter" /tmp/alone # finds no files, and says so
    /tmp/alone -c 'train 1' || fail "it does not run alone"
    /tmp/alone -c 'pe kerple_log' 2>&1 | grep -q 'copied without share/pewter' || fail "alone it does not say where its files are"
    rm -r "$folder"
    ;;
*) fail "no word '$1'" ;;
esac

left=$(comm -13 /tmp/before <(list_files) | grep -vE "^$state(\$|/)" || true)
[ -z "$left" ] || fail "left: $left"
left=$(find "$state" -type f | grep -v "^$state/state/pewter/" || true)
[ -z "$left" ] || fail "left: $left"
echo 'try: passed'
