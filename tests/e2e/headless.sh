#!/usr/bin/env bash
# headless.sh - tests the program without a screen: scripts, results, exit status, files, and error messages.
. "$(dirname "$0")/lib_files.sh"

# run STATUS ARGUMENT...: runs pewter, and keeps its output in the files out and err
run() {
    local want=$1 got
    shift
    timeout 600 "$PEWTER" "$@" >out 2>err </dev/null
    got=$?
    check "pewter $* has status $want, not $got" test "$got" = "$want"
}

one_line() {
    check "one line on standard error: $*" test "$(wc -l <err)" = 1
    check "it begins with pewter:" grep -q '^pewter: ' err
}

# ---- results
run 0 -c 'task copy variant=rsc lengths=1..2 alphabet=3; train until acc=0.9; eval lengths=1..3 samples=20; export lengths l.csv'
check 'the columns of lengths' test "$(head -1 l.csv)" = arm,pe,task,length,samples,exact,exact_low,exact_high,token_accuracy,seen
check 'a row per length' test "$(wc -l <l.csv)" = 4
check 'trained lengths of few inputs are marked' test "$(cut -d, -f4,10 l.csv | tail -3 | tr '\n' ' ')" = '1,1 2,1 3,0 '
check 'and so on the screen' grep -q '   1 1.000\*' out
run 0 -c 'task addition lengths=5..6; eval lengths=6..7 samples=24; export lengths l.csv'
check 'the columns of pairs' test "$(head -1 l.csv)" = arm,pe,task,length,samples,exact,exact_low,exact_high,token_accuracy,length_a,length_b
check 'a row per pair' test "$(wc -l <l.csv)" = 25
check 'the samples go round them' test "$(cut -d, -f4,5,10,11 l.csv | sed -n '2,3p;13,14p' | tr '\n' ' ')" = '6,3,6,1 6,3,6,2 7,2,7,1 7,2,7,2 '
run 0 -c 'task sort lengths=6 alphabet=20; eval samples=4; export lengths l.csv'
check 'a task without pairs has no columns for them' test "$(head -1 l.csv)" = arm,pe,task,length,samples,exact,exact_low,exact_high,token_accuracy

# ---- kinds of errors, and the best arm
run 0 -c 'race none,alibi; train 30; eval lengths=7..9 samples=50; paired; paired 2 1 lengths=9; failing length=9 n=2; failing length=9 index=1; export errors e.csv'
check 'the columns of errors' test "$(head -1 e.csv | cut -d, -f1-11)" = arm,pe,task,length,samples,exact,forced,early,late,wrong,first_error_1
check 'a row per length and arm' test "$(wc -l <e.csv)" = 7
check 'the outcomes of all samples add up' test "$(awk -F, 'NR > 1 { print ($6 + $8 + $9 + $10 > 0.999 && $6 + $8 + $9 + $10 < 1.001) }' e.csv | sort -u)" = 1
check 'a pair of arms, twice' test "$(grep -c '1 none : 2 alibi' out)" = 2
check 'no arm is called best with one seed' test "$(grep -c '^no arm is called best: p < 0.05 needs 6 seeds' out)" = 2
check 'two examples' test "$(grep -cE '^  #[0-9]+  (early stop|late stop|wrong token) at token [0-9]+ of 10' out)" = 2
check 'one pinned' grep -q '^pinned sample 1 of sort, length 9' out
run 0 --json -c 'train 3; eval lengths=4 samples=9; failing n=1; export errors e.jsonl'
check 'every outcome' grep -qE '"outcomes":"[01]{9}"' out
check 'the example' grep -qE '"kind":"failing".*"examples":\[\{"index":[0-9]' out
check 'a JSON object per row' grep -q '"first_error_1":' e.jsonl
for bad in 'failing' 'eval samples=2; failing n=0' 'eval samples=2; failing index=2' 'failing index=x' 'failing here' 'paired 1' 'paired 1 2' 'paired first' 'paired lengths=0' 'paired task=copy' 'export errors e.csv' 'export errors e.txt'; do
    run 1 -c "$bad"
    one_line
done

for bad in 'bind F6 "press F6"; press F6' 'bind F5 "press F6"; bind F6 "press F5"; press F5'; do # keys that press each other
    run 1 -c "$bad"
    one_line
    check 'the message gives the reason' grep -q 'does a binding press itself?' err
