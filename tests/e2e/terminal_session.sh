# The terminal goes away, or somebody asks the program to end, while it trains: the session is closed as by `quit`, and
# everything in it can be done again.
. "$(dirname "$0")/lib.sh"

# ended: the newest session has come to an end of its own, and is verified.
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
    wait_exit 10
    APP_PID=
    ended "$how"
done
