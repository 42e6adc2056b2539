"""Measures what memory and the history of the gap change: rounds per goal for goals in a random order, by six goals each.

    python3 measure.py [ASTERISK]
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

GOALS = 24
VARIANTS = {
    "memory, history of the gap": [],
    "no memory (--no-recall)": ["--no-recall"],
    "memory, plain replanning (--set epsilon=1 --set rho=1)": ["--set", "epsilon=1", "--set", "rho=1"],
    "neither": ["--no-recall", "--set", "epsilon=1", "--set", "rho=1"],
}

program = sys.argv[1] if len(sys.argv) > 1 else "asterisk"
goals = [f"look up the {kind} of service{number}" for kind in ("port", "owner", "release", "quota") for number in range(GOALS // 4)]
random.Random(7).shuffle(goals)

print("| | reached | rounds | by six goals |\n|---|---|---|---|")
for name, flags in VARIANTS.items():
    with tempfile.TemporaryDirectory() as state:
        project = shutil.copytree(os.path.dirname(os.path.abspath(__file__)), f"{state}/project")
        own = dict(os.environ, ASTERISK_AUDIT_LOG=f"{state}/audit.jsonl")
        rounds, reached = [], 0
        for goal in goals:
            command = [program, "goal", goal, "--workdir", "work", "--format", "json", *flags]
            ran = subprocess.run(command, cwd=project, env=own, capture_output=True, text=True)
            result = json.loads(ran.stdout)
            reached += result["status"] == "done"
            rounds.append(len(result["rounds"]))
    curve = ", ".join(str(sum(rounds[at : at + 6])) for at in range(0, len(rounds), 6))
    print(f"| {name} | {reached} of {len(goals)} | {sum(rounds)} | {curve} |", flush=True)
