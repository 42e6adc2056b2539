"""The walk as a graph of pydantic-graph: a step per node, followed by a decision with a predicate per edge."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Callable

from pydantic_graph import GraphBuilder, StepContext

from shared import EDGES, NODES, Artifact, answer


@dataclass
class State:
    artifacts: dict[str, Artifact] = field(default_factory=dict)


def step(node: str) -> Any:
    async def run(ctx: StepContext[State, None, Any]) -> Artifact:
        ctx.state.artifacts[node] = answer(node)
        return ctx.state.artifacts[node]

    return run


def graph() -> Any:
    builder = GraphBuilder(state_type=State, input_type=str, output_type=dict)
    steps = {node: builder.step(step(node), node_id=node) for node in NODES}
    targets = {**steps, "end": builder.end_node}
    builder.add(builder.edge_from(builder.start_node).to(steps["recall"]))
    for node in NODES:
        decision = builder.decision(node_id=f"after_{node}")
        for condition, target in EDGES[node]:
            decision = decision.branch(builder.match(dict, matches=condition).to(targets[target]))
        builder.add(builder.edge_from(steps[node]).to(decision))
    return builder.build()


def memory() -> Callable[[str], int]:
    built, loop = graph(), asyncio.new_event_loop()

    def walk(case: str) -> int:
        state = State()
        loop.run_until_complete(built.run(state=state, inputs=case))
        return len(state.artifacts)

    return walk


# pydantic-graph 2 stores no state; version 1 had persistence in files and in memory, without SQLite.
durable = None


if __name__ == "__main__":
    print(memory()("case-1"))
