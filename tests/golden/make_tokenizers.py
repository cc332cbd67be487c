#!/usr/bin/env python3
"""make_tokenizers.py - small tokenizers of every family, and what the library tokenizers makes of hard text.

Writes to tests/golden/tokenizers/: NAME.json, trained on texts/chronicle.txt and generated lines, and NAME.ids with
the digests that tests/tokens/test_golden.c compares. The lines come from fragments.txt by a counted generator, which
tests/tokens/ref_lines.c repeats.

The files were made on 2026-11-27 with tokenizers 0.23.3 and Python 3.11: make_tokenizers.py
With --train the tokenizers are trained again; otherwise only NAME.ids are written."""
import hashlib
import json
import os
import re
import sys

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizers")
TEXT = os.path.join(HERE, "..", "..", "..", "texts", "chronicle.txt")
LINES, BLOCK, SHOWN = 5000, 100, 5
MASK = (1 << 64) - 1

GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+")


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


class Lines:
    """The counted generator: line i of a seed."""

    def __init__(self):
        self.fragments, self.ranges = [], []
        with open(os.path.join(HERE, "fragments.txt"), encoding="utf-8", newline="\n") as f:
            for line in f.read().split("\n")[:-1]:
                if line.startswith("range "):
                    self.ranges.append([int(x, 16) for x in line.split()[1:]])
                elif not line.startswith("# ") and not line.startswith("# \\"):
                    self.fragments.append(re.sub(r"\\(n|t|r|\\|u\{([0-9A-F]+)\})", self.escape, line))

    @staticmethod
    def escape(m):
        return chr(int(m[2], 16)) if m[2] else {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[m[1]]

    def line(self, seed, i):
        count = 0

        def below(n):
            nonlocal count
            count += 1
            return mix((seed << 40) + (i << 16) + count) % n

        out = []
        for _ in range(1 + below(12)):
            kind = below(16)
            if kind < 2:
                lo, hi = self.ranges[below(len(self.ranges))]
                out.append("".join(chr(lo + below(hi - lo + 1)) for _ in range(1 + below(6))))
            elif kind == 2:
                out.append(self.fragments[below(len(self.fragments))] * (1 + below(9)))
            else:
                out.append(self.fragments[below(len(self.fragments))])
        return "".join(out)


def corpus(lines):
    with open(TEXT, encoding="utf-8") as f:
        yield from f.read()[:120000].split("\n")
    for i in range(2000):
        yield lines.line(7, i)


def train(tokenizer, size, special=(), **more):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), show_progress=False, **more)
    tokenizer.train_from_iterator(corpus(Lines()), trainer)
    return json.loads(tokenizer.to_str())


def byte_level(normalizer, pre, special, size=480):
    t = Tokenizer(models.BPE())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    return train(t, size, special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def added(o, content, **flags):
    """Adds a token, with an id behind all others."""
    ids = list(o["model"]["vocab"].values()) + [a["id"] for a in o["added_tokens"]]
    token = {"id": o["model"]["vocab"].get(content, max(ids) + 1), "content": content, "single_word": False,
             "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    token.update(flags)
    o["added_tokens"].append(token)
    o["added_tokens"].sort(key=lambda a: a["id"])


def gpt2():
    o = byte_level(None, pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    o["post_processor"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    return o


def neox():
    o = byte_level(normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>", "<|padding|>"])
    for n in range(12, 1, -1):
        added(o, " " * n, normalized=True)
    return o


def llama3():
    o = byte_level(None, pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(GPT4 % r"\p{N}{1,3}"), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), [])
    o["model"]["ignore_merges"] = True
    for piece in ["Ġkeyword", "hello", "日本", "4444"]:  # no merges lead to these
        piece = "".join(dict(zip(range(256), BYTES))[b] for b in piece.replace("Ġ", " ").encode())
        o["model"]["vocab"].setdefault(piece, len(o["model"]["vocab"]))
    for name in ["<|begin_of_text|>", "<|end_of_text|>", "<|user|>"]:
        added(o, name, special=True)
    begin = o["added_tokens"][0]["id"]
    o["post_processor"] = {"type": "Sequence", "processors": [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        {"type": "TemplateProcessing",
         "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
         "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
         "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [begin],
                                                  "tokens": ["<|begin_of_text|>"]}}}]}
    return o


def qwen2():
    o = byte_level(normalizers.NFC(), pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(GPT4 % r"\p{N}"), "isolated"),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), [])
    for name in ["<|endoftext|>", "<|user|>"]:
        added(o, name, special=True)
    added(o, "word", single_word=True)
    return o