done
run 1 -c "race none,t5; model layers=1 width=16 heads=2 logit_scale=100 arm=2; optim lr=10 clip=0 warmup=0 decay=10 schedule=constant arm=2; train 20"
check 'the message names the arm' grep -q '^pewter: arm 2 (t5): the loss is not finite at step ' err
run 1 -c 'optim lr=1 lr=2'
check 'the message names the key' grep -q '^pewter: optim: lr= is given twice' err

# ---- the place of an error in a script: the file that contains the line, also for errors during training
printf '# a script\ntrain 1; eval samples=2\noptim lr=99\ntrain 1\n' >inner
printf 'train 1\nsource inner\n' >outer
printf '\xef\xbb\xbfseed 1\r\nfooo\n' >dos
printf 'train 1\nsay "open\n' >quote
printf 'optim lr=10 clip=0 warmup=0 decay=10 schedule=constant\nmodel layers=1 width=16 heads=2 logit_scale=100\ntrain 60\n' >grows
for where in 'outer inner:3: optim: lr=99' "dos dos:2: no command 'fooo'" 'quote quote: line 2, byte 5: unclosed quote' 'grows grows:3: the loss is not finite'; do
    run 1 run "${where%% *}"
    check "it says where: $where" grep -q "^pewter: ${where#* }" err
done
run 1 -c 'source outer'
check 'the message names the sourced file' grep -q '^pewter: inner:3: ' err
run 1 -c 'source inner; train 1'
check 'the message names the last line' grep -q '^pewter: inner:3: ' err
printf 'seed 3\n' >good
run 1 -c 'source good; optim lr=99'
check 'a message without a file' grep -q '^pewter: optim: lr=99' err

# ---- a reader that closes the pipe ends the program
timeout 600 "$PEWTER" --json -c 'train 3000000' 2>err | head -n 1 >out
check 'it ends when its reader ends' test "${PIPESTATUS[0]}" = 141

# ---- circumstances of the start: no standard input, a limit on file sizes, a script with a byte order mark
timeout 600 "$PEWTER" --no-session <&- >out 2>err
check 'without standard input there is nothing to do' test $? = 0
(
    ulimit -f 100
    XDG_STATE_HOME=$WORK/limited run 1 --session limited -c 'model layers=1 width=16 heads=2; train 5'
) || exit 1
check 'recording pauses' grep -q 'recording is paused: .*File too large; training continues' out
printf '\xef\xbb\xbfseed 7\n' >bom
run 0 run bom

# ---- a session has one name
export XDG_STATE_HOME=$WORK/names
run 0 --session first -c 'train 2; save second'
check 'the session has the new name' grep -q '^first is now second$' out
run 2 replay first -c digest
run 0 replay second --verify

# ---- all commands of SCAN, and no tokens after the next item of a session
run 0 -c 'task scan; export data s.jsonl split=test; task scan lengths=1..22; export data o.jsonl split=test'
check 'the test commands of both splits' test "$(wc -l <s.jsonl) $(sort -u o.jsonl | wc -l)" = '3136 3920'
run 0 -c 'task scan; export data a.jsonl split=all'
check 'every command once' test "$(wc -l <a.jsonl) $(sort -u a.jsonl | wc -l)" = '20910 20910'
check 'in the order of the grammar' test "$(sed -n '1p;103p' a.jsonl | cut -d'"' -f14 | tr '\n' ,)" = 'scan walk >,scan walk and walk >,'
check 'the samples of each split' test "$(cut -d'"' -f10 a.jsonl | sort | uniq -c | tr -s ' \n' ' ')" = ' 3136 test 16028 train 1746 valid '
for bad in 'task lego' 'task copy' 'task sort,pcfg'; do
    run 1 -c "$bad; export data b.jsonl split=all"
    one_line
    check 'nothing is written' test ! -e b.jsonl
