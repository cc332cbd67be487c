# lib_files.sh - for scripts that run the program without a terminal and look at what it writes.
#
# usage:  . "$(dirname "$0")/lib_files.sh"    The script then stands in an empty folder, which is gone at the end; what
# the program said is kept in out and err, and at the script's end $failed says how it went.

# shellcheck disable=SC2034 # PEWTER and failed are for the scripts
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-files-XXXXXX)
export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config # nothing of the user's
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

failed=0
# check WHAT COMMAND...: the command must succeed.
check() {
    local what=$1
    shift
    "$@" || {
        echo "FAILED: $what"
        [ ! -e out ] || echo "  stdout: $(head -c 600 out)"
        [ ! -e err ] || echo "  stderr: $(head -c 600 err)"
        failed=1
    }
}
