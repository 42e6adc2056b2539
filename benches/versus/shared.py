"""The walk that all subjects take: seven nodes with canned answers, and fifteen conditions on the way. It has the shape of the
bundled pipeline of Asterisk as measured by `benches/walk.rs`, but the conditions are Python functions."""

from typing import Any, Callable

Artifact = dict[str, Any]
Condition = Callable[[Artifact], bool]

WHY = "the offset rises right after the clock servo was restarted, as in the two runs before this one"

ANSWERS: dict[str, Artifact] = {
    "recall": {"match": False, "confidence": 0.21, "reasoning": WHY, "is_regression": False},
    "triage": {
        "symptom_category": "product", "severity": "high", "defect_type_hypothesis": "pb001", "skip_investigation": False,
        "candidate_repos": ["clock-operator", "clock-daemon"], "clock_skew_suspected": False, "reasoning": WHY,
    },
    "resolve": {
        "selected_repos": [{"name": "clock-daemon", "path": "src/clock-daemon", "reason": WHY}],
        "cross_ref_strategy": "blame the servo first",
    },
    "investigate": {
        "rca_message": WHY, "defect_type": "pb001", "convergence_score": 0.85, "component": "servo",
        "evidence_refs": ["src/servo.c:120", "src/servo.c:188"], "case_ids": ["case-1"],
    },
    "correlate": {"is_duplicate": False, "confidence": 0.3, "reasoning": WHY},
    "review": {"decision": "approve", "reasoning": WHY, "by": "agent"},
    "report": {"title": "Offset of case 1", "summary": WHY, "labels": ["clock", "servo"]},
}
NODES = list(ANSWERS)

# The edges of a node, in the order in which they are tried. The report ends the walk.
EDGES: dict[str, list[tuple[Condition, str]]] = {
    "recall": [
        (lambda a: a["match"] and a["confidence"] >= 0.8, "review"),
        (lambda a: a["match"] and a["confidence"] >= 0.4, "triage"),
        (lambda a: not a["match"] or a["confidence"] < 0.4, "triage"),
    ],
    "triage": [
        (lambda a: a["clock_skew_suspected"], "review"),
        (lambda a: a["symptom_category"] == "infra", "review"),
        (lambda a: a["symptom_category"] == "flake", "review"),
        (lambda a: a["skip_investigation"], "review"),
        (lambda a: len(a["candidate_repos"]) == 1, "investigate"),
        (lambda a: not a["skip_investigation"], "resolve"),
    ],
    "resolve": [(lambda a: True, "investigate")],
    "investigate": [(lambda a: a["convergence_score"] >= 0.7, "correlate")],
    "correlate": [(lambda a: a["is_duplicate"] and a["confidence"] >= 0.8, "report"), (lambda a: True, "review")],
    "review": [(lambda a: a["decision"] == "approve", "report")],
    "report": [(lambda a: True, "end")],
}


def answer(node: str) -> Artifact:
    return ANSWERS[node]


def route(node: str, artifact: Artifact) -> str:
    """The target of the first edge whose condition is true."""
    for condition, target in EDGES[node]:
        if condition(artifact):
            return target
    raise LookupError(f"no edge of {node} fires")
