#!/usr/bin/env bash
# foreign.sh - tests model from=PATH from the command line: notes, prompts, the task of numbers, several arms, and that
# a session re-runs and resumes the same bits, or says that the file is missing or has changed.
. "$(dirname "$0")/lib.sh"

GGUF=$PEWTER_SOURCE_DIR/tests/golden/gguf
cd "$WORK" || exit 1
said() { # said PATTERN: the output has such a line
    grep -Eq "$1" said || fail "no '$1' in: $(cat said)"
}
refused() { # refused COMMANDS PATTERN: they fail with one line
    "$PEWTER" -c "$1" >out 2>said && fail "'$1' does not fail"
    [ "$(wc -l <said)" = 1 ] || fail "more than one line: $(cat said)"
    said "$2"
}

mkdir m
cp "$GGUF/llama.gguf" m/
"$PEWTER" --session one -c 'model from=m/llama.gguf; prompt 2 7 22 17; train 3; eval samples=2; pe alibi; train 2' \
    >said 2>&1 || fail "$(cat said)"
said '^m/llama.gguf: llama, 13.2 k parameters, 52.9 kB of weights; files of 14.3 kB$'
said '^m/llama.gguf: sha256 [0-9a-f]{16}$'
said "^the task is now 'ids vocab=24'"
"$PEWTER" -c "model from=$GGUF/qwen3.gguf" >sixteen 2>&1 || fail "$(cat sixteen)"
grep -q 'kB of weights (16 bits, as in the file); files of ' sixteen || fail "no 16 bits: $(cat sixteen)"
said '^arm 1: 2 layers, width 32, context 64, encoding rotary base=500 dims=8 pairing=half; optim batch=1'
said '^prompt     #2 #7 #22 #17 $'
said '^continued  #'
said 'step 5: loss'
"$PEWTER" replay one --verify >said 2>&1 || fail "not equal: $(cat said)"
said '^equal: '
"$PEWTER" --session one -c 'train 2; digest' >said 2>&1 || fail "not resumed: $(cat said)"
said '^continues at step 5'

# ---- the file is gone, then another one has its name: the session resumes from its checkpoint, but is not re-run
mv m/llama.gguf m/moved.gguf
"$PEWTER" replay one --verify >said 2>&1 && fail "re-run without the file"
said 'm/llama.gguf: is missing, and the session has no copy of it'
"$PEWTER" --session one -c 'train 1; fork rotary; probe audit arm=1; probe audit arm=2' >said 2>&1 ||
    fail "not resumed: $(cat said)"
said 'layers 0-1: the file asks for rotary, base 500, interleaved pairs'
said 'layers 0-1: differs from the GGUF file in: rotated dimensions; first position; slope of head 0'
said 'layers 0-1: differs from the GGUF file in: last frequency; every frequency; base of first pairs'
cp "$GGUF/gpt2.gguf" m/llama.gguf
"$PEWTER" replay one --verify >said 2>&1 && fail "re-run with another file"
said 'm/llama.gguf: has changed since the session read it: its SHA-256 differs'

# ---- the audit of what runs
"$PEWTER" --session two -c 'model from=m/moved.gguf; probe audit; train 1; tune base=100; probe audit' >said 2>&1 ||
    fail "$(cat said)"
said 'layers 0-1: every value agrees with the GGUF file'
said 'base of first pairs +100 +500 +0.8 +no'
said 'trap: GGUF has the rows of q and k of llama in the order of pairs side by side'
"$PEWTER" replay two --verify >said 2>&1 || fail "not equal: $(cat said)"
"$PEWTER" -c 'pe rotary base=77; probe audit' >said 2>&1 || fail "$(cat said)"
said 'the model is from no file of another program, so there is nothing to compare with'
said 'base of first pairs +77$'

# ---- options that are left out have the encoding's defaults, which are not the model's
"$PEWTER" --no-session -c 'model from=m/moved.gguf; pe rope_yarn factor=2' >said 2>&1 || fail "$(cat said)"
said 'arm 1: base=10000, and was 500 before: base=500 keeps it'
"$PEWTER" --no-session -c 'model from=m/moved.gguf; export weights longer/' >said 2>&1 || fail "$(cat said)"
sed -i 's/"max_position_embeddings":[[:space:]]*64/"max_position_embeddings": 128/' longer/config.json
"$PEWTER" --no-session -c 'model from=longer context=64; pe rope_yarn factor=2' >said 2>&1 || fail "$(cat said)"
said "arm 1: trained=64, and the model's file states 128 positions: write trained=128"
"$PEWTER" --no-session -c 'model from=m/moved.gguf; pe rope_yarn factor=2 base=500 trained=32; pe none; pe alibi' >said 2>&1 || fail "$(cat said)"
grep -q 'and was\|states' said && fail "a note about options that are given: $(cat said)"

