"""nulls.py - finds pointers that are tested without a comparison, `!p` or `if (p)`, and `!strcmp(a, b)`; rewrites them
with `fix`, where the text is simple enough. Run by nulls.sh: nulls.py CLANG-QUERY ROOT BUILD [fix]"""
import json
import os
import re
import subprocess
import sys
import tempfile

POINTER = "ignoringParens(expr(hasType(pointerType()), unless(ignoringParenImpCasts(stringLiteral()))).bind(\"{}\"))"
BARE = POINTER.format("bare")
QUERIES = f"""set output diag
set bind-root false
match unaryOperator(hasOperatorName("!"), hasUnaryOperand({POINTER.format("not")}))
match ifStmt(hasCondition({BARE}))
match whileStmt(hasCondition({BARE}))
match forStmt(hasCondition({BARE}))
match doStmt(hasCondition({BARE}))
match conditionalOperator(hasCondition({BARE}))
match binaryOperator(hasAnyOperatorName("&&", "||"), hasLHS({BARE}))
match binaryOperator(hasAnyOperatorName("&&", "||"), hasRHS({BARE}))
"""
PLACE = re.compile(r'(/[^:]+):(\d+):(\d+): note: "(not|bare)" binds here')
COMPARE = re.compile(r"!(strcmp|strncmp|memcmp|strcasecmp)\(")
OTHERS = ("kernels/cuda/", "tests/cuda/", "tests/emulator/")  # CUDA's sources have the style of their own


def places(query, root, build):
    """Returns {(file, line, column): "not" or "bare"}."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        files = {command["file"] for command in json.load(f)}
    files = sorted(f for f in files if f.endswith(".c") and not os.path.relpath(f, root).startswith(OTHERS))
    found = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as script:
        script.write(QUERIES)
        script.flush()
        jobs = [subprocess.Popen([query, "-p", build, "-f", script.name, *files[i::2]], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True) for i in range(min(2, len(files)))]
        for job in jobs:
            for file, line, column, kind in PLACE.findall(job.communicate()[0]):
                name = os.path.relpath(file, root)
                if not name.startswith(("..", *OTHERS)):
                    found[name, int(line), int(column)] = kind
    return found


def closing(text, at):
    """Returns the index behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        if text[at] in "\"'":
            quote = text[at]
            at += 1
            while text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        depth += (text[at] in "([") - (text[at] in ")]")
        at += 1
        if depth == 0:
            return at


def end_of(text, at):
    """Returns the index behind the operand that begins at `at`, or None."""
    while text[at] in "*&":
        at += 1
    name = re.compile(r"\w+").match(text, at)
    if text[at] != "(" and not name:
        return None
    at = name.end() if name else closing(text, at)
    while True:
        member = re.compile(r"(->|\.)\w+").match(text, at)
        if member:
            at = member.end()
        elif text[at] in "([":
            at = closing(text, at)
        else:
            return at


def edit(text, at, kind):
    """Returns [(from, to, replacement)], or None if the text is not simple enough."""
    if text.startswith("assert(", at):  # the place of a macro's argument is that of the macro
        at += len("assert(")
    end = end_of(text, at)
    behind = text[end:end + 200].lstrip() if end else ""
    if not behind or not (behind[0] in ")?;,:" or behind[:2] in ("&&", "||")):
        return None
    if kind == "bare":
        return None if text[at - 1] == "!" else [(end, end, " != NULL")]
    if text[at - 1] != "!" or text[at - 2] == "!":
        return None
    return [(at - 1, at, ""), (end, end, " == NULL")]


def main():
    query, root, build = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    fix = sys.argv[4:] == ["fix"]
    found = places(query, root, build)
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.c", "*.h"], capture_output=True, text=True, check=False)
    names = {n for n in listed.stdout.splitlines() if not n.startswith(OTHERS)} | {name for name, _, _ in found}
    count = 0
    for name in sorted(n for n in names if os.path.exists(os.path.join(root, n))):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            text = f.read()
        starts = [0] + [m.end() for m in re.finditer("\n", text)]
        edits = []
        for (file, line, column), kind in found.items():
            if file == name:
                one = edit(text, starts[line - 1] + column - 1, kind)
                if not fix or one is None:
                    count += 1
                    print(f"{name}:{line}:{column}: a pointer is tested without a comparison with NULL")
                edits += one or []
        for match in COMPARE.finditer(text):
            if not fix:
                count += 1
                print(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: ! of {match[1]}, in place of == 0")
            end = end_of(text, match.start() + 1)
            edits += [(match.start(), match.start() + 1, ""), (end, end, " == 0")]
        if fix and edits:
            for start, end, instead in sorted(edits, reverse=True):
                text = text[:start] + instead + text[end:]
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write(text)
    if count > 0:
        print(f"{count} found; `bash tests/house/nulls.sh . build/release fix` rewrites them")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
