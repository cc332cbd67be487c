# lib.sh - drives the built program in tmux like a user at a keyboard, and inspects the screen.
#
# usage, in a script that is called with the program's path:  . "$(dirname "$0")/lib.sh"
#
# Each script has a tmux server of its own, on its own socket; it is killed at the end. A shell runs in it, so
# that tests can check the state after the program ends (terminal modes, exit status). Nothing sleeps for a
# fixed time: every function waits for the expected state.

set -u
PEWTER=$(realpath "$1")
PROGRAM=$(printf %q "$PEWTER") # quoted for typing: the path may contain blanks
PATIENCE=${PATIENCE:-60} # seconds until an expected state counts as missing; a busy machine takes many times as long
PROMPT='ready>'          # of the shell

command -v tmux >/dev/null || {
    echo "skipped: tmux is not installed"
    exit 77
}

WORK=$(mktemp -d /tmp/pewter-e2e-XXXXXX)
export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config # no files of the user
SOCKET=$WORK/tmux.0
SHELLS=0

t() {
    tmux -S "$SOCKET" -f /dev/null "$@"
}

cleanup() {
    t kill-server 2>/dev/null
    [ -n "${APP_PID:-}" ] && kill -KILL "$APP_PID" 2>/dev/null
    rm -rf "$WORK"
}
trap cleanup EXIT

fail() {
    echo "FAILED: $*"
    echo "---- the screen:"
    screen
    echo "----"
    exit 1
}

# shell COLSxROWS [NAME=VALUE...]: starts a fresh terminal and a shell with these variables, and with the settings of a
# sanitizer.
shell() {
    local size=$1
    shift
    t kill-server 2>/dev/null
    SHELLS=$((SHELLS + 1))
    SOCKET=$WORK/tmux.$SHELLS # the old server may still be shutting down
    mkdir -p "$WORK/home"
    for set in TSAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS; do
        [ -z "${!set:-}" ] || set -- "$@" "$set=${!set}"
    done
    t new-session -d -x "${size%x*}" -y "${size#*x}" \
        env -i "HOME=$WORK/home" "PATH=$PATH" TERM=tmux-256color LANG=C.UTF-8 HISTFILE= "PS1=$PROMPT " "$@" \
        bash --noprofile --norc -i ||
        fail "tmux does not start"
    t set-option -g remain-on-exit on >/dev/null
    wait_for "^$PROMPT"
}

# pewter [ARGUMENT...]: starts the program in the shell; APP_PID is its process.
pewter() {
    rm -f "$WORK/pid"
    # exec in a separate shell, so that the process id is known before the program runs
    line "clear; sh -c 'echo \$\$ >$WORK/pid.new; mv $WORK/pid.new $WORK/pid; exec \"\$0\" \"\$@\"' $PROGRAM $*; echo status=\$?"
    until_true "the program starts" test -s "$WORK/pid"
    APP_PID=$(cat "$WORK/pid")
}

# workbench [ARGUMENT...]: like pewter, and waits until the workbench is drawn.
workbench() {
    pewter "$@"
    until_true "the workbench takes the screen" flag_is alternate_on 1
    wait_for pewter
}

# keys KEY...: sends keys by their tmux names.  line TEXT: sends the literal text, then Enter.
keys() {
    t send-keys "$@"
}
literal() {
    t send-keys -l -- "$1"
}
line() {
    literal "$1"
    keys Enter
}

# command_line TEXT: types it at the workbench's prompt.
command_line() {
    keys :
    literal "$1"
    wait_for "^:$1"
    keys Enter
}

# paste TEXT: pastes like a terminal, with brackets if the program has enabled bracketed paste.
paste() {
    t set-buffer -- "$1"
    t paste-buffer -p
}

resize() {
    t resize-window -x "${1%x*}" -y "${1#*x}"
}

screen() {
    t capture-pane -p 2>/dev/null
}
screen_colors() {
    t capture-pane -pe 2>/dev/null
}

# until_true WHAT COMMAND...: waits until the command succeeds.
until_true() {
    local what=$1 end=$((SECONDS + PATIENCE))
    shift
    until "$@"; do
        [ $SECONDS -le $end ] || fail "not seen: $what"
        sleep 0.02
    done
}

screen_has() {
    screen | grep -aqE -- "$1"
}
screen_lacks() {
    ! screen_has "$1"
}
screen_repeats() {
    [ "$(screen | grep -acE -- "$1")" -ge 2 ]
}
# wait_for PATTERN, wait_gone PATTERN: extended regular expressions, matched line by line.
wait_for() {
    until_true "$1" screen_has "$1"
}
wait_gone() {
    until_true "the screen without $1" screen_lacks "$1"
}

# True if the drawing fits the terminal: the workbench's line of keys is the second to last row.
hints_in_their_row() {
    screen | tail -n 2 | head -n 1 | grep -aq 'q quit'
}

# flag NAME: prints a format variable of tmux(1), e.g. alternate_on, cursor_flag, mouse_any_flag, cursor_x.
flag() {
    t display-message -p "#{$1}"
}
flag_is() {
    [ "$(flag "$1")" = "$2" ]
}

# True if the program has ended. Its status may not have been read yet.
gone() {
    ! grep -q '^State:[^Z]*$' "/proc/$APP_PID/status" 2>/dev/null
}
# wait_exit: fails unless the program ends.
wait_exit() {
    until_true "the end of process $APP_PID" gone
}

# assert_terminal_is_back: checks that every terminal mode of the program is off, and that the shell works.
assert_terminal_is_back() {
    wait_for "^status="
    wait_for "^$PROMPT"
    until_true "the main screen" flag_is alternate_on 0
    flag_is cursor_flag 1 || fail "the cursor is hidden"
    flag_is mouse_any_flag 0 || fail "the mouse is still reported"
    flag_is keypad_flag 0 || fail "the keypad is in application mode"
    keys C-u
    line "clear; stty -a | tr ' ;' '\\n\\n' | grep -xE '(icanon|echo|isig|icrnl|opost)' | sort | paste -sd ,"
    wait_for "^echo,icanon,icrnl,isig,opost$"
    # If bracketed paste were still on, cat would receive the brackets. (bash enables it only for itself.)
    line "clear; echo reading; cat -v"
    wait_for "^reading"
    paste "plain text"
    wait_for "^plain text"
    keys Enter
    until_true "the line again, from cat" screen_repeats "^plain text" # so it has begun, and a key can end it
    screen_has '200~' && fail "bracketed paste is still on"
    keys C-d
    wait_for "^$PROMPT"
}
