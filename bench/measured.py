"""The table of what two programs measured: medians, and a ratio above 1 where pewter is faster."""
import statistics


def print_table(title, other, ours, theirs, names):
    """ours and theirs: dicts, one a round, with the text of the answer and numbers by name. A unit of seconds, ", s", is less
    the better."""
    if any(o["text"] != t["text"] for o, t in zip(ours, theirs)):
        print(f"DIFFERENT text: {ours[0]['text']!r} and {theirs[0]['text']!r}")
    print(f"{title:60}{'pewter':>12}{other:>14}{'ratio':>7}")
    for name in names:
        o, t = (statistics.median(row[name] for row in rows) for rows in (ours, theirs))
        print(f"{name:60}{o:12.2f}{t:14.2f}{t / o if name.endswith(', s') else o / t:7.2f}")