done
run 0 -c 'task lego; export data b.jsonl split=all n=5'
check 'samples of each split' test "$(wc -l <b.jsonl)" = 15
run 0 -c 'model causal=off; task session by=last; pe rspe; train 300; eval samples=50; prompt session 3 1 4; export lengths l.csv'
check 'an encoding that counts from the end' test "$(awk -F, '$4 == 10 && $6 > 0.9' l.csv | wc -l)" = 1
check 'an answer of one token' grep -qx 'answer  4' out
check 'no note: nothing can be read ahead' test "$(grep -c causal=off out)" = 0
run 0 -c 'model causal=off; train 1'
check 'a note: answers can' test "$(grep -c '^causal=off: ' out)" = 1
# ---- scratchpads: only the answer is judged, and both accuracies are printed
steps='model tiny layers=1 width=16 heads=2; task addition scratchpad=minimal lengths=1 test=2; train 3; eval samples=8'
run 0 -c "$steps; export lengths l.csv; export data d.jsonl n=1; failing n=1; prompt addition 7 + 5"
check 'columns for the way of judging' test "$(head -1 l.csv | cut -d, -f10-)" = length_a,length_b,seen,judged,teacher_forced
check 'the answers were decoded' test "$(tail -1 l.csv | cut -d, -f13)" = decoded
check 'the decoded number' grep -q 'addition: right answers, decoded, by length, 8 samples each$' out
check 'the teacher-forced number' grep -q '^  teacher-forced, every token right$' out
check 'the steps' grep -qE '"answer":" comp [0-9] [0-9] 0 =( [0-9])+ out [0-9](.*) so( [0-9])+"' d.jsonl
check 'the right steps of a prompt' grep -q 'right is comp 7 5 0 = 1 2 out 2 # comp 0 0 1 = 1 out 1 so 1 2 </s>$' out
run 0 -c 'model tiny layers=1 width=16 heads=2 context=96; optim batch=16 warmup=10; task parity scratchpad=full lengths=2..3 test=4; train 80; prompt parity 1 0 1 1'
check 'a right answer after other steps' grep -qE '^right answer, [1-9][0-9]* of [0-9]+ tokens differ$' out
run 0 --json -c "$steps"
check 'both numbers in events' grep -qE '"judged":"decoded","teacher_forced":[0-8],' out
for bad in 'task sort scratchpad=v' 'task parity scratchpad=more' 'task parity scratchpad=full text=appendix' 'task copy scratchpad=full' 'task sort lengths=20 scratchpad=full'; do
    run 1 -c "$bad"
    one_line
done

# ---- a fixed set
run 0 -c 'task lego,sort lengths=4..5 data=50; export data t.jsonl; export data v.jsonl split=valid'
check 'the whole training set' test "$(grep -c '"task":"lego"' t.jsonl) $(grep -c '"task":"sort"' t.jsonl)" = '50 50'
check 'the validation set' test "$(grep -c '"task":"lego"' v.jsonl) $(grep -c '"task":"sort"' v.jsonl)" = '6 6'
check 'a sample with its pair of lengths' grep -q '"task":"lego","length":5,"length_a":5,"length_b":[34],' t.jsonl
run 0 --json -c 'task sort lengths=4..5 data=64; train 5'
check 'the epoch' grep -q '"run":"idle".*"epoch":2.5[,}]' out
check 'nothing on standard error' test ! -s err

run 0 --json -c 'train 3; prompt sort 2 1'
check 'every line is an object' test "$(grep -c '^{.*}$' out)" = "$(wc -l <out)"
check 'three steps' test "$(grep -c '"kind":"step"' out)" = 3
check 'one command line, two commands' test "$(grep -c '"kind":"command"' out)" = 2

run 0 --json -c 'model layers=1 width=16 heads=2; race none,t5; train 100; digest'
check 'updates every ten steps of two arms' test "$(grep -c '"kind":"updates".*"ratio":{"embed":.*"layers.0":.*"pe":' out)" = 20
check 'a digest by itself and one on demand' test "$(grep '"kind":"digest"' out | sed 's/.*"arm"/arm/' | sort | uniq -c | grep -c '^ *2 arm')" = 2
run 0 -c 'race none,t5; model width=32 heads=4 arm=2; set share flops; train flops=1e9; export updates u.csv; export track k.csv; runs t5'
check 'the last step of each arm' test "$(grep -c '^arm [12] ([a-z0-9]*): flops 1.*e+09 at step' out)" = 2
check 'the columns of updates' test "$(head -1 u.csv)" = arm,pe,step,block,ratio
check 'the columns of track' test "$(head -1 k.csv)" = arm,pe,step,exact,exact_beyond
check 'only the arm t5' test "$(grep -c 'pe=' out)" = 1

