#!/usr/bin/env python3
"""structure.py - figures of the structure of one folder: who includes its private headers, and its circles.

usage: bench/structure.py [--folder src/lab] [--build build/release] [--arrows] [--check]

A file is a .c with the headers that declare its symbols; it depends on the files that define the symbols that it
uses, as `nm` reads them from the object files. A circle is a set of files each of which depends on all others,
directly or not (a strongly connected component). --arrows lists the dependencies inside the circles; --check fails
if there is one.

The public headers of the lab are its doors, as cmake/check_layers.cmake lists them.
"""
import argparse
import collections
import pathlib
import re
import subprocess


def read_symbols(objects):
    """The symbols that each object file defines and needs."""
    text = subprocess.run(["nm", "-A", *map(str, objects)], check=True, capture_output=True, text=True).stdout
    defines, needs = collections.defaultdict(set), collections.defaultdict(set)
    for line in text.splitlines():
        name, rest = line.rsplit(":", 1)
        *_, kind, symbol = rest.split()
        if kind == "U":
            needs[name].add(symbol)
        elif kind.isupper():
            defines[name].add(symbol)
    return defines, needs


def find_components(edges):
    """Tarjan's algorithm."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
                on.discard(component[-1])
            out.append(sorted(component))

    for v in list(edges):
        if v not in index:
            visit(v)
    return out


def read_edges(root, build, folder):
    objects = {}
    for o in build.glob(f"CMakeFiles/*.dir/{folder}/**/*.c.o"):
        name = re.sub(r".*\.dir/", "", str(o))[:-2]
        if name.startswith(folder + "/") and (root / name).exists():
            objects[str(o)] = name
    if not objects:
        raise SystemExit(f"no object files of {folder} below {build}: build them first")
    defines, needs = read_symbols(objects)
    owner = {symbol: objects[o] for o in objects for symbol in defines[o]}
    edges = {name: collections.defaultdict(set) for name in objects.values()}
    for o, name in objects.items():
        for symbol in needs[o]:
            if symbol in owner and owner[symbol] != name:
                edges[name][owner[symbol]].add(symbol)
    return edges


def find_includers(root, folder):
    """The files outside of the folder that include a header of it that is not public."""
    rules = (root / "cmake/check_layers.cmake").read_text()
    doors = re.compile(re.search(r'^set\(doors "([^"]+)"\)', rules, re.M)[1])
    out = collections.defaultdict(set)
    prefix = folder.removeprefix("src/") + "/"
    for top in ("src", "sessions", "tasks", "kernels", "tests", "bench"):
        for path in sorted((root / top).rglob("*.[ch]")):
            name = str(path.relative_to(root))
            if name.startswith(folder + "/"):
                continue
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
                if header.startswith(prefix) and not doors.fullmatch(header):
                    out[name].add(header)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="src/lab")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--arrows", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent

    includers = find_includers(root, args.folder)
    by_area = collections.Counter(pathlib.PurePath(name).parts[0] for name in includers)
    print(f"files outside of {args.folder} that include its private headers: {len(includers)}"
          + "".join(f"; {area} {n}" for area, n in sorted(by_area.items())))
    edges = read_edges(root, root / args.build, args.folder)
    components = sorted(find_components(edges), key=len, reverse=True)
    circles = [c for c in components if len(c) > 1]
    print(f"files in circles: {sum(map(len, circles))} of {len(edges)}; circles: {[len(c) for c in circles]}")
    folders, lines = collections.Counter(), collections.Counter()
    for path in (root / args.folder).rglob("*.[ch]"):
        folder = str(path.parent.relative_to(root))
        folders[folder] += 1
        lines[folder] += path.read_text().count("\n")
    print(f"lines: {sum(lines.values())}")
    for folder in sorted(folders):
        print(f"  {folder}: {folders[folder]} files, {lines[folder]} lines")
    if args.arrows:
        for name in sorted(includers):
            print(f"{name} includes {', '.join(sorted(includers[name]))}")
        for circle in circles:
            print(f"circle of {len(circle)}:")
            for a in circle:
                for b in circle:
                    if edges[a].get(b):
                        print(f"  {a} -> {b}: {', '.join(sorted(edges[a][b]))}")
    if args.check and circles:
        raise SystemExit("a circle of files; --arrows lists what ties it")


main()
