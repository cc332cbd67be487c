# doctor.sh - pewter doctor: one screen about this machine, with a problem on a line that begins with "! ". A missing
# locale, unsuitable terminals and folders are found, and the workbench uses UTF-8 where the terminal asks for it.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
export HOME=$WORK/home
mkdir -p "$HOME"
unset LC_ALL LC_CTYPE NO_COLOR COLORTERM PEWTER_BACKEND_DIR

# doctor STATUS [NAME=VALUE...]: runs it without a terminal, keeps its lines in `out`, and checks their form.
doctor() {
    local status=$1 got
    shift
    env "$@" "$PEWTER" doctor >out 2>err </dev/null
    got=$?
    [ $got -eq "$status" ] || fail "$*: status $got: $(cat out err)"
    [ -s err ] && fail "$*: on standard error: $(cat err)"
    [ "$(wc -l <out)" -le 24 ] || fail "$*: more than 24 lines: $(cat out)"
    LC_ALL=C.UTF-8 grep -E '^.{81}' out && fail "$*: more than 80 columns"
    grep -vE '^(! )?[A-Za-z -]+: .' out && fail "$*: a line without a name and a value"
    grep -qx "problems: $(grep -c '^! ' out)" out || fail "$*: another number of problems: $(cat out)"
}
# shows PATTERN: fails unless a line matches.
shows() {
    grep -qE -- "$1" out || fail "no line '$1': $(cat out)"
}

# ---- everything that works
doctor 0 LANG=C.UTF-8 TERM=xterm-256color
grep -qxF "version: $("$PEWTER" --version | head -n 1)" out || fail "not the version of --version: $(cat out)"
shows '^locale: LANG=C.UTF-8, UTF-8$'
shows '^terminal: TERM=xterm-256color, size unknown; input no, output no$'
shows '^screen: no: .* not a terminal$'
shows '^colours: 256 '
shows '^glyphs: UTF-8 with Braille'
shows '^mouse: yes$'
shows '^processor: [1-9][0-9]* threads, (scalar|avx2|avx512)'
shows '^backend cpu: yes: fp32'
shows '^backend cuda: '
shows '^sessions: ~/.local/state/pewter/sessions, not made yet$'
shows '^space: 0 sessions, 0.0 MB; [0-9.]+ GB free on this disk$'
shows '^studies: ~/.local/state/pewter/studies, not made yet$'
shows '^settings: ~/.config/pewter/pewterrc, not there$'
shows '^encodings: 0 of your own in ~/.config/pewter/encodings$'
shows '^own files: [1-9][0-9]* lessons, [1-9][0-9]* encodings; '
shows '^figures: SVG'
shows '^Slurm: '
[ -e "$XDG_STATE_HOME" ] && fail "it makes folders"

"$PEWTER" --session one -c 'mark x' >/dev/null || fail "no session"
mkdir -p "$XDG_CONFIG_HOME/pewter/encodings"
echo 'set fps 20' >"$XDG_CONFIG_HOME/pewter/pewterrc"
doctor 0 LANG=C.UTF-8 TERM=xterm COLORTERM=truecolor
shows '^colours: true colour \(COLORTERM=truecolor, NO_COLOR=\)$'
shows '^sessions: ~/.local/state/pewter/sessions, writable$'
shows '^space: 1 session, [0-9.]*[1-9][0-9.]* MB; '
shows '^settings: ~/.config/pewter/pewterrc, there$'
rc=$XDG_CONFIG_HOME/pewter/pewterrc
for wrong in "fsp 20@no command 'fsp'" "train 5@train: only commands of the workbench are allowed here" 'bind "x@'; do
    printf '# mine\nset fps 20\n%s\n' "${wrong%@*}" >"$rc"
    doctor 1 LANG=C.UTF-8 TERM=xterm
    shows "^! settings: ~/.config/pewter/pewterrc, line 3: .*"
    "$PEWTER" --json doctor >out
    shows "\"settings\",\"value\":\"[^\"]*/pewterrc, line 3: .*${wrong#*@}"
done
rm "$rc"
mkdir "$rc"
doctor 1 LANG=C.UTF-8 TERM=xterm
shows '^! settings: ~/.config/pewter/pewterrc, .*directory'
rmdir "$rc"

# ---- the whole values as JSON
long=$WORK/$(printf 'long-%.0s' {1..30})/größe
env LANG=C.UTF-8 TERM=xterm "PEWTER_BACKEND_DIR=$long" "$PEWTER" --json doctor >out || fail "JSON: $(cat out)"
grep -vE '^\{"kind":"doctor","name":"[A-Za-z -]+","value":".+","problem":(true|false)\}$' out && fail "another form"
shows "\"backend cuda\",\"value\":\"no: no plug-in libpewter_cuda.so in $long\""
doctor 0 LANG=C.UTF-8 TERM=xterm "PEWTER_BACKEND_DIR=$long"
shows '^backend cuda: no: no plug-in libpewter_cuda.so in .*\.\.\..*/größe$'