run 0 -c 'task sort lengths=2..8; prompt sort 3 1 2; inspect layer=1 head=2; mark here'
check 'the shown head' grep -q '^arm 1  step 0  head L1H2, ' out
check 'every score beside chance' test "$(grep -cE '^  [a-z ]+ +[0-9.]+ +[0-9.]+( bits| positions)?$' out)" -ge 6
check 'the text of the mark' grep -qx 'mark: here' out
run 0 --json -c 'task sort lengths=2..8; prompt sort 3 1 2; inspect view=pp layer=1'
check 'gold pointers' grep -q '"kind":"attention".*"gold":\[\[4,2\]' out
check 'scores of all heads' grep -q '"heads":\[{"layer":0,"head":0,"previous token":' out

run 0 -c 'train 2; ablate 0.1,1.* mode=resample samples=8; restore 1.0; eval lengths=3 samples=4; prompt sort 3 1; patch resid from="sort 3 2"; patch heads from="sort 3 2"'
check 'the heads that are off' grep -q '^arm 1: heads off L0H1 resample, L1H1 resample, ' out
check 'the evaluation names the heads that are off' grep -q '^  heads off: L0H1 resample, L1H1 resample, ' out
check 'full recovery at the token that differs' grep -q '^ *2  1 for 2 *1.000 ' out
check 'a row per layer' grep -q '^  layer   1 ' out
run 0 --json -c 'ablate 1.2; train 1; prompt sort 3 1; patch 0.1 3 from="sort 3 2"'
check 'heads as an event' grep -q '"kind":"heads",.*"off":\[{"layer":1,"head":2,"mode":"zero"}\],' out
check 'a patch as an event' grep -q '"kind":"patch",.*"what":"heads","layer":0,"head":1,"pos":3,.*"recovery":\[\[' out
run 1 -c 'ablate 0.8'
one_line

printf 'train 2 # two steps\nexport curves c.csv\nexport weights w.safetensors moments=on\nexport batch b.npz\n' >script
run 0 run script
check 'the columns of curves' test "$(head -1 c.csv)" = arm,pe,step,loss,accuracy,lr,grad_norm,flops
check 'two steps and a heading' test "$(wc -l <c.csv)" = 3
run 0 run - # empty standard input is an empty script
run 0 -c 'import weights w.safetensors; prompt sort 1 2; export attention a.npz; export logits g.npz; export table t.json; export data d.jsonl n=5'
check 'five samples' test "$(wc -l <d.jsonl)" = 5
check 'the prompt to the character' grep -q '"prompt":"sort ' d.jsonl
check 'the pairs seen in training' grep -q '"met":\[[0-9]*,' t.json
run 0 -c 'task sort lengths=2..4 test=5..8; pe t5; train 11; table; export table t.json'
check 'a bucket never seen in training' test "$(grep -c 'never trained$' out)" = 1
check 'and no gradient came there' grep -q '"grad":\[\[.*\[0,0,0,0,0,0,0,0\]\]' t.json
run 0 -c 'task sort lengths=2..4 test=5..8; pe fire; train 11; table; export table t.json'
check 'the bias of each query' test "$(grep -c '^  head 0 bias of the query at [0-9]*, by distance -*[0-9]' out)" -ge 11
check 'the query of the bias' grep -q '"bias_query":[1-9]' t.json
check 'the tensors of the network' grep -q '"tensors":\[{"name":"pe.c","shape":\[1\],"norm":0.' t.json
run 0 -c 'train 30; prompt sort 3 1 4; back 9; next; edit 5 9; export step s.json'
check 'a line per step' test "$(grep -c '^position [0-9]*  .*  p [01]\.[0-9]*  logit .*  entropy .* bits  ' out)" -ge 3
check 'an edited token is marked' grep -q '^position 5  9 .* edited, wrong; right is 1$' out
check 'the step in full' grep -q '"candidates":\[.*"parts":\[{"part":"embedding",.*"lens":\[{"layers":0,' s.json
run 0 -c 'prompt sort 1; edit 3 2; edit 4 1; edit 5 2'
check 'a token after the right answer' grep -q '^position 5  2 .* edited, wrong; the right answer has ended$' out
run 0 --json -c 'race none seeds=2 batches=own; race none seeds=2'
check 'own batches as a member of the arm' test "$(grep '"replicates":2' out | grep -o '"batches":"[a-z]*"' | tr '\n' ' ')" = \
    '"batches":"own" "batches":"shared" '
