#!/usr/bin/env bash
# opening.sh - opens a session or a model from a slow disk: the screen, or a line on standard error, says at once what is
# read, q and Ctrl-C leave, what is typed ahead is kept, and a signal ends the program. The session stays as it is.
#
# usage: opening.sh PEWTER SHIM
. "$(dirname "$0")/../e2e/lib.sh"

cd "$WORK" || exit 1
ln -s "$(realpath "$2")" slow.so # LD_PRELOAD can't hold a path with a blank
"$PEWTER" --session "$WORK/s.pewter" -c 'model tiny; train 20; checkpoint; digest' >out 2>&1 || fail "$(cat out)"
before=$(grep -o 'digest .*' out)

slow() { # slow MILLISECONDS: the program reads so slowly from now on
    printf '#!/bin/sh\nexec env LD_PRELOAD="%s" PEWTER_SLOW_READ=%s "%s" "$@"\n' "$WORK/slow.so" "$1" "$PEWTER" >"$WORK/slow"
    chmod +x "$WORK/slow"
    PROGRAM=$(printf %q "$WORK/slow")
}
same() { # the session opens, and has the weights that it had
    "$PEWTER" --session "$WORK/s.pewter" -c digest >out 2>&1 || fail "$(cat out)"
    [ "$(grep -o 'digest .*' out)" = "$before" ] || fail "other weights: $(cat out)"
}

shell 100x30
slow 4000
for key in q C-c; do
    pewter "$WORK/s.pewter"
    wait_for '^ *opening .*s\.pewter: reading a checkpoint, 0 of 1 MB$'
    wait_for '^ *q or Ctrl-C leaves; the session stays as it is$'
    keys "$key"
    wait_for ': leaving$'
    wait_for '^status=0$'
    assert_terminal_is_back
    same
done

pewter "$WORK/s.pewter"
wait_for 'reading a checkpoint'
kill -TERM "$APP_PID"
wait_for '^status=143$'
assert_terminal_is_back
same

slow 1500
pewter "$WORK/s.pewter"
wait_for 'reading a checkpoint'
literal ':mark typed ahead'
keys Enter
wait_for 'q quit'
wait_for 'typed ahead'
keys q
wait_for '^status=0$'
assert_terminal_is_back
same

# ---- without a screen: one line that is repainted where standard error is a terminal, and nothing elsewhere
slow 1500
pewter --session "$WORK/s.pewter" -c digest
wait_for '^opening .*s\.pewter: reading a checkpoint, 0 of 1 MB'
wait_for '^status=0$'
screen | grep -q 'reading a checkpoint' && fail "progress is still there"
pewter --session "$WORK/s.pewter" -c digest
wait_for 'reading a checkpoint'
kill -TERM "$APP_PID"
wait_for '^status=143$'
same
pewter --session "$WORK/s.pewter" -c digest '2>err'
wait_for '^status=0$'
[ ! -s err ] || fail "progress in a file: $(cat err)"
slow 5500 # a line every five seconds
pewter --plain "$WORK/s.pewter"
wait_for '^opening .*s\.pewter: reading a checkpoint, 0 of 1 MB'
wait_for '^>'
keys C-d
wait_for '^status=0$'

# ---- a model of another program: 5.2 MB of zeros
mkdir m
echo '{"model_type": "llama", "vocab_size": 1024, "hidden_size": 256, "num_hidden_layers": 1, "num_attention_heads": 4,
"intermediate_size": 1024, "tie_word_embeddings": true, "max_position_embeddings": 64}' >m/config.json
at=0 header=
tensor() { # tensor NAME ROWS COLUMNS
    header+="${header:+,}\"model.$1.weight\":{\"dtype\":\"F32\",\"shape\":[$2$([ "$3" = 1 ] || echo ",$3")],\"data_offsets\":[$at,$((at + $2 * $3 * 4))]}"
    at=$((at + $2 * $3 * 4))
}
tensor embed_tokens 1024 256
for name in q_proj k_proj v_proj o_proj; do tensor layers.0.self_attn.$name 256 256; done
for name in gate_proj up_proj; do tensor layers.0.mlp.$name 1024 256; done
tensor layers.0.mlp.down_proj 256 1024
for name in norm layers.0.input_layernorm layers.0.post_attention_layernorm; do tensor $name 256 1; done
header="{$header}"
{
    printf "\\x$(printf %02x $((${#header} % 256)))\\x$(printf %02x $((${#header} / 256)))\\0\\0\\0\\0\\0\\0%s" "$header"
    head -c $at /dev/zero
} >m/model.safetensors

slow 500
pewter --no-session -c "'model from=m'"
wait_for '^loading the weights [0-9]*/5 MB \[#'
wait_for '^status=0$'
wait_for '^arm 1: 1 layers'
screen | grep -q '\[#' && fail "progress is still there"
pewter --no-session
wait_for 'q quit'
command_line 'model from=m'
wait_for '^ pewter .*loading the weights, [0-9]* of 5 MB .*%'
wait_for 'arm 1: 1 layers'
wait_for '^ pewter .*idle 0'
command_line quit
wait_for '^status=0$'
