#!/usr/bin/env python3
"""make_gguf_tokens.py - the small tokenizers of tests/golden/tokenizers as GGUF files without tensors.

Writes NAME.gguf beside NAME.json, and smollm.gguf, which has the pieces of gpt2.json. tests/tokens/test_gguf.c compares
their ids with those of NAME.json. scores.gguf is a model of SentencePiece, and scores.ids has the digests of its results,
a block of lines each. Lines with its control tokens are left out, because SentencePiece doesn't read them.

The files were made on 2026-11-27 with gguf 0.19.0, sentencepiece 0.2.3 and Python 3.11: make_gguf_tokens.py"""
import io
import json
import os

import gguf
import sentencepiece

from make_tokenizers import Lines, corpus, digest

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


def train():
    """Pair encoding with bytes for rare characters, as LLaMA-2 has it; few characters, so that the file is small."""
    texts = ["".join(c for c in text if ord(c) < 0x250 or c in "日本語猫") for text in corpus(Lines())]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text for text in texts if text.strip()]), model_writer=out, vocab_size=700,
        model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
        character_coverage=0.9995, num_threads=1, split_digits=True, allow_whitespace_only_pieces=True, minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())


def scores():
    sp = train()
    ids = range(sp.get_piece_size())
    kind = gguf.TokenType
    w = gguf.GGUFWriter(os.path.join(HERE, "scores.gguf"), "llama")
    w.add_tokenizer_model("llama")
    w.add_token_list([sp.id_to_piece(i) for i in ids])
    w.add_token_scores([sp.get_score(i) for i in ids])
    w.add_token_types([int(kind.UNKNOWN if sp.is_unknown(i) else kind.CONTROL if sp.is_control(i) else
                           kind.BYTE if sp.is_byte(i) else kind.NORMAL) for i in ids])
    w.add_bos_token_id(sp.bos_id())
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()
    lines = Lines()
    with open(os.path.join(HERE, "scores.ids"), "w", encoding="utf-8") as f:
        for block in range(10):
            texts = [lines.line(3, i) for i in range(block * 100, block * 100 + 100)]
            coded = [sp.encode(t) for t in texts if not any(x in t for x in ("<unk>", "<s>", "</s>"))]
            print(digest([" ".join(map(str, x)) + "\n" for x in coded]), digest([sp.decode(x) + "\n" for x in coded]),
                  file=f)


def main():
    write("gpt2", "gpt2", "gpt-2", None)
    write("smollm", "gpt2", "smollm", lambda w, vocab: w.add_add_bos_token(False))
    write("llama3", "llama3", "llama-bpe", lambda w, vocab: w.add_bos_token_id(vocab["<|begin_of_text|>"]))
    write("qwen2", "qwen2", "qwen2", lambda w, vocab: w.add_bos_token_id(vocab["<|endoftext|>"]))
    scores()


if __name__ == "__main__":
    main()
