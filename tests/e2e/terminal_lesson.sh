# terminal_lesson.sh - a lesson in the workbench: it explains, waits for Enter, allows other commands, and leaves the
# lab unchanged when it is cancelled.
. "$(dirname "$0")/lib.sh"

cat >"$WORK/mine.pewter" <<'END'
# Counting to three
task sort
show curves
say One is what everything begins with.
wait key

train 3
say Two comes after training three steps.
wait key

wait 0.1 s
show log
say Three is the end. The reader has waited.
wait key
END

shell 80x24
workbench
command_line "present"
wait_for "encodings, head, invent, nope"
command_line "present nothing"
wait_for "^! present: no lesson 'nothing'; there are encodings"
command_line "present $WORK/nofile.pewter"
wait_for "^! .*nofile"

command_line "present $WORK/mine.pewter"
wait_for "Counting to three .* 1/3  Enter continues"
wait_for "^ One is what"
wait_for "┏━ 1 Curves"
screen_has "idle 3" && fail "it did not wait"
# meanwhile the panes' keys and the command line work
keys 5
wait_for "┏━ 5 Encoding"
screen_has "1/3" || fail "a key of a pane continued the lesson"
command_line "seed x"
wait_for "^! seed"
screen_has "1/3" || fail "an error at the prompt ended the lesson"
keys Enter
wait_for "2/3  Enter continues"
wait_for "idle 3"
wait_gone "One is" # the first step's text
# a step back shows its moment and its view, and runs nothing again
keys BSpace
wait_for "1/3  Enter continues"
wait_for "^ One is what"
wait_for "┏━ 1 Curves"
wait_for "nothing trained yet|step 0"
keys BSpace
wait_for "this is the first step"
keys Enter
wait_for "2/3  Enter continues  Backspace back"
wait_for "^ Two comes after"
wait_for "idle 3"
screen_has "past" && fail "it is not the present"
keys Space
wait_for "┏━ 7 Log"
wait_for "^ Three is the end"
resize 60x16
wait_for "^ Three is the end"
until_true "hints in their row" hints_in_their_row
resize 20x5
wait_for "idle 3"
resize 80x24
wait_for "^ Three is the end"
wait_for "3/3  Enter ends it"
keys Enter
wait_for "the lesson has ended"
screen_has "Counting to three" && fail "its box is still there"
# a q for the lesson that has just ended doesn't quit the program; only the first q is ignored
keys q
wait_for "the lesson has ended; q again quits pewter"

# q cancels the lesson, not the program; its remaining commands don't run
command_line "present $WORK/mine.pewter"
wait_for "1/3  Enter continues"
keys q
wait_for "^ the lesson was left; the lab keeps its state"
screen_has "Counting to three" && fail "the box stayed"
screen_has "idle 3" || fail "the lab changed"

# not during the user's own training, which would mix with it
command_line "train 1000000"
wait_for "TRAIN"
command_line "present encodings"
wait_for "^! present: training is running; 'stop' it first"
command_line "stop"
wait_for "idle"

# on the command line, commands after a wait run later, and a screenshot shows the screen at its place in the line
resize 120x24 # room for the line
began=$(date +%s%N)
command_line "train 30; wait done; focus prompt; wait 1.5; screenshot $WORK/between.txt; focus log"
wait_for "┏━ 7 Log"
[ $(($(date +%s%N) - began)) -ge 1500000000 ] || fail "it did not wait"
grep -q "┏━ 6 Prompt" "$WORK/between.txt" || fail "the pane after the first wait is missing"
grep -q " idle " "$WORK/between.txt" || fail "it did not wait for the end of training"
command_line "wait forever"
wait_for "^! wait: allowed are key, done, or seconds"
keys q
wait_exit
assert_terminal_is_back
