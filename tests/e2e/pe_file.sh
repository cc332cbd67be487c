#!/usr/bin/env bash
# pe_file.sh - an encoding with the numbers of a file: a session, a packed one and a file of weights have the numbers, so
# they are opened, continued and re-run where the file is not.
. "$(dirname "$0")/lib_files.sh"

run() { # run ARGUMENTS...: runs the program; out and err have what it wrote
    timeout 300 "$PEWTER" --threads 1 "$@" >out 2>err </dev/null
}
digest_of() { # digest_of SESSION: the digest after 5 further steps
    run --session "$1" -c 'train 5; digest'
    grep -o 'digest [0-9a-f]*' out
}

model='model layers=2 width=16 heads=4 context=40'
check 'files are written' run --no-session -c "$model; pe t5; export table bias.npz; pe fire; export table dense.npz"
check 'a session' run --session mine -c "$model; pe file=bias.npz; train 10; fork; pe file=dense.npz; train 10; checkpoint; \
export weights w.safetensors"
rm bias.npz dense.npz

check 'it is re-run' run replay mine --verify
check 'from its checkpoint' run replay mine --verify --from 10
check 'it is packed' run session pack mine -o mine.pwt
first=$(digest_of mine)
check 'it continues' test -n "$first"

export XDG_STATE_HOME=$WORK/elsewhere
check 'it is unpacked' run session unpack mine.pwt
check 'and continues with the same bits' test "$(digest_of mine)" = "$first"
check 'the packed one is re-run' run replay mine.pwt --verify
check 'weights have the numbers' run --no-session -c 'import weights w.safetensors; train 2; table; export formula f.py'
check 'the formula has its name' grep -q 'arm 1  dense' out
check 'so has its file' grep -q '"data_[0-9a-f]*": torch.tensor' f.py
check 'a list of models reads them' run --no-session -c 'runs'

exit $failed
