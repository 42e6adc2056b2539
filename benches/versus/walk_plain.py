"""The walk without a framework: a loop over functions, and a row of SQLite per step. Shows the cost of Python and of the disk."""

import json
import sqlite3
from typing import Callable

from shared import Artifact, answer, route


def walked(case: str, keep: Callable[[str, int, str, Artifact], None]) -> int:
    artifacts: dict[str, Artifact] = {}
    node = "recall"
    while node != "end":
        artifacts[node] = answer(node)
        keep(case, len(artifacts), node, artifacts)
        node = route(node, artifacts[node])
    return len(artifacts)


def memory() -> Callable[[str], int]:
    return lambda case: walked(case, lambda *_: None)


def durable(path: str) -> Callable[[str], int]:
    store = sqlite3.connect(path)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE steps (id TEXT, step INTEGER, node TEXT, state TEXT, PRIMARY KEY (id, step))")
    store.commit()

    def keep(case: str, step: int, node: str, artifacts: dict[str, Artifact]) -> None:
        store.execute("INSERT INTO steps VALUES (?, ?, ?, ?)", (case, step, node, json.dumps(artifacts)))
        store.commit()

    return lambda case: walked(case, keep)


if __name__ == "__main__":
    print(memory()("case-1"))
