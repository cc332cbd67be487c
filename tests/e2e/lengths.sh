#!/usr/bin/env bash
# lengths.sh - finds the first failing length: from a race to the first wrong token of an example, only by keys.
. "$(dirname "$0")/lib.sh"

shell 100x30
workbench
wait_for 'sort'
command_line 'race none,t5'
command_line 'train 60'
wait_for 'idle 60'
command_line 'eval samples=64'
keys 2
wait_for 'trained 2\.\.8 .*64 samples +step 60'
wait_for 'samples only'
wait_for 'beyond training'
wait_for 'trained: how often'

# classes of errors: the page of errors, at the longest length
keys v
wait_for 'errors 2/4  sort'
wait_for 'exact +forced +early +late +wrong'
keys G
wait_for 'length 16, token 1: [0-9]+ of 64 first wrong there'

# the best arm: one seed can't decide that
keys v
wait_for 'no arm is called best: p < 0.05 needs 6 seeds'
wait_for '1 none [<>~] .*2 t5 8/16 +512'

# examples of that length, and one pinned: its decoding ends at the first wrong token
keys f
wait_for 'length 16: [0-9]+ of 64 failed'
wait_for '#[0-9]+ +(early stop|wrong token) +[0-9]+ of 17'
keys j Enter
wait_for 'pinned sample [0-9]+ of sort, length 16'
keys 6
wait_for '✗'

# the curves' cursor: the value of both arms at a step
keys Tab 1 h h # Tab: in the prompt pane a digit is text
wait_for 'step [0-9]+ +●[0-9.]+ +▲[0-9.]+'
keys x
wait_for 'GFLOP'

command_line 'quit'
wait_exit
wait_for '^status=0'
echo 'lengths: all as expected'
