#!/usr/bin/env python3
"""make_gguf_tokens.py - the small tokenizers of tests/golden/tokenizers as GGUF files without tensors.

Writes NAME.gguf beside NAME.json, and smollm.gguf, which has the pieces of gpt2.json. tests/tokens/test_gguf.c compares
their ids with those of NAME.json.

The files were made on 2026-11-27 with gguf 0.19.0 and Python 3.11: make_gguf_tokens.py"""
import json
import os

import gguf

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizers")


def write(name, source, pre, more):
    with open(os.path.join(HERE, source + ".json"), encoding="utf-8") as f:
        o = json.load(f)
    vocab = dict(o["model"]["vocab"])
    types = {}
    for a in o["added_tokens"]:
        vocab[a["content"]] = a["id"]
        types[a["id"]] = gguf.TokenType.CONTROL if a["special"] else gguf.TokenType.USER_DEFINED
    pieces = sorted(vocab, key=vocab.get)
    assert [vocab[p] for p in pieces] == list(range(len(pieces)))
    w = gguf.GGUFWriter(os.path.join(HERE, name + ".gguf"), "llama")
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre(pre)
    w.add_token_list(pieces)
    w.add_token_types([int(types.get(i, gguf.TokenType.NORMAL)) for i in range(len(pieces))])
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in o["model"]["merges"]])
    if more:
        more(w, vocab)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()
    print(name, len(pieces), os.path.getsize(os.path.join(HERE, name + ".gguf")))


def main():
    write("gpt2", "gpt2", "gpt-2", None)
    write("smollm", "gpt2", "smollm", lambda w, vocab: w.add_add_bos_token(False))
    write("llama3", "llama3", "llama-bpe", lambda w, vocab: w.add_bos_token_id(vocab["<|begin_of_text|>"]))
    write("qwen2", "qwen2", "qwen2", lambda w, vocab: w.add_bos_token_id(vocab["<|endoftext|>"]))


if __name__ == "__main__":
    main()
