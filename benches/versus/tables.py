"""Plain tables."""

from typing import Sequence


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}\n")
    for row in [head, ["-" * width for width in widths], *rows]:
        first, *others = (cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join([first, *others]).rstrip())


def figure(value: float | None, unit: str = "") -> str:
    """Three significant digits."""
    if value is None:
        return "-"
    return (f"{value:.0f}" if value >= 100 else f"{value:#.3g}") + unit


def ratio(value: float | None, base: float | None) -> str:
    return figure(value / base, "x") if value is not None and base else "-"
