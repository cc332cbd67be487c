#!/usr/bin/env python3
"""Writes chronicle.txt, the text that `task text` learns without path=.

A chronicle of an invented country, drawn from a small grammar: a paragraph is one year. It is regular enough that
a model of bytes with a hundred thousand parameters learns it within minutes, and it has something to find at every
distance: letters within a word, words within a sentence, the ruler's name through a paragraph (about 300 bytes), the
year from one paragraph to the next. All words are this program's own. The same numbers on every machine: the
generator of random numbers is written out below.

    python3 texts/chronicle.py > texts/chronicle.txt

An argument is another number of bytes, for a chronicle that goes on, after the year 999 with the year one.
"""
import sys

BYTES = 240_000


class Random:
    """The multiplicative generator of Lehmer, modulus 2^31 - 1, multiplier 48271."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = self.state * 48271 % 2147483647
        return self.state * n // 2147483647

    def of(self, items):
        return items[self.below(len(items))]


RULERS = ["Alda", "Borin", "Celwen", "Dorgan", "Esmer", "Faldo", "Gerrit", "Hilda", "Ismene", "Jorund", "Kerrin", "Lothar",
          "Mirel", "Nolwen", "Osric", "Perran"]
TOWNS = ["Ashford", "Brindle", "Calder", "Dunmere", "Elmhurst", "Farrow", "Greywater", "Holmgard", "Ironbridge", "Kelby"]
THINGS = ["bridge", "tower", "mill", "harbour", "wall", "well", "road", "granary"]
HARVESTS = ["rich", "poor", "late", "fair"]
BEASTS = ["wolves", "bears", "ravens", "boars"]
GOODS = ["barley", "salt", "wool", "iron", "honey", "timber"]
SEASONS = ["spring", "summer", "autumn", "winter"]
UNITS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(n):
    if n >= 100:
        rest = n % 100
        return UNITS[n // 100] + " hundred" + (" and " + spelled(rest) if rest else "")
    if n < 20:
        return UNITS[n]
    return TENS[n // 10] + ("-" + UNITS[n % 10] if n % 10 else "")


class Reign:
    def __init__(self, r, before):
        self.ruler = before
        while self.ruler == before:
            self.ruler = r.of(RULERS)
        self.town = r.of(TOWNS)
        self.years = 2 + r.below(9)


def deed(r, reign):
    thing, town, ruler = r.of(THINGS), r.of(TOWNS), reign.ruler
    kind = r.below(6)
    if kind == 0:
        return f"{ruler} built a {thing} at {town}, and the {thing} at {town} was the work of {spelled(20 + r.below(80))} hands."
    if kind == 1:
        beasts = r.of(BEASTS)
        return f"The {beasts} came down to {town}, and {ruler} rode out against the {beasts}."
    if kind == 2:
        goods = r.of(GOODS)
        return f"{town} sent {goods} to {reign.town}, {spelled(2 + r.below(18))} carts of {goods}."
    if kind == 3:
        return f'"Who keeps the {thing} of {town}?" asked {ruler}. "We keep the {thing} of {town}," said the people.'
    if kind == 4:
        return f"In {r.of(SEASONS)} the river rose, and the {thing} of {town} was lost."
    return f"{ruler} of {reign.town} made peace with {town}."


def paragraph(r, year, reign, first):
    lines = [f"In the year {spelled(year)} "
             + (f"{reign.ruler} of {reign.town} took the crown." if first
                else f"{reign.ruler} of {reign.town} held the crown.")]
    for _ in range(2 + r.below(3)):
        lines.append(deed(r, reign))
    lines.append(f"The harvest was {r.of(HARVESTS)}, and so the year {spelled(year)} ended.")
    return " ".join(lines) + "\n"


def main():
    r, written, year, reign, left, out = Random(1729), 0, 1, None, 0, []
    most = int(sys.argv[1]) if len(sys.argv) > 1 else BYTES
    while written < most:
        first = left == 0
        if first:
            reign = Reign(r, reign.ruler if reign else "")
            left = reign.years
        out.append(paragraph(r, year, reign, first))
        written += len(out[-1])
        year, left = year % 999 + 1, left - 1
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