# ---- locales
doctor 1 LANG=C TERM=xterm
shows '^! locale: LANG=C: ASCII only; set LC_ALL=C.UTF-8$'
shows '^glyphs: ASCII'
doctor 1 -u LANG TERM=xterm
shows '^! locale: no LC_ALL, LC_CTYPE, LANG: ASCII only; set LC_ALL=C.UTF-8$'
for missing in LANG=xx_XX.UTF-8 LC_CTYPE=UTF-8 LC_ALL=xx_XX.utf8@euro; do
    doctor 0 LANG=C "$missing" TERM=xterm
    shows "^locale: $missing is not installed; C.UTF-8 is used in its place$"
done
doctor 1 LANG=xx_XX.ISO-8859-1 TERM=xterm
shows '^! locale: LANG=xx_XX.ISO-8859-1 is not installed: ASCII only; set LC_ALL=C.UTF-8$'
doctor 0 LANG=C.UTF-8 LC_TIME=xx_XX.UTF-8 TERM=xterm
shows '^locale: LANG=C.UTF-8, UTF-8$'

# ---- terminals
doctor 0 LANG=C.UTF-8 TERM=dumb
shows '^terminal: TERM=dumb, '
shows '^colours: none '
shows '^mouse: no$'
doctor 0 LANG=C.UTF-8 TERM=linux
shows '^glyphs: ASCII and boxes, for the Linux console'
shows '^mouse: no$'
doctor 1 LANG=C.UTF-8 TERM=no-such-terminal
shows '^! terminal: TERM=no-such-terminal is not described here; set TERM=xterm-256color$'

# ---- folders
doctor 1 -u HOME -u XDG_STATE_HOME LANG=C.UTF-8 TERM=xterm
shows '^! sessions: no folder: neither XDG_STATE_HOME nor HOME is set$'
touch file
doctor 1 "XDG_STATE_HOME=$WORK/file" LANG=C.UTF-8 TERM=xterm
shows "^! sessions: can't be written: .*file: Not a directory$"
mkdir read-only
chmod 500 read-only
if [ ! -w read-only ]; then # root writes there all the same
    doctor 1 "XDG_STATE_HOME=$WORK/read-only" LANG=C.UTF-8 TERM=xterm
    shows "^! sessions: can't be written: .*only: Permission denied$" # a long path is cut in its middle
fi
cp "$PEWTER" alone
installed=$PEWTER
PEWTER=$WORK/alone
doctor 1 LANG=C.UTF-8 TERM=xterm
shows '^! own files: no lessons or encodings; copy share/pewter of its package, too$'
for line in 'pe kerple_log' 'task text'; do # a binary that was copied alone says where the rest is
    "$PEWTER" -c "$line" >out 2>&1 && fail "$line: works without files"
    shows '; this program was copied without share/pewter of its package, which has more$'
done
mkdir -p share/pewter/encodings bin
cp alone bin/pewter
"$PWD/bin/pewter" -c 'pe kerple_lo' >out 2>&1 && fail "an unknown encoding is accepted"
grep -q 'copied without' out && fail "the folder is there: $(cat out)"
PEWTER=$installed

# ---- on a terminal: one screen, and what it says about glyphs is what the workbench draws
shell 80x24 LANG=xx_XX.UTF-8 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
pewter doctor
wait_for '^status=0'
wait_for '^screen: yes$'
wait_for '^terminal: TERM=tmux-256color, 80 columns, 24 rows; input yes, output yes$'
workbench --no-session
wait_for '│'
literal ': mark größe'
wait_for 'mark größe'
keys Enter
wait_for 'größe'
shell 80x24 TERM=linux "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
pewter --no-session
wait_for 'q quit' # this terminal has no second screen
screen | LC_ALL=C.UTF-8 sed 's/[─│┌┐└┘├┤┬┴┼═║╔╗╚╝]//g' | LC_ALL=C grep -aq '[^ -~]' && fail "more than ASCII and boxes on the Linux console"
screen_has '╔═' || fail "no boxes on the Linux console"
command_line 'set marker ascii'
wait_for '#='
screen | LC_ALL=C grep -aq '[^ -~]' && fail "more than ASCII"
command_line 'set marker braille'
wait_for '┏'

# ---- usage
"$PEWTER" doctor now >out 2>&1 && fail "a word too many"
grep -q "'now': too many words" out || fail "$(cat out)"
exit 0