run 0 -c 'model layers=1 width=16 heads=2; race none,t5 seeds=2 batches=own; train 2; eval lengths=2..9 samples=2; show lengths; show curves; paired
    compare'
check 'the last step of training' test "$(grep -c '^arm [12] .* step 2: loss .* n=2, own batches, token' out)" = 2
check 'the medians by length' test "$(grep -c 'median (least..greatest) n=2, own batches$' out)" = 2
check 'the table of lengths' grep -q 'minimum and maximum over seeds, own batches; before them the median' out
check 'the errors' grep -q '^first errors in the answers of arm 1, 2 seeds together, own batches:' out
check 'the curves' grep -q '^arm 2 t5 8/16, 2 seeds, own batches: median' out
check 'the test' grep -q 'exact sign-flip test over training runs, each pair on batches of its own$' out
check 'a remark on the floor' grep -q 'own batches: two replicas of an arm also learned from different samples' out
run 1 -c 'race none seeds=2 batches=mine'
one_line
check 'the message lists the allowed values' grep -q "race: batches=mine: allowed are shared|own" err
run 0 --json -c 'race none seeds=3; ablate 0.1 replicate=2'
check 'one replica has it off' test "$(grep '"kind":"heads"' out | grep -c '"replicate":2')" -eq 1
check 'no other replica has it off' test "$(grep -c '"kind":"heads"' out)" -eq 1
run 0 --json -c 'sample length=3; back'
check 'the prompt has the number of the sample' grep -q '"kind":"prompt".*"length":3,"sample":0' out
check 'an object per step' test "$(grep -c '"kind":"cursor".*"logit":' out)" = 1
check 'the contributions to it' grep -q '"kind":"look".*"worst_sum":' out
run 1 -c 'next'
one_line
run 1 -c 'prompt sort 1 2; export step s.txt'
one_line
run 0 --threads 1 -c 'train 5; digest'
mv out one
run 0 --threads 2 -c 'train 5; digest'
check 'the bits of one thread and of two' cmp -s one out

run 0 --version
check 'the version, its commit and the backends' grep -qE '^pewter [0-9]+\.[0-9]+\.[0-9]+( \(commit [0-9a-f]{7,}\+?\))?$' out
check 'the cpu' grep -qE '^cpu: (scalar|avx2|avx512|neon)$' out
check 'the plug-in' grep -q '^cuda: ' out
run 0 --help
run 0 -c help
check 'help lists the commands' grep -q '^ *train' out
run 0 -c 'help train'
run 0 --manual
check 'a manual page' grep -q '^\.TH PEWTER 1' out

# ---- without a folder for its session the program works, and prints the reason
: >nowhere
XDG_STATE_HOME=$PWD/nowhere run 0 --plain
check 'the reason why nothing is recorded' grep -q "^nothing is recorded: .*nowhere/.*: cannot create this folder: Not a directory" out
run 0 --plain --no-session
check 'no message if recording is off by request' test "$(grep -c 'recorded' out)" = 0

# ---- usage
run 2 --frobnicate
one_line
run 2 --threads many -c help
one_line
run 2 -c
one_line
run 2 frobnicate
one_line
run 2 run
one_line
for both in 'xx' '--session xx -c help' 'replay xx --verify'; do
    # shellcheck disable=SC2086 # words
    run 2 --no-session $both
    one_line
    check 'the message names both options' grep -q "no-session and the session 'xx' together" err
done
run 0 -c cancel
check 'nothing to cancel' grep -qx 'cancel: no job is running' out

# ---- the list of sessions is aligned for any names
run 0 --session plain -c 'train 1'
run 0 --session größe -c 'train 1'
run 0 sessions
widths=$(LC_ALL=C.UTF-8 bash -c 'while IFS= read -r line; do left=${line%% 20[0-9][0-9]-*}; echo ${#left}; done' < <(sed '1d;$d' out) | sort -u)
check "columns of one width, not $(echo "$widths" | tr '\n' ' ')" test "$(echo "$widths" | wc -l)" = 1

