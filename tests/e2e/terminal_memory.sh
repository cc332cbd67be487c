# terminal_memory.sh - memory runs out while the workbench runs: it restores the terminal, prints one line, and ends
# with status 1.
. "$(dirname "$0")/lib.sh"

shim=$(dirname "$PEWTER")/tests/libfaults_shim.so # built by tests/faults
[ -f "$shim" ] || {
    echo "skipped: sanitizers have allocating functions of their own"
    exit 77
}
# Enough for a screen; training, which allocates an event a step, exhausts it.
ln -s "$shim" "$WORK/shim.so" # LD_PRELOAD can't hold a path with a blank
PROGRAM="env LD_PRELOAD=$WORK/shim.so PEWTER_FAIL_ON=1 PEWTER_FAIL_AT=60000 $PROGRAM"
shell 80x24
workbench
command_line "model width=8 heads=1 layers=1"
command_line "train 1000000000"
wait_for "^pewter: out of memory: cannot allocate [0-9]+ bytes$"
wait_for "^status=1$"
assert_terminal_is_back
