"""Compares a walk of seven nodes in Asterisk with the same walk in graph frameworks for Python.

    python walk.py --asterisk PATH --walk-us US --durable-us US

Every subject runs in processes of its own, in turns. The fastest round counts.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared import ANSWERS, NODES
from tables import figure, ratio, table

HERE = Path(__file__).resolve().parent
SUBJECTS = {
    "plain": "plain Python, no framework",
    "langgraph": "LangGraph",
    "burr": "Burr",
    "pydantic_graph": "pydantic-graph",
}
LAUNCH = """<testsuite name="clock" tests="1" failures="1"><testcase classname="clock.Offset" name="keeps_offset">
<failure message="Expected offset 117 to be below 100">at servo.c:120</failure></testcase></testsuite>"""


def per_walk(walk, walks: int, batches: int) -> float:
    """Microseconds per walk of the fastest batch; the first batch warms up."""
    best = float("inf")
    for batch in range(batches + 1):
        start = time.perf_counter()
        for number in range(walks):
            if walk(f"case-{batch}-{number}") != len(NODES):
                raise SystemExit("the walk has not visited every node")
        if batch > 0:
            best = min(best, (time.perf_counter() - start) / walks * 1e6)
    return best


def measure(subject: str) -> None:
    """Runs in a child process; prints JSON."""
    module = importlib.import_module(f"walk_{subject}")
    result = {"memory": per_walk(module.memory(), 100, 5), "durable": None}
    if module.durable:
        with tempfile.TemporaryDirectory() as directory:
            result["durable"] = per_walk(module.durable(f"{directory}/steps.db"), 20, 5)
    print(json.dumps(result))


def seconds(command: list[str], cwd: str) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-600:]}")
    return time.perf_counter() - start


def environment() -> dict[str, str]:
    """That of this process without settings of Asterisk and LangSmith, which would change what is measured."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("ASTERISK_", "LANGSMITH_", "LANGCHAIN_"))}


def cold_asterisk(binary: str, dry: bool) -> float:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "launch.xml").write_text(LAUNCH)
        Path(directory, "answers.json").write_text(json.dumps({"*": {node: [artifact] for node, artifact in ANSWERS.items()}}))
        command = [binary, "run", "--input", "launch.xml", "--stub", "answers.json", "--store", "store.db", "--out", "out"]
        taken = seconds(command + (["--dry-run"] if dry else []), directory)
        if not dry:
            report = json.loads(next(Path(directory, "out").glob("*/rca.json")).read_text())
            if len(report["cases"][0]["path"]) != len(NODES):
                raise SystemExit("the walk of Asterisk has not visited every node")
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--asterisk", help="the binary; without it, Asterisk's cold start is not measured")
    parser.add_argument("--walk-us", type=float, help="us per walk, as printed by `cargo bench --bench walk`")
    parser.add_argument("--durable-us", type=float, help="us per walk with `step`, as printed by `cargo bench --bench durable`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=SUBJECTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure)

    found, cold = {}, {}
    for subject, name in SUBJECTS.items():
        script = [sys.executable, f"walk_{subject}.py"]
        check = subprocess.run(script, cwd=HERE, env=environment(), capture_output=True, text=True)
        if check.returncode == 0:
            found[subject], cold[subject] = {}, float("inf")
        else:
            print(f"skipped: {name}: {check.stderr.strip().splitlines()[-1]}")

    start = {"python": float("inf"), "dry": float("inf"), "run": float("inf")}
    for _ in range(options.rounds):
        start["python"] = min(start["python"], seconds([sys.executable, "-c", "pass"], str(HERE)))
        for subject in found:
            command = [sys.executable, "walk.py", "--measure", subject]
            child = subprocess.run(command, cwd=HERE, env=environment(), capture_output=True, text=True, check=True)
            for key, value in json.loads(child.stdout).items():
                found[subject][key] = value if value is None else min(value, found[subject].get(key, float("inf")))
            cold[subject] = min(cold[subject], seconds([sys.executable, f"walk_{subject}.py"], str(HERE)))
        if options.asterisk:
            for key in ("dry", "run"):
                start[key] = min(start[key], cold_asterisk(options.asterisk, key == "dry"))

    base = {"memory": options.walk_us, "durable": options.durable_us, "cold": start["run"] if options.asterisk else None}

    def row(name: str, memory: float | None, durable: float | None, cold: float | None, none: str = "-") -> list[str]:
        pairs = [(memory, base["memory"]), (durable, base["durable"]), (cold, base["cold"])]
        cells = [[figure(value), ratio(value, floor)] for value, floor in pairs]
        if durable is None:
            cells[1][0] = none
        return [name, *sum(cells, [])]

    rows = [row("Asterisk [1]", base["memory"], base["durable"], base["cold"])] if any(base.values()) else []
    if options.asterisk:
        rows.append(row("Asterisk, --dry-run [2]", None, None, start["dry"]))
    rows += [row(SUBJECTS[s], found[s]["memory"], found[s]["durable"], cold[s], "none [3]") for s in found]
    rows.append(row("python -c pass", None, None, start["python"]))
    head = ["walk of seven nodes", "in memory, us", "ratio", "durable steps, us", "ratio", "cold start, s", "ratio"]
    table("Walks: time per walk, and from the start of the process to the end of one walk", head, rows)
    print("""
[1] In memory and durable (--durability step): not measured by this program, but given as --walk-us and --durable-us, from
    `cargo bench`. Each decision is recorded with its inputs. Cold start: a whole `asterisk run` of one case: it also reads a
    report, runs the queries, masks and effects of the pipeline, and writes a store and the reports.
[2] Nothing is written. The cold starts of the frameworks write nothing either.
[3] Version 2 of pydantic-graph lacks persistence.""")


if __name__ == "__main__":
    main()