# ---- several arms, contexts, errors
"$PEWTER" -c "task ids vocab=24; arm add alibi; model from=m/moved.gguf context=32 arm=2; model from=$GGUF/qwen3.gguf arm=1
prompt 3 4" >said 2>&1 || fail "$(cat said)"
said '^arm 2: 2 layers, width 32, context 32'
said '^arm 1: 1 layers, width 16, context 64'
refused 'arm add alibi; model from=m/moved.gguf' "the file's vocabulary has 24 tokens, the task's 14: run 'task ids vocab=24' first"
refused 'model from=m/none' 'm/none: there is no such file or folder'
refused 'model from=m' 'm: no model.safetensors and no model.safetensors.index.json'
refused 'model from=m/moved.gguf layers=3' "'layers' beside from="
refused 'model tiny from=m/moved.gguf' "'tiny' beside from="
refused 'model from=m/moved.gguf context=9' 'the longest sample has 16 positions, this model reads 9'
refused "model from=$GGUF/gpt2.gguf context=65" 'has the shape \[64,16\]; the config needs \[65,16\]'
head -c 3000 m/moved.gguf >m/short.gguf
refused 'model from=m/short.gguf' 'm/short.gguf: the file is truncated'

# ---- out again: a folder with the same parameters, also from a resumed session
digest_of() { # digest_of COMMANDS: the last digest that they print
    "$PEWTER" -c "$1; digest" 2>&1 | sed -n 's/^arm 1 .* digest //p' | tail -n 1
}
"$PEWTER" --session two -c 'model from=m/moved.gguf; export weights back/; digest' >said 2>&1 || fail "$(cat said)"
said '^wrote back/$'
cmp <(printf '%s\n' config.json model.safetensors) <(ls back) || fail "other files: $(ls back)"
[ "$(sed -n 's/^arm 1 .* digest //p' said)" = "$(digest_of 'model from=back')" ] || fail "the folder has other parameters"
"$PEWTER" replay two --verify >said 2>&1 || fail "not equal: $(cat said)"
"$PEWTER" --session two -c 'train 2; export weights later/; digest' >said 2>&1 || fail "$(cat said)"
[ "$(sed -n 's/^arm 1 .* digest //p' said)" = "$(digest_of 'model from=later')" ] || fail "resumed: other parameters"
echo '{}' >back/tokenizer_config.json
"$PEWTER" -c 'model from=back; export weights copy' >said 2>&1 && fail "a path that is neither a file nor a folder"
said "'copy': the file name must end in .safetensors or, of a folder, in /"
"$PEWTER" -c 'model from=back; export weights copy/' >said 2>&1 || fail "$(cat said)"
cmp back/tokenizer_config.json copy/tokenizer_config.json || fail "the tokenizer is not copied"
refused 'model from=back; export weights back/' 'back/: the model was read from this folder; write it to another one'
refused 'model from=back; pe alibi; export weights no/' "a config of llama can't express the encoding 'alibi'"
refused 'model from=back; export weights no/ moments=on' 'a folder for transformers has no moments'
refused 'model tiny; export weights no/' "arm 1 did not come from 'model from=PATH'"
refused 'model from=back; model layers=1; export weights no/' "arm 1 did not come from 'model from=PATH'"
[ ! -e no ] || fail "a refused export leaves a folder"

# ---- the source is gone: weights and config.json are the same, and a note says what is missing
for source in m/gone.gguf gone; do
    cp m/moved.gguf m/gone.gguf
    cp -r back gone
    "$PEWTER" --session "kept-$(basename $source)" -c "model from=$source; train 1; export weights one/" >said 2>&1 || fail "$(cat said)"
    rm -r $source
    "$PEWTER" --session "kept-$(basename $source)" -c 'export weights two/; pe rope_pi base=500 factor=2; export weights two/' >said 2>&1 ||
        fail "$source: $(cat said)"
    said "^export weights: $source is missing: config.json is that which the model keeps, and no tokenizer is written$"
    grep -q '"linear"' two/config.json || fail "no scaling: $(cat two/config.json)"
    "$PEWTER" --session "kept-$(basename $source)" -c 'pe rotary base=500; export weights two/' >said 2>&1 || fail "$(cat said)"
    cmp one/model.safetensors two/model.safetensors || fail "$source: other weights"
    cmp <(tr -d , <one/config.json | sort) <(tr -d , <two/config.json | sort) || fail "$source: another config.json"
    rm -rf one two gone
