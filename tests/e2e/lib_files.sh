# lib_files.sh - for scripts that run the program without a terminal and check the files that it writes.
#
# usage:  . "$(dirname "$0")/lib_files.sh"
#
# The script then runs in an empty folder, which is deleted at the end. Scripts keep the program's output in
# out and err. At the end of a script $failed is its exit status.

# shellcheck disable=SC2034 # PEWTER and failed are for the scripts
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-files-XXXXXX)
export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config # no files of the user
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

failed=0
# check WHAT COMMAND...: records a failure unless the command succeeds.
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
