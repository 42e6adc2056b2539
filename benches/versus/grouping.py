"""Compares ways to group failures by their root, against the known roots of generated failures.

    python grouping.py --asterisk PATH
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Callable, Hashable, Sequence

import triage
from failures import Failure, failures, junit
from tables import figure, ratio, table
from walk import environment

Groups = Sequence[Hashable]


def pairs(groups: Groups) -> int:
    return sum(size * (size - 1) // 2 for size in Counter(groups).values())


def quality(groups: Groups, truth: Groups) -> tuple[float, float, float]:
    """Precision, recall and F1 over pairs of failures: two of one group should be of one root."""
    both = pairs(list(zip(groups, truth)))
    precision, recall = both / max(pairs(groups), 1), both / max(pairs(truth), 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def by_message(failed: list[Failure]) -> Groups:
    """The simplest way: equal messages after the normalisation of triage, and without numbers."""
    return [re.sub(r"\d+", "#", triage.normalize(f.message)) for f in failed]


def by_triage(failed: list[Failure]) -> Groups:
    return triage.group([f"{f.suite} {f.test}{f.parameter}" for f in failed], [f.text for f in failed])


def by_drain(failed: list[Failure], texts: list[str]) -> Groups:
    from drain3 import TemplateMiner
    from drain3.masking import MaskingInstruction
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()  # depth 4, similarity 0.4, as by default
    masks = [
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
        (r"\d{1,3}(\.\d{1,3}){3}(:\d+)?", "IP"),
        (r"\b(0x[0-9a-fA-F]+|[0-9a-f]{12,32})\b", "HEX"),
        (r"(?<![\w.])[-+]?\d+(\.\d+)?\b", "NUM"),
    ]
    config.masking_instructions = [MaskingInstruction(pattern, name) for pattern, name in masks]
    miner = TemplateMiner(config=config)
    return [miner.add_log_message(text)["cluster_id"] for text in texts]


def by_asterisk(failed: list[Failure], binary: str) -> Groups:
    """The causes of a run. A failure without a cause is a group of its own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "launch.xml").write_text(junit(failed))
        command = [binary, "run", "--input", "launch.xml", "--store", "store.db", "--out", "out", "--files", "never"]
        command += ["--parallel", "1"]
        subprocess.run(command, cwd=directory, env=environment(), stdout=subprocess.DEVNULL, check=True)
        report = json.loads(next(Path(directory, "out").glob("*/rca.json")).read_text())
    cause = {case: number for number, found in enumerate(report["causes"]) for case in found["cases"]}
    if report["totals"]["cases"] != len(failed):
        raise SystemExit(f"Asterisk has read {report['totals']['cases']} of {len(failed)} failures")
    return [cause.get(f.id, f.id) for f in failed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", type=int, default=20_000, help="0: none")
    parser.add_argument("--roots", type=int, default=300)
    parser.add_argument("--asterisk", help="the binary; without it, Asterisk is left out")
    parser.add_argument("--asterisk-failures", type=int, default=400, help="failures that all subjects group, Asterisk included")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()

    subjects: dict[str, Callable[[list[Failure]], Groups]] = {
        "equal messages without numbers": by_message,
        "Kubernetes triage [2]": by_triage,
        "Drain (drain3), messages": lambda failed: by_drain(failed, [f.message for f in failed]),
        "Drain (drain3), whole texts": lambda failed: by_drain(failed, [f.text for f in failed]),
    }
    try:
        import drain3  # noqa: F401
    except ImportError:
        print("skipped: drain3: not installed")
        subjects = {name: run for name, run in subjects.items() if "drain3" not in name}
    with_asterisk = dict(subjects)
    if options.asterisk:
        with_asterisk = {"Asterisk [1]": lambda failed: by_asterisk(failed, options.asterisk), **subjects}

    for count, own_callers, run in [
        (options.asterisk_failures, False, with_asterisk),
        (options.asterisk_failures, True, with_asterisk),
        (options.failures, False, subjects),
        # Without the second data set, which takes the implementation of triage here more than three minutes.
    ]:
        if count == 0:
            continue
        failed = failures(count, options.roots, options.seed, own_callers)
        truth = [f.root for f in failed]
        rows, base = [], None
        for name, grouped in run.items():
            start = time.perf_counter()
            groups = grouped(failed)
            taken = (time.perf_counter() - start) * 1000 / count
            base = taken if name.startswith("Asterisk") else base
            precision, recall, f1 = quality(groups, truth)
            rows.append([name, figure(taken * count / 1000), figure(taken), ratio(taken, base), str(len(set(groups))),
                         f"{precision:.3f}", f"{recall:.3f}", f"{f1:.3f}"])
        head = ["", "time, s", "ms per failure", "ratio", "groups", "precision", "recall", "F1"]
        callers = "other callers for each test" if own_callers else "the same callers for all tests of a root"
        table(f"Grouping: {count} failures of {len(set(truth))} roots, {callers}", head, rows)
    print("""
[1] The time is that of a whole run on one thread, from the start of the process: reading, the investigation of each failure with
    its records in a store, and the reports. Grouping alone is not measured.
[2] Written in Python for this comparison; the original is in Go and much faster. Its groups are the figures to compare.""")


if __name__ == "__main__":
    main()
