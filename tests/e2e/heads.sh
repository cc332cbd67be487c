#!/usr/bin/env bash
# heads.sh - heads are switched off and on during training, and patching finds the states that carry an answer.
. "$(dirname "$0")/lib.sh"

shell 120x36
workbench
wait_for 'sort'
command_line 'prompt sort 3 1 4'
wait_for 'right 1 +3 +4'
command_line 'train 100000'
wait_for 'TRAIN'

# off and on during training: the status line says so, and training continues
command_line 'ablate 0.1,1.3'
wait_for 'heads off L0H1 L1H3'
command_line 'ablate 0.1 mode=mean'
wait_for 'heads off L0H1 mean, L1H3 zero; from 64 validation samples'
screen_has 'TRAIN' || fail 'switching heads off ended training'
command_line 'ablate 9.9'
wait_for "no head '9\.9': arm 1 has L0H0 to L1H7"
command_line 'restore 0.1'
wait_for 'head off L1H3'
command_line 'restore'
wait_gone 'head off'
screen_has 'TRAIN' || fail 'switching heads on ended training'
command_line 'pause'
wait_for 'PAUSED'

# patching: the page explains how to start it, and a key begins the command with the pinned prompt
keys 4
keys P
wait_for 'nothing patched yet'
keys E
wait_for '^:patch heads from="sort 3 1 4'
keys BSpace
literal '5"'
keys Enter
wait_for 'layer 1 '
wait_for '% back: head L0H0 at all positions'
keys j l
wait_for '% back: head L1H1'
command_line 'patch resid from="sort 3 1 5"'
wait_for '3 4 for 5 +1\.00' # patching the differing inputs recovers everything
wait_for '% back: stream into layer 1 at position 1'
keys P
wait_gone '% back'
keys q
assert_terminal_is_back
