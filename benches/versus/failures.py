"""Generates failures of known roots. The texts look like those of JUnit, pytest and Go, with ids, addresses, times and paths that
differ each time.

A root is a defect at one place in the code. It fails one to eight tests; some roots are frequent, most are rare. Every fifth
root is a twin: the same message as the root before it, at another place. Every tenth root has a second message, as a broken
database is refused here and times out there.

The defect is reached through other functions, which are in the stack trace: the same for all tests of a root, or with
`own_callers`, other ones for each test.

    python failures.py FAILURES ROOTS > launch.xml
"""

import random
import sys
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

THINGS = """order invoice tenant session cache ledger shipment basket token profile widget report export mirror queue stream batch
cursor region quota voucher parcel account policy lease schema tariff cohort branch snapshot""".split()
VERBS = "load save merge parse render flush rotate resolve submit validate encode publish replay settle expire collect".split()

# {thing}, {other}, {verb}: fixed for a root. The rest differs each time.
JAVA = [
    "java.lang.AssertionError: expected:<{n}> but was:<{m}> for {thing} {uuid}",
    "java.net.ConnectException: Connection refused: {thing}-db.internal/{ip}",
    "java.lang.NullPointerException: Cannot invoke \"com.acme.{thing}.{Thing}.get{Other}()\" because \"this.{other}\" is null",
    "java.util.concurrent.TimeoutException: {verb} of {thing} {hex} did not finish within {n} ms",
    "java.lang.IllegalStateException: {thing} {uuid} is {other}, cannot {verb} it twice",
    "org.hibernate.StaleObjectStateException: Row was updated by another transaction: [com.acme.{thing}.{Thing}#{n}]",
]
PYTEST = [
    "AssertionError: assert {n} == {m} where {n} = len(<{Thing}List at {pointer}>)",
    "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://{ip}/api/{thing}/{uuid}/{verb}",
    "KeyError: '{thing}_{other}'",
    "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not {verb} {thing}: deadlock, {n} waits for {m}",
    "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-ci/pytest-{n}/{thing}{m}/{other}.json'",
    "TimeoutError: {thing} {hex} was not ready to {verb} after {seconds} s",
]
GO = [
    "panic: runtime error: index out of range [{n}] with length {m}",
    "panic: runtime error: invalid memory address or nil pointer dereference [signal SIGSEGV: addr={pointer} pc={pointer}]",
    "Error: Not equal: expected: {n} actual: {m} Messages: {thing} {verb} {hex}",
    "failed to {verb} {thing} \"{uuid}\": rpc error: code = Unavailable desc = dial tcp {ip}: connect: connection refused",
    "context deadline exceeded: {verb} {thing}/{other} took {seconds}s",
    "open /var/lib/acme/{hex}/{thing}.lock: permission denied while trying to {verb}",
]
TEMPLATES = {"java": JAVA, "pytest": PYTEST, "go": GO}


Frame = tuple[str, str, int]  # module, function, line


@dataclass
class Failure:
    root: int
    suite: str
    test: str       # without its parameter
    parameter: str  # makes the id unique
    message: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.suite}::{self.test}{self.parameter}"


@dataclass
class Test:
    name: str
    line: int
    frames: list[Frame]  # the defect first


@dataclass
class Root:
    kind: str
    messages: list[str]
    words: dict[str, str]
    tests: list[Test]


def roots(count: int, own_callers: bool, rng: random.Random) -> list[Root]:
    def frame() -> Frame:
        return rng.choice(THINGS), rng.choice(VERBS), rng.randint(10, 900)

    made: list[Root] = []
    for number in range(count):
        kind = rng.choice(list(TEMPLATES))
        thing, other = rng.sample(THINGS, 2)
        words = {"thing": thing, "other": other, "verb": rng.choice(VERBS), "Thing": thing.title(), "Other": other.title()}
        messages = rng.sample(TEMPLATES[kind], 2 if number % 10 == 7 else 1)
        if number % 5 == 4:
            twin = made[-1]
            kind, messages, words = twin.kind, twin.messages, twin.words
        defect, callers = frame(), [frame() for _ in range(rng.randint(1, 5))]
        tests = []
        for _ in range(rng.randint(1, 8)):
            name = f"{rng.choice(VERBS)}_{words['thing']}_{rng.choice(THINGS)}"
            path = [frame() for _ in range(rng.randint(1, 5))] if own_callers else callers
            tests.append(Test(name, rng.randint(10, 400), [defect, *path]))
        made.append(Root(kind, messages, words, tests))
    return made