def with_bytes(pre, size=640):
    """A vocabulary with <unk>, begin and end marks, 256 bytes, and characters."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre
    o = train(t, size, special, limit_alphabet=120)
    o["added_tokens"] = o["added_tokens"][:3]
    o["pre_tokenizer"] = None
    return o


def llama2():
    o = with_bytes(pre_tokenizers.Metaspace())
    o["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                                         {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    o["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    o["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                                  {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    return o


def gemma():
    o = with_bytes(pre_tokenizers.Split(" ", "merged_with_next"))
    pieces = sorted(o["model"]["vocab"], key=o["model"]["vocab"].get)
    pieces = dict.fromkeys(piece.replace(" ", "▁") for piece in pieces)  # in this order, each once
    o["model"]["vocab"] = {piece: k for k, piece in enumerate(pieces)}
    o["model"]["merges"] = [[a.replace(" ", "▁"), b.replace(" ", "▁")] for a, b in o["model"]["merges"]]
    o["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    o["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    o["decoder"] = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                                   {"type": "ByteFallback"}, {"type": "Fuse"}]}
    for name in ["\n\n", "\t", "▁▁", "▁▁▁▁", "<unused0>"]:
        if name not in o["model"]["vocab"]:
            added(o, name)
    added(o, "<mask>", special=True, lstrip=True)
    return o


def metaspace():
    o = with_bytes(pre_tokenizers.Metaspace())
    o["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    o["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    o["model"]["byte_fallback"] = False
    o["model"]["fuse_unk"] = False
    return o


def mixed():
    """Types that the families above do not have, and every flag of added tokens."""
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Replace(Regex(r"\s\s+"), " "), normalizers.NFKD(),
                                         normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(True),
        pre_tokenizers.Split(Regex("[aeiou]"), "merged_with_next"), pre_tokenizers.Split("th", "merged_with_previous", True)])
    o = train(t, 400, ["<unk>"], limit_alphabet=90)
    added(o, "<mask>", lstrip=True, rstrip=True, special=True)
    added(o, "[SEP]", lstrip=True, normalized=True)
    added(o, "EOS", normalized=True, single_word=True, rstrip=True)
    added(o, "<s>", special=True, rstrip=True)
    return o


BYTES = []
n = 0
for b in range(256):
    plain = 33 <= b <= 126 or 161 <= b <= 172 or b >= 174
    BYTES.append(chr(b) if plain else chr(256 + n))
    n += not plain

FAMILIES = [gpt2, neox, llama3, qwen2, llama2, gemma, metaspace, mixed]


def digest(texts):
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def main():
    lines = Lines()
    for family in FAMILIES:
        name = family.__name__
        path = os.path.join(HERE, name + ".json")
        if "--train" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                json.dump(family(), f, ensure_ascii=False, separators=(",", ":"))
                f.write("\n")
        t = Tokenizer.from_file(path)
        with open(os.path.join(HERE, name + ".ids"), "w", encoding="utf-8") as f:
            for block in range(LINES // BLOCK):
                ids = [t.encode(lines.line(1, i), add_special_tokens=False).ids
                       for i in range(block * BLOCK, (block + 1) * BLOCK)]
                shown = [" ".join(map(str, x)) + "\n" for x in ids]
                plain = [t.decode(x) + "\n" for x in ids]
                whole = [t.decode(x, skip_special_tokens=False) + "\n" for x in ids]
                print(digest(shown), digest(plain), digest(whole), file=f)
                if block == 0:
                    f.writelines(shown[:SHOWN])
        print(name, t.get_vocab_size(), os.path.getsize(path))


if __name__ == "__main__":
    main()
