"""The walk as a graph of LangGraph: a channel per artifact, and a routing function per node that tries its conditions."""

import sqlite3
from functools import partial
from typing import Any, Callable, TypedDict

from langgraph.graph import END, START, StateGraph

from shared import EDGES, NODES, Artifact, answer, route


class State(TypedDict, total=False):
    case: str
    recall: Artifact
    triage: Artifact
    resolve: Artifact
    investigate: Artifact
    correlate: Artifact
    review: Artifact
    report: Artifact


def graph(checkpointer: Any = None) -> Any:
    builder = StateGraph(State)
    builder.add_edge(START, "step_recall")
    for node in NODES:
        # The name of a node must not be that of a channel.
        builder.add_node(f"step_{node}", partial(step, node))
        targets = {target: END if target == "end" else f"step_{target}" for _, target in EDGES[node]}
        builder.add_conditional_edges(f"step_{node}", partial(next_node, node), targets)
    return builder.compile(checkpointer=checkpointer)


def step(node: str, state: State) -> dict[str, Artifact]:
    return {node: answer(node)}


def next_node(node: str, state: State) -> str:
    return route(node, state[node])  # type: ignore[literal-required]


def memory() -> Callable[[str], int]:
    compiled = graph()
    return lambda case: len(compiled.invoke({"case": case})) - 1


def durable(path: str) -> Callable[[str], int]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    compiled = graph(SqliteSaver(sqlite3.connect(path, check_same_thread=False)))

    def walk(case: str) -> int:
        # "sync": a step is committed before the next one begins.
        config = {"configurable": {"thread_id": case}}
        return len(compiled.invoke({"case": case}, config, durability="sync")) - 1

    return walk


if __name__ == "__main__":
    print(memory()("case-1"))