# ---- attention of a file: exported, imported, printed; replayed after the file was removed
export XDG_STATE_HOME=$WORK/state
mkdir "$XDG_STATE_HOME"
run 0 --session theirs -c 'prompt sort 3 1 2; export attention a.npz; import attention a.npz; press 3 c i; show attention'
check 'layers and heads' grep -q '^attention of a.npz: layers 0..1, heads 0..7, 6 tokens, with scores' out
check 'the keys that queries attend to' grep -q '^file a.npz: head L0H0, the keys that each query attends to' out
check 'the difference from the arm' grep -q '^probabilities less a.npz head L0H0, one row per query' out
check 'every difference is zero' test "$(sed -n '/^probabilities less/,/^kinds of heads/p' out | grep -cE '^ +[0-9]+ \S+ +0[0 -]*$')" = 12
rm a.npz
run 0 replay theirs --json
check 'the recording has it' grep -q '"kind":"attention","source":"a.npz"' out
run 0 replay theirs --verify
check 'and its copy of the file' grep -q '^equal: ' out
run 0 replay theirs -c 'export cast f.cast width=80 height=24; show log'
check 'the first line of a film has its size' grep -q '^{"version":2,"width":80,"height":24,' f.cast
run 1 replay theirs -c 'train 5'
one_line

# ---- arms of recorded sessions at their last checkpoint, beside the lab's own
mkdir kept
run 0 --session kept/first -c 'race none,t5; train 6; eval samples=4'
run 0 --session kept/second -c 'race rotary seeds=2; optim lr=0.001; train 3'
mkdir kept/broken.pewter
run 0 -c 'runs path=kept; runs t5 path=kept'
check 'each arm of each session' test "$(grep -c 'session="' out)" = 4
check 'the steps of an arm' test "$(grep -cE '^ +- +6 .*session="first arm [12]"' out)" = 3
check 'the results of an arm' grep -qE '^ +- +6 +- +- +[0-9.]+% +[0-9.]+% +1  pe=none .*session="first arm 1"' out
check 'the seeds of an arm' grep -qE ' 2  pe=rotary .*lr=0.001 .*session="second arm 1"' out
check 'a file that is not a session' grep -q '^1 cannot be read: ' out

# ---- a command that fails: one line, status 1, later commands don't run, no incomplete file
run 1 -c 'train 2; pe t6; export weights never.safetensors'
one_line
check 'nothing after it runs' test ! -e never.safetensors
run 1 run nosuchfile
one_line
run 1 run .
one_line
head -c 100 /dev/urandom >noise
run 1 run noise
run 1 -c 'prompt sort 1 z'
one_line
for f in '/proc/self/mem' '.' 'noise' 'nosuchfile'; do
    run 1 -c "import weights $f"
    one_line
done
size=$(stat -c %s w.safetensors)
for n in 0 1 7 8 9 100 1000 $((size - 1)); do
    head -c "$n" w.safetensors >cut.safetensors
    run 1 -c 'import weights cut.safetensors'
    one_line
done
{ cat w.safetensors; printf x; } >longer.safetensors
run 1 -c 'import weights longer.safetensors'
one_line
for f in '/proc/self/mem' '.' 'noise' 'nosuchfile' 'w.safetensors'; do
    run 1 -c "import attention $f"
    one_line
done
printf '\377\377\377\377\377\377\377\177{}' >liar.safetensors
run 1 -c 'import weights liar.safetensors'
one_line
run 1 -c 'export weights /dev/full/x.safetensors'
one_line
mkdir dir.safetensors
run 1 -c 'export weights dir.safetensors'
one_line
"$PEWTER" -c 'task sort; export data big.jsonl n=10000000' >out 2>&1 &
sleep 1
kill -KILL $!
wait $! 2>/dev/null || :
check 'a killed export leaves no file' test -z "$(find . -name 'big.jsonl*')"
check 'no temporary files are left' test -z "$(find . -name '*.tmp*')"
if [ -e /dev/full ]; then
    "$PEWTER" -c help >/dev/full 2>err
    check 'a full standard output is an error' test $? = 1
fi

[ $failed = 0 ] && echo 'headless: all as expected'
exit $failed
