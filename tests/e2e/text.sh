#!/usr/bin/env bash
# text.sh - tests running text from the command line: what is said of it, loss by context length, and that a session
# re-runs and resumes the same bits, whether or not its text is still there.
. "$(dirname "$0")/lib.sh"

SHIPPED=$PEWTER_SOURCE_DIR/texts/chronicle.txt
cd "$WORK" || exit 1
said() { # said PATTERN: the output has such a line
    grep -Eq "$1" said || fail "no '$1' in: $(cat said)"
}

# ---- the program's own text is what its script writes
if command -v python3 >/dev/null; then
    python3 "$PEWTER_SOURCE_DIR/texts/chronicle.py" | cmp - "$SHIPPED" || fail "texts/chronicle.py writes another text"
fi
[ "$(wc -c <"$SHIPPED")" -le 300000 ] || fail "the shipped text has more than 300 kB"

# ---- a small file: the session has a copy
cp "$SHIPPED" mine.txt
LINES_OF="model tiny layers=1 width=16 heads=2 context=64; task text path=mine.txt lengths=16 test=17..64"
"$PEWTER" --session small -c "$LINES_OF; train 40; eval samples=8; prompt In the year; export lengths l.csv" >said 2>&1 ||
    fail "$(cat said)"
said '^text: mine.txt: 240033 bytes, 1 document, 240033 tokens: bytes$'
said '^text: the first 216030 tokens are for training; the last 24003 are held out'
said 'text: nats per token \(perplexity\) by context, 8 samples each'
said '^ +16  [0-9.]+ \([0-9.]+\) +20\+'
said 'beyond the trained 16..16'
head -1 l.csv | grep -q 'token_accuracy,loss,perplexity$' || fail "l.csv has no loss: $(head -1 l.csv)"
echo 'and then' >>mine.txt
"$PEWTER" replay small --verify >said 2>&1 || fail "a changed text breaks the re-run: $(cat said)"
said '^equal: '
"$PEWTER" --session small -c 'train 10; eval samples=8' >said 2>&1 || fail "not resumed: $(cat said)"
"$PEWTER" replay small --verify >said 2>&1 || fail "not equal after resuming: $(cat said)"

# ---- a folder: the session has its SHA-256
mkdir folder
for i in 1 2 3 4 5 6 7 8 9 10 11; do sed "s/Alda/Alda$i/" "$SHIPPED" | head -c 3000 >"folder/$i.txt"; done
"$PEWTER" --session mapped -c "${LINES_OF/mine.txt/folder}; train 20; eval samples=4" >said 2>&1 || fail "$(cat said)"
said '^text: 10 documents \(30000 tokens\) are for training; 1, chosen by their SHA-256'
"$PEWTER" replay mapped --verify >said 2>&1 || fail "not equal: $(cat said)"
"$PEWTER" --session mapped -c 'train 5' >said 2>&1 || fail "not resumed: $(cat said)"
echo x >>folder/3.txt
"$PEWTER" replay mapped --verify >said 2>&1 && fail "another folder verifies"
said 'text: folder: has changed since the session read it'
# as with every recording that can't be followed, a new session begins where the re-run differs
"$PEWTER" --session mapped -c 'train 5' >said 2>&1
said 'text: folder is not the text that sha=[0-9a-f]{16} names'
said '^continues as a new session'
rm -r folder
"$PEWTER" replay mapped --verify >said 2>&1 && fail "a missing folder verifies: $(cat said)"
said 'text: folder: is missing, and the session has no copy of it'

# ---- an untrained model has no trained lengths, and a prompt by file can be longer than a line
"$PEWTER" -c "${LINES_OF/mine.txt/$SHIPPED}; eval samples=4" >said 2>&1 || fail "$(cat said)"
said '^  not trained here$'
head -c 5000 "$SHIPPED" >prompt.txt
"$PEWTER" --session prompt -c "${LINES_OF/context=64/context=5100}; prompt path=prompt.txt" >said 2>&1 || fail "$(cat said)"
rm prompt.txt
"$PEWTER" replay prompt --verify >said 2>&1 || fail "a re-run needs the prompt's file: $(cat said)"
said '^equal: '

# ---- without path= it is the program's own
"$PEWTER" -c "${LINES_OF/path=mine.txt /}; train 5; prompt The ↵" >said 2>&1 || fail "$(cat said)"
said '^prompt     The·↵$'
said '^continued  .'

# ---- the pieces of a tokenizer: the session has a copy of its file, too
cp "$SHIPPED" mine.txt
cp "$PEWTER_SOURCE_DIR/tests/golden/tokenizers/gpt2.json" pieces.json
"$PEWTER" --session pieces -c "${LINES_OF/mine.txt/mine.txt tokens=pieces.json}; train 40; eval samples=8
    prompt In the year; model; table" >said 2>&1 || fail "$(cat said)"
said '^text: mine.txt: 240033 bytes, 1 document, [0-9]+ tokens of 2[.][0-9]+ bytes: 480 pieces of pieces.json$'
said 'text: nats per token \(perplexity\) by context, 8 samples each'
said '^prompt     In·the·year$'
said '^continued  .'
mv pieces.json other.json
"$PEWTER" replay pieces --verify >said 2>&1 || fail "a missing tokenizer breaks the re-run: $(cat said)"
said '^equal: '
"$PEWTER" --session pieces -c 'train 10; eval samples=8' >said 2>&1 || fail "not resumed: $(cat said)"
"$PEWTER" replay pieces --verify >said 2>&1 || fail "not equal after resuming: $(cat said)"
"$PEWTER" -c "task text path=mine.txt tokens=pieces.json" >said 2>&1 && fail "a missing tokenizer is no error"
said 'text: tokens=pieces.json: cannot open: No such file'

# A large tokenizer: the session has its SHA-256.
{
    cat other.json
    head -c 4300000 /dev/zero | tr '\0' ' '
} >large.json
"$PEWTER" --session large -c "${LINES_OF/mine.txt/mine.txt tokens=large.json}; train 10" >said 2>&1 || fail "$(cat said)"
"$PEWTER" --session large -c 'train 5' >said 2>&1 || fail "not resumed: $(cat said)"
"$PEWTER" replay large --verify >said 2>&1 || fail "not equal: $(cat said)"
rm large.json
"$PEWTER" replay large --verify >said 2>&1 && fail "a missing tokenizer verifies: $(cat said)"
said 'text: tokens=large.json: the tokenizer is missing, and the session has no copy of it'
echo ok
