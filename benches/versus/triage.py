"""The clustering of Kubernetes' triage (github.com/kubernetes/test-infra, triage/summarize), written anew in Python from its
description and behaviour: normalise, cluster the failures of each test, then the clusters of all tests. It leaves out the time
limits (60 s per test) and the memory of earlier runs."""

import re
from collections import defaultdict
from operator import sub
from zlib import crc32

LONGEST = 10_000
SAME = 64  # characters compared at once

DATES = re.compile(
    r"[A-Z][a-z]{2}, \d+ \w+ 2\d{3} [\d.: -]*(?:[-+]\d+)?|\w{3}\s+\d{1,2} \d+:\d+:\d+(?:\.\d+)?"
    r"|(?:\d{4}-\d\d-\d\d.|.\d{4} )\d\d:\d\d:\d\d(?:.\d+)?"
)
UNIQUE = re.compile(
    r"0x[0-9a-fA-F]+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[0-9a-fA-F]{8}(?:-\S{4}){3}-\S{12}(?:-\d+)?|[0-9a-f]{12,32}"
    r"|(?:minion-group-|default-pool-)[-0-9a-z]{4,}"
)
MAPS = re.compile(r"map\[([^][]*)\]")
PARAMETERS = re.compile(r"\[.*?\]|{.*?\}")


def normalize(text: str) -> str:
    """Dates become TIME; addresses, UUIDs and hashes are numbered in order of appearance. Other numbers remain."""
    text = DATES.sub("TIME", text)
    text = MAPS.sub(lambda found: f"map[{' '.join(sorted(found[1].split(' ')))}]", text)
    names: dict[str, str] = {}
    text = UNIQUE.sub(lambda found: names.setdefault(found[0], f"UNIQ{len(names) + 1}"), text)
    if len(text) > LONGEST:
        text = "\n".join(dict.fromkeys(text.split("\n")))
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "\n...[truncated]...\n" + text[-LONGEST // 2 :]
    return text


COUNTS: dict[str, list[int]] = {}


def counts(text: str) -> list[int]:
    """A histogram of the 4-byte sequences in 64 buckets; remembered per text."""
    if text not in COUNTS:
        data, buckets = text.encode(), [0] * 64
        for at in range(len(data) - 3):
            buckets[crc32(data[at : at + 4]) & 63] += 1
        COUNTS[text] = buckets
    return COUNTS[text]


def estimate(a: list[int], b: list[int]) -> int:
    """The estimate of the edit distance that excludes candidates. The original calls it a lower bound, but a substitution can
    count twice: it removes four sequences and adds four."""
    return sum(map(abs, map(sub, a, b))) // 4


def distance(a: str, b: str, limit: int) -> int:
    """The edit distance, or a number above `limit`: for each number of edits, the furthest row of `b` that each diagonal
    reaches (Ukkonen; Berghel and Roach)."""
    main = len(a) - len(b)
    if abs(main) > limit:
        return limit + 1
    reached: dict[int, int] = {}
    for edits in range(limit + 1):
        before, reached = reached, {}
        # Diagonals from which the main one cannot be reached within the limit are left out.
        rest = limit - edits
        for diagonal in range(max(-edits, main - rest), min(edits, main + rest) + 1):
            row = 0 if edits == 0 else max(
                before.get(diagonal, -1) + 1, before.get(diagonal + 1, -1) + 1, before.get(diagonal - 1, -1)
            )
            reached[diagonal] = matched(a, b, row, diagonal)
        if reached.get(main, -1) >= len(b):
            return edits
    return limit + 1


def matched(a: str, b: str, row: int, diagonal: int) -> int:
    """Where the run of equal characters of `b` from `row`, and of `a` on this diagonal, ends."""
    end = min(len(b), len(a) - diagonal)
    if row + diagonal < 0:
        return row
    while row + SAME <= end and a[row + diagonal : row + diagonal + SAME] == b[row : row + SAME]:
        row += SAME
    while row < end and a[row + diagonal] == b[row]:
        row += 1
    return row


def match(text: str, candidates: dict[str, list[int]]) -> str | None:
    """The most similar candidate that differs by less than a tenth of the mean length."""
    own = counts(text)
    for guess, key in sorted((estimate(own, counts(key)), key) for key in candidates):
        limit = int((len(text) + len(key)) / 2 * 0.10)
        if guess <= limit and limit > 1 and distance(text, key, limit) < limit:
            return key
    return None


def place(clusters: dict[str, list[int]], text: str, members: list[int]) -> None:
    key = text if text in clusters else match(text, clusters)
    clusters.setdefault(text if key is None else key, []).extend(members)


def group(tests: list[str], texts: list[str]) -> list[int]:
    """The number of the group of each failure."""
    COUNTS.clear()
    by_test: dict[str, list[int]] = defaultdict(list)
    for index, test in enumerate(tests):
        by_test[PARAMETERS.sub("", test).strip()].append(index)
    local: list[dict[str, list[int]]] = []
    for members in sorted(by_test.values(), key=len, reverse=True):
        clusters: dict[str, list[int]] = {}
        for index in members:
            place(clusters, normalize(texts[index]), [index])
        local.append(clusters)
    everywhere: dict[str, list[int]] = {}
    for clusters in local:
        for text, members in sorted(clusters.items(), key=lambda item: -len(item[1])):
            place(everywhere, text, members)
    groups = [0] * len(texts)
    for number, members in enumerate(everywhere.values()):
        for index in members:
            groups[index] = number
    return groups
