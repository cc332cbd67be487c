# terminal_session.sh - the terminal disappears, or a signal ends the program, during training. The session must be
# closed as by `quit`, and all of it must re-run.
. "$(dirname "$0")/lib.sh"

# ended: checks that the newest session has a regular end, and verifies it.
ended() {
    local name
    name=$(env -i "HOME=$WORK/home" "$PEWTER" sessions 2>/dev/null | sed -n 2p)
    case $name in
    *"(not ended)"* | '') fail "$1: not ended: $name" ;;
    esac
    env -i "HOME=$WORK/home" "$PEWTER" replay "${name%% *}" --verify >"$WORK/out" 2>&1 || fail "$1: $(cat "$WORK/out")"
    grep -q '^equal: ' "$WORK/out" || fail "$1: $(cat "$WORK/out")"
    rm -rf "$WORK/home/.local"
}

for how in terminal TERM HUP; do
    shell 80x24
    workbench --threads 1
    command_line "task copy lengths=1..3 alphabet=4 test=4..5"
    wait_for "copy"
    command_line "train 1000000"
    wait_for "TRAIN"
    if [ $how = terminal ]; then
        t kill-server
    else
        kill -s "$how" "$APP_PID"
    fi
    wait_exit
    APP_PID=
    ended "$how"
done
