#!/usr/bin/env bash
# old_sessions.sh - sessions of released versions open in this one: they are shown, pass the check, re-run to the same
# bits, and continue. Each release adds its own: session-VERSION.pwt.gz, made as docs/sessions.md describes, and the
# digest of its last weights below.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-old-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state

fail() {
    echo "FAILED: $*"
    exit 1
}

old() { # VERSION DIGEST: checks a session that ends at step 50
    local file=$WORK/$1.pwt said
    gzip -dc "$PEWTER_SOURCE_DIR/tests/golden/session-$1.pwt.gz" >"$file" || fail "$1: cannot be unpacked"
    said=$("$PEWTER" replay "$file" --json 2>&1) || fail "$1: not shown: $said"
    [ "$(grep -c '"kind":"step"' <<<"$said")" -eq 50 ] || fail "$1: not 50 steps"
    grep -q '"kind":"mark".*half way' <<<"$said" || fail "$1: its mark is not there"
    said=$("$PEWTER" replay "$file" --verify 2>&1) || fail "$1: $said"
    grep -q '^equal: .*50 steps' <<<"$said" || fail "$1: $said"
    "$PEWTER" session unpack "$file" -o "$1" >/dev/null || fail "$1: not unpacked"
    said=$("$PEWTER" --session "$1" -c 'digest; train 5; digest') || fail "$1: does not continue"
    grep -q "step 50  digest $2" <<<"$said" || fail "$1: other weights: $said"
    grep -q 'step 55  digest' <<<"$said" || fail "$1: does not train on: $said"
    "$PEWTER" replay "$1" --verify >/dev/null || fail "$1: continued, it is not the same again"
}

old 0.1 133a128cd0a222367247bae289b900c7
echo "old sessions open, verify and continue"
