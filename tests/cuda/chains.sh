#!/usr/bin/env bash
# chains.sh - checks the longest chain in the graph of a training step: how many kernels, copies and products the device
# must run one after the other. For a small model the chain determines nearly all of a step's time. A change of a
# chain's length must be recorded here and in docs/gpu.md, which has this table.
set -u
PEWTER=$(realpath "$1")
export PEWTER_EMU=graphs
failed=0
batch=4

chain() { # chain WANT PRECISION ENCODING MODEL...: checks the graph of steps of one shape
    local want=$1 precision=$2 pe=$3 said got
    shift 3
    said=$("$PEWTER" --no-session -c "backend cuda precision=$precision; task copy lengths=5..5; model $*; pe $pe
optim batch=$batch; train 3" 2>&1) || {
        echo "FAILED: $*: $said"
        exit 1
    }
    got=$(sed -n 's/^graph of .* nodes, \([0-9]*\) one after the other$/\1/p' <<<"$said" | tail -n 1)
    echo "$*, $pe, $precision, batch $batch: $got"
    [ "$got" = "$want" ] || { echo "FAILED: it was $want" && failed=1; }
}

# A group of steps: four times as long, and no copy between two of them.
said=$("$PEWTER" --no-session -c "backend cuda precision=bf16; task copy lengths=5..5; model layers=2 width=64 heads=4
optim batch=4; pe none; train 30" 2>&1 | grep '^graph of ' | tail -n 1)
[ "$said" = 'graph of 236 nodes, 172 one after the other' ] || { echo "FAILED: four steps are not one graph: $said" && failed=1; }

chain 43 bf16 none layers=2 width=64 heads=4
chain 47 bf16 t5 layers=2 width=64 heads=4
chain 43 bf16 rotary layers=2 width=64 heads=4
chain 49 bf16 fire layers=2 width=64 heads=4
chain 43 tf32 none layers=2 width=64 heads=4
chain 73 bf16 none layers=4 width=128 heads=4
chain 79 bf16 t5 layers=4 width=128 heads=4
chain 73 bf16 rotary layers=4 width=128 heads=4
chain 81 bf16 fire layers=4 width=128 heads=4
# Wide and with many rows, as the preset paper: sums over rows are kernels of their own after the layers. In a small
# step they run beside the layers. Two layers, so that the test takes seconds.
batch=64
chain 62 bf16 none paper layers=2 width=768 heads=12 ffn=64
batch=4
chain 58 bf16 none paper layers=2 width=768 heads=12 ffn=64
chain 257 bf16 none layers=12 width=96 heads=12 ffn=128 dropout=0.1
exit $failed
