# session_script.sh - tests a session as a script: its text, and that running it ends in the same bits. Some lines were
# typed in the middle of a round of training.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config
mkdir -p "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
cd "$WORK" || exit 1
MODEL='seed 1; model tiny layers=1 width=32'

# same_bits NAME: the exported script of a session must give its digests.
same_bits() {
    "$PEWTER" replay "$1" -c "export session $1.pewter" >/dev/null || fail "export session of $1"
    "$PEWTER" --session "$1" -c 'digest' >"$1.want" || fail "digest of $1"
    { cat "$1.pewter" && echo digest; } | "$PEWTER" run - >"$1.got" || fail "the script of $1 fails: $(cat "$1.pewter")"
    diff <(grep ' digest ' "$1.want") <(grep ' digest ' "$1.got") >"$1.diff" || fail "other bits: $(cat "$1.pewter" "$1.diff")"
}

# ---- the text of the script
"$PEWTER" --session plain -c "$MODEL; race none,alibi; train 20; pe t5; train until loss=9; arm add rotary; train 5
    set threads 1; arm 3; mark it's; checkpoint; prompt sort 3 1 2; reset arm=2; train 2; train until step=3 arm=1; nix" \
    >/dev/null 2>&1
same_bits plain
grep -v '^#' plain.pewter | tail -n +2 >lines
diff lines - <<'END' || fail "another script: $(cat plain.pewter)"
seed 1
model tiny layers=1 width=32
race none,alibi
train until step=20
pe t5
train until step=21
arm add rotary
train until step=26 arm=1
train until step=26 arm=2
train until step=5 arm=3
arm 3
mark it's
prompt sort 3 1 2
reset arm=2
train until step=28 arm=1
train until step=2 arm=2
train until step=7 arm=3
END
grep -qx '# train until loss=9' plain.pewter || fail "the requested goal is missing:  $(cat plain.pewter)"
grep -qx '# train until step=3 arm=1  # failed: arm 1 has reached this goal.*' plain.pewter || fail "no failure: $(cat plain.pewter)"
head -n 1 plain.pewter | grep -q '^# The session plain, recorded since 20[0-9-]*, as a script' || fail "no head"

# ---- lines typed during training
shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
line "$PROGRAM --plain --session typed"
wait_for '^> *$'
for typed in "$MODEL; race none,alibi,t5 seeds=3 batches=own" 'train 100000' 'pe rotary' 'arm 2' 'fork none' 'optim lr=0.002' \
    'ablate 0.1' 'pe nix' 'arm drop 3' 'pe alibi' pause 'step 3' stop 'mark the end'; do
    line "$typed"
    sleep 0.05 # train for a moment; the step doesn't matter
done
wait_for 'mark: the end'
line quit
wait_for "^$PROMPT"
same_bits typed
grep -q ' replica=[12]$' typed.pewter || fail "no line was typed in the middle of a round:  $(cat typed.pewter)"
exit 0
