#!/usr/bin/env bash
# step.sh - uses the step inspector: moves through an answer, edits a token, reads its contributions, selects another
# sample.
. "$(dirname "$0")/lib.sh"

shell 100x40
workbench
wait_for 'sort'
command_line 'train 60'
wait_for 'TRAIN'
wait_for 'idle 60'
command_line 'prompt sort 3 1 4 1 5'
wait_for 'sort 3 1 4 1 5'
keys 4
keys 4
wait_for 'predicting, position'
wait_for 'rank token'
wait_for 'sum [+-][0-9.]+ +logits [+-][0-9.]+ +difference [0-9]e-0[5-9] ✓|sum [+-][0-9.]+ +logits .* difference 0e\+00'

# backwards to the first token, where a message says that it is the first, and forwards
keys g
wait_for 'predicting, position 7'
keys ,
wait_for 'back: position 7 is the first of the answer'
keys .
wait_for 'predicting, position 8'

# an edited token: the key begins the line, and the rest is decoded again
keys e
wait_for ':edit 8 '
keys 9
keys Enter
wait_for "the model's own candidates, position 8"
wait_for '9\*'

# the other pages, and the token to compare with
keys v
wait_for 'contributions +token 2 of'
wait_for 'logit "9" \(said\) − ".*" \(best\)'
keys r
wait_for '− mean of 14 tokens'
keys v
wait_for 'lens +token 2 of'
wait_for 'predicts'
keys v
wait_for 'attention +token 2 of'
wait_for 'head L0H0 of ".*" attends to'

# during training the cursor stays at its token, and the edit stays
command_line 'train 100000'
wait_for 'TRAIN'
wait_for 'position 8'
wait_for '9\*'
command_line 'edit 8 nonsense'
wait_for "edit: no token 'nonsense'; there are </s> sort > "
screen_has 'TRAIN' || fail 'a bad token ended training'
command_line 'stop'
wait_for 'idle'

# samples, from the prompt pane
keys 6
keys ']'
wait_for 'sample 0 of length 8'
keys ']'
wait_for 'sample 1 of length 8'
literal ']]][]}}' # faster than answers come: each key counts
wait_for 'sample 0 of length 10'
literal '{]]['
wait_for 'sample 1 of length 9'

# keys of the other panes start from the lab's current head and arm
keys Tab 3 # Tab: in the prompt pane a digit is text
literal ']]]}vv'
wait_for 'head L1H3 content'
command_line 'race none,alibi,t5'
wait_for 'none +of 3'
literal '>><>>>'
wait_for 'alibi of 3'

command_line 'quit'
wait_exit
assert_terminal_is_back
echo 'step: all as expected'
