"""llama.cpp beside pewter, for models.py: the same GGUF file in both, in F32 and in bf16."""
import os
import time

import measured

FORMS = ("F32", "BF16")


def write_gguf(source, out, form):
    """Writes a GGUF file with all matrices dequantised, in this form; vectors are F32."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(out, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind, part = field.types[0], field.types[-1]
        writer.add_key_value(name, field.contents(), kind, part if kind == gguf.GGUFValueType.ARRAY else None)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if form == "F32" else gguf.LlamaFileType.MOSTLY_BF16)
    for tensor in reader.tensors:
        data = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if form == "BF16" and data.ndim > 1:
            kind = gguf.GGMLQuantizationType.BF16
            writer.add_tensor(tensor.name, gguf.quants.quantize(data, kind), raw_dtype=kind)
        else:
            writer.add_tensor(tensor.name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def measure(args, path, prompt, count, length):
    """Returns the seconds of opening, tokens a second, the seconds of a pass of `length` tokens with all its logits,
    and the text."""
    import llama_cpp
    import numpy

    options = {"n_ctx": 1024, "n_batch": 512, "n_threads": args.threads, "n_threads_batch": args.threads,
               "logits_all": True, "verbose": False}
    begin = time.monotonic()
    model = llama_cpp.Llama(path, **options)
    opening = time.monotonic() - begin
    tokens, out = model.tokenize(prompt.encode(), add_bos=False), []
    model.eval(tokens)
    begin = time.monotonic()
    for _ in range(count):
        out.append(int(numpy.argmax(model.scores[model.n_tokens - 1])))
        model.eval(out[-1:])
    decoding = count / (time.monotonic() - begin)
    many = numpy.random.default_rng(0).integers(0, model.n_vocab(), length).tolist()
    model.reset()
    model.eval(many)
    begin = time.monotonic()
    for _ in range(args.samples):
        model.reset()
        model.eval(many)
    forward = (time.monotonic() - begin) / args.samples
    text = model.detokenize(out, special=True).decode(errors="replace")
    return {"opening, s": opening, "decoding, tokens a second": decoding, "a pass, s": forward, "text": text}


def compare(args, folder, pewter, prompt, count, length):
    """Prints a table for each form. pewter(args, path, tokenizer) returns what models.py measures."""
    for form in FORMS:
        path = os.path.join(folder, f"{form}.gguf")
        write_gguf(args.gguf, path, form)
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(pewter(args, path, folder))
            theirs.append(measure(args, path, prompt, count, length))
        os.remove(path)
        title = f"SmolLM2-135M, GGUF in {form}, {args.threads} threads, medians of {args.rounds} rounds"
        names = ["opening, s", "decoding, tokens a second", "a pass, s"]
        measured.print_table(title, "llama.cpp", ours, theirs, names)
