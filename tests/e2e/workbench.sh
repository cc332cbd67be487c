#!/usr/bin/env bash
# workbench.sh - a new user's session: race, swap during training, prompt, inspect a head, resize, quit.
. "$(dirname "$0")/lib.sh"

shell 200x60
workbench
wait_for 'sort'

# a race, observed while it runs
command_line 'race none,t5,alibi'
wait_for 'none of 3'
command_line 'train 100000'
wait_for 'TRAIN'
wait_for '1 none +[0-9]' # the label at its curve's end, with the loss
wait_for '3 alibi'

# a swap during training: the arm's name changes, and training continues
command_line 'pe rotary'
wait_for '1 rotary'
screen_has 'TRAIN' || fail 'the swap ended training'

# a prompt during training
command_line 'prompt sort 3 1 4 1 5'
wait_for 'sort 3 1 4 1 5'
wait_for '1 +1 +3 +4 +5' # the right answer, independent of the model's

# wrong input gives one line, and training continues
command_line 'prompt sort x'
wait_for "'x' is not one of"
screen_has 'TRAIN' || fail 'a bad prompt ended training'
command_line 'pe t6'
wait_for "t6"

# the heat map: the cursor reads out the value, heads change
keys 3
wait_for 'Attention.* head L0H0'
wait_for 'q=[0-9]+ .*k=[0-9]+ .*p=[01]\.[0-9]+'
cursor() {
    screen | grep -aoE 'q=[0-9]+ ' | head -1
}
before=$(cursor)
moved() {
    [ "$(cursor)" != "$before" ]
}
keys k
until_true 'another query under the cursor' moved
keys ']'
wait_for 'Attention.* head L0H1'
keys '}'
wait_for 'Attention.* head L1H1'
keys v
wait_for 'Attention.* head L1H1 score'

# all heads at once, their kinds, and back; the difference of two maps
keys Enter
wait_for 'layers x [0-9]+ heads'
keys m
wait_for 'position.s part .*m: next'
keys Enter
wait_for 'q=[0-9]+'
keys c
wait_for 'less 1 t?.*head L1H1 score step'
keys c
keys v
wait_for 'Attention.* head L1H1 content'
keys V
wait_for 'Attention.* head L1H1 score'

# any size, and back
resize 80x24
wait_for 'Attention.* head L1H1'
wait_for 'TRAIN' # a first match may come from the old picture, cut off
resize 200x60
wait_for '7 Log|Log'
wait_for 'Attention.* head L1H1'

# pause, step, resume, stop
command_line 'pause'
wait_for 'PAUSED|paused'
command_line 'resume'
wait_for 'TRAIN'
command_line 'stop'
wait_for 'idle'

# the results of an evaluation
command_line 'eval lengths=2..4 samples=16'
wait_for '16 samples|of 16|100%|[0-9]%'

# the rest of a typed line waits for training, as in a script
command_line 'reset; train 40; eval lengths=2..3 samples=8; say evaluated when all was over'
wait_for 'evaluated when all was over'
wait_for 'idle 40'
keys 7
wait_for 'Log'
trained_before() { # in the log, which ends with the newest lines
    screen | grep -aoE ': (train 40|eval lengths=2..3 samples=8)|evaluated when' | tr '\n' , | grep -q 'train 40,: eval.*,evaluated'
}
until_true 'training, evaluation, words' trained_before

command_line 'quit'
wait_exit
wait_for '^status=0'
assert_terminal_is_back
echo 'workbench: all as expected'