def values(rng: random.Random) -> dict[str, str]:
    def digits(length: int) -> str:
        return f"{rng.getrandbits(4 * length):0{length}x}"

    day, hour, minute, second = rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59)
    return {
        "n": str(rng.randint(100, 99999)),
        "m": str(rng.randint(100, 99999)),
        "seconds": f"{rng.uniform(1, 90):.2f}",
        "hex": digits(16),
        "pointer": "0x" + digits(12),
        "ip": f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.7:{rng.randint(1024, 65535)}",
        "uuid": "-".join(digits(length) for length in (8, 4, 4, 4, 12)),
        "time": f"2026-03-{day:02} {hour:02}:{minute:02}:{second:02},{rng.randint(0, 999):03}",
    }


def java(root: Root, message: str, test: Test, v: dict[str, str]) -> tuple[str, str]:
    owner = f"com.acme.{root.words['thing']}.{root.words['Thing']}Test"
    lines = [message]
    lines += [f"\tat com.acme.{m}.{m.title()}Service.{f}({m.title()}Service.java:{line})" for m, f, line in test.frames]
    lines += [f"\tat {owner}$$Lambda${v['n']}/{v['pointer']}.run(Unknown Source)"]
    lines += [f"\tat {owner}.{test.name}({root.words['Thing']}Test.java:{test.line})"]
    lines += ["\tat java.base/java.lang.reflect.Method.invoke(Method.java:568)"]
    lines += ["\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)"]
    return owner, "\n".join(lines)


def pytest(root: Root, message: str, test: Test, v: dict[str, str]) -> tuple[str, str]:
    thing = root.words["thing"]
    lines = [f"client = <acme.testing.Client object at {v['pointer']}>", "", f"    def test_{test.name}(client):",
             f">       client.{root.words['verb']}({thing})", "", f"tests/{thing}/test_{thing}.py:{test.line}: "]
    for m, f, line in reversed(test.frames):
        lines += ["_ " * 20, "", f"    def {f}(self, request):", f">       return self.{m}.{f}(request)"]
        lines += [f"E       {message}", ""] if (m, f, line) == test.frames[0] else [""]
        lines += [f"acme/{m}/{f}.py:{line}: " + (message.split(":")[0] if (m, f, line) == test.frames[0] else "")]
    lines += ["----- Captured log call -----", f"{v['time']} ERROR acme.{thing} request {v['hex']} failed"]
    return f"tests.{thing}.test_{thing}", "\n".join(lines)


def go(root: Root, message: str, test: Test, v: dict[str, str]) -> tuple[str, str]:
    thing = root.words["thing"]
    places = [f"/builds/{v['m']}/acme/{m}/{f}.go:{line}" for m, f, line in test.frames]
    lines = [f"=== RUN   Test_{test.name}"]
    if message.startswith("panic: "):
        lines += [message, "", f"goroutine {v['n']} [running]:"]
        for (m, f, _), at in zip(test.frames, places):
            lines += [f"github.com/acme/{m}.(*{m.title()}).{f.title()}({v['pointer']}, {{0x{v['n']}, 0x2}})", f"\t{at} +0x1d4"]
    else:
        lines += [f"    {thing}_test.go:{test.line}: ", f"        \tError Trace:\t{places[0]}"]
        lines += [f"        \t            \t{at}" for at in places[1:]]
        lines += [f"        \tError:      \t{message.removeprefix('Error: ')}"]
    lines += [f"--- FAIL: Test_{test.name} ({v['seconds']}s)"]
    return f"github.com/acme/{thing}", "\n".join(lines)


def failures(count: int, number_of_roots: int = 300, seed: int = 7, own_callers: bool = False) -> list[Failure]:
    rng = random.Random(seed)
    all_roots = roots(number_of_roots, own_callers, rng)
    order = rng.sample(range(number_of_roots), number_of_roots)
    weights = [1 / (order[root] + 5) for root in range(number_of_roots)]
    made = []
    for number in range(count):
        index = rng.choices(range(number_of_roots), weights)[0]
        root, v = all_roots[index], values(rng)
        message = rng.choice(root.messages).format(**root.words, **v)
        test = rng.choice(root.tests)
        suite, text = {"java": java, "pytest": pytest, "go": go}[root.kind](root, message, test, v)
        name = test.name if root.kind == "java" else f"{'test' if root.kind == 'pytest' else 'Test'}_{test.name}"
        made.append(Failure(index, suite, name, f"[{number}]", message, text))
    return made


def junit(failed: list[Failure]) -> str:
    lines = [f'<testsuite name="nightly" tests="{len(failed)}" failures="{len(failed)}">']
    for f in failed:
        head = f"<testcase classname={quoteattr(f.suite)} name={quoteattr(f.test + f.parameter)} time=\"1.0\">"
        lines += [f"{head}<failure message={quoteattr(f.message)}>{escape(f.text)}</failure></testcase>"]
    return "\n".join([*lines, "</testsuite>"])


if __name__ == "__main__":
    print(junit(failures(int(sys.argv[1]), int(sys.argv[2]))))
