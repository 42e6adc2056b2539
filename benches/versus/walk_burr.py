"""The walk as an application of Burr: an action per node, a transition with a condition per edge. Burr builds an application for
each run; the graph is built once."""

from typing import Any, Callable

from burr.core import ApplicationBuilder, Condition, GraphBuilder, State, action

from shared import EDGES, NODES, answer
from shared import Condition as Test


def step(node: str) -> Any:
    @action(reads=[], writes=[node])
    def run(state: State) -> State:
        return state.update(**{node: answer(node)})

    return run


def condition(node: str, test: Test) -> Condition:
    return Condition([node], lambda state: test(state[node]), name=f"after {node}")


def walker(persister: Any = None) -> Callable[[str], int]:
    # Burr halts after an action: the walk ends with the report, whose edge needs no target.
    edges = [(node, to, condition(node, test)) for node in NODES if node != "report" for test, to in EDGES[node]]
    graph = GraphBuilder().with_actions(**{node: step(node) for node in NODES}).with_transitions(*edges).build()

    def walk(case: str) -> int:
        builder = ApplicationBuilder().with_graph(graph).with_state(case=case).with_entrypoint("recall")
        builder = builder.with_identifiers(app_id=case)
        if persister is not None:
            builder = builder.with_state_persister(persister)
        _, _, state = builder.build().run(halt_after=["report"])
        return sum(node in state for node in NODES)

    return walk


def memory() -> Callable[[str], int]:
    return walker()


def durable(path: str) -> Callable[[str], int]:
    from burr.core.persistence import SQLitePersister

    persister = SQLitePersister(path)
    persister.initialize()
    return walker(persister)


if __name__ == "__main__":
    print(memory()("case-1"))