done

# ---- a model by its name in Hugging Face's cache, whose files are links
mkdir -p hub/models--org--tiny/{refs,blobs,snapshots/c0ffee} hub/models--lost/refs hub/models--one/snapshots/beef
for file in config.json model.safetensors; do
    cp "back/$file" "hub/models--org--tiny/blobs/$file"
    ln -s "../../blobs/$file" "hub/models--org--tiny/snapshots/c0ffee/$file"
done
printf c0ffee >hub/models--org--tiny/refs/main
printf dead >hub/models--lost/refs/main
cp m/moved.gguf hub/models--one/snapshots/beef/some.gguf
unset HF_HUB_CACHE HF_HOME XDG_CACHE_HOME
for setting in "HF_HUB_CACHE=$PWD/hub" "HF_HOME=$WORK" "XDG_CACHE_HOME=$PWD/cache" "HOME=$PWD/user"; do
    mkdir -p cache/huggingface user/.cache/huggingface
    ln -sfn "$PWD/hub" cache/huggingface/hub
    ln -sfn "$PWD/hub" user/.cache/huggingface/hub
    env "$setting" "$PEWTER" -c 'model from=org/tiny' >said 2>&1 || fail "$setting: $(cat said)"
    said 'hub/models--org--tiny/snapshots/c0ffee: llama, 13.2 k parameters'
done
export HF_HUB_CACHE=$PWD/hub HOME=$PWD/user
"$PEWTER" -c 'model from=one' >said 2>&1 || fail "$(cat said)"
said 'hub/models--one/snapshots/beef/some.gguf: llama'
refused 'model from=org/none' "org/none: there is no such file or folder, and no model of this name in the Hugging Face cache \($PWD/hub, $PWD/user/.cache/huggingface/hub\)"
refused 'model from=lost' "lost: refs/main of '.*hub/models--lost' names dead, which snapshots lacks"
rm hub/models--org--tiny/refs/main
mkdir hub/models--org--tiny/snapshots/other
refused 'model from=org/tiny' "has no refs/main, and not one snapshot"

# ---- a relative path also counts from the folder in which the session was recorded; the content decides
cd "$WORK" || exit 1
printf 'to be or not to be, that is the question\n%.0s' {1..40} >words.txt
"$PEWTER" --session far -c "model from=m/moved.gguf; prompt 3 4; digest" >said 2>&1 || fail "$(cat said)"
far=$(sed -n 's/^arm 1 .* digest //p' said)
"$PEWTER" --session words -c 'task text path=words.txt lengths=8; train 1' >said 2>&1 || fail "$(cat said)"
mkdir -p elsewhere/m nowhere
cp "$GGUF/gpt2.gguf" elsewhere/m/moved.gguf # another model of the same path
more='export weights back/;'
for place in nowhere elsewhere; do
    cd "$WORK/$place" || exit 1
    "$PEWTER" --session far -c "tune base=700; tune base=500; $more digest" >said 2>&1 ||
        fail "$place: $(cat said)"
    [ "$(sed -n 's/^arm 1 .* digest //p' said)" = "$far" ] || fail "$place: other weights: $(cat said)"
    "$PEWTER" --session words -c 'train 1; eval samples=1' >said 2>&1 || fail "$place: $(cat said)"
    more=
done
cd "$WORK/nowhere" || exit 1
for session in far words; do
    "$PEWTER" replay "$session" --verify >said 2>&1 || fail "not equal: $(cat said)"
done
mv "$WORK/m/moved.gguf" "$WORK/m/away.gguf"
rm "$WORK/elsewhere/m/moved.gguf"
"$PEWTER" --session far -c digest >said 2>&1 && fail "opened without the file"
said "the session needs m/moved.gguf \(SHA-256 .*\): there is no such file in $WORK/nowhere or $WORK or $WORK/elsewhere$"
[ "$(wc -l <said)" = 1 ] || fail "more than one line: $(cat said)"
