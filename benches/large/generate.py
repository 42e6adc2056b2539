#!/usr/bin/env python3
"""Writes a JUnit report with many failures of few roots: generate.py FAILURES ROOTS > report.xml

The texts look like those of JUnit, pytest, Go and browser tests. Failures of one root have its message and its innermost frame in common; test
names, addresses, durations, ports, hashes and the lines of the log around differ. The same arguments give the same report.
"""
import random
import sys
from xml.sax.saxutils import escape, quoteattr

NOUNS = """order invoice tenant session cache ledger shipment basket token profile widget report export mirror queue stream batch
cursor region quota account address archive article asset audit banner bucket budget campaign card catalog category channel chart
client cluster comment contact contract coupon course credit customer device digest dispute document domain draft""".split()
VERBS = "load save merge parse render flush rotate resolve submit validate index import sync assign close publish expire".split()
SUITES = "checkout billing search accounts catalog reports gateway messaging storage scheduler admin mobile".split()


class Root:
    """What the failures of one root have in common."""

    def __init__(self, number):
        pick = random.Random(number)
        self.number = number
        self.noun, self.verb, self.other = pick.choice(NOUNS), pick.choice(VERBS), pick.choice(NOUNS)
        self.suite = pick.choice(SUITES)
        self.name = f"{self.verb.title()}{self.noun.title()}{number}"
        self.line = pick.randint(20, 480)
        self.kind = pick.choice([self.assertion, self.null_pointer, self.refused, self.timeout, self.python, self.go, self.browser])
        self.values = pick.randint(1, 99), pick.randint(100, 999)

    def java(self, test, pick):
        return (
            f"\tat com.acme.{self.suite}.{self.name}.{self.verb}({self.name}.java:{self.line})\n"
            f"\tat com.acme.{self.suite}.{self.name}Test.{test}({self.name}Test.java:{pick.randint(15, 300)})\n"
            "\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)\n"
        )

    def assertion(self, test, pick):
        message = f"expected: <{self.values[0]}> but was: <{self.values[1]}>"
        frames = f"\tat com.acme.{self.suite}.{self.name}Test.{test}({self.name}Test.java:{self.line})\n"
        return "org.opentest4j.AssertionFailedError", f"{self.noun} count after {self.verb} ==> {message}", frames

    def null_pointer(self, test, pick):
        message = f'Cannot invoke "com.acme.{self.other.title()}.{self.verb}()" because "this.{self.noun}" is null'
        return "java.lang.NullPointerException", message, self.java(test, pick)

    def refused(self, test, pick):
        address = f"{self.noun}-db-{self.number}.internal/10.{self.number % 250}.3.7:5432"
        return "java.net.ConnectException", f"Connection refused: {address}", self.java(test, pick)

    def timeout(self, test, pick):
        message = f"{self.verb} of {self.noun} did not finish within 30 s (waited {pick.randint(30000, 30400)} ms)"
        return "java.util.concurrent.TimeoutException", message, self.java(test, pick)

    def python(self, test, pick):
        frames = (
            f"tests/{self.suite}/test_{self.noun}_{self.number}.py:{pick.randint(10, 200)}: in {test}\n"
            f"    {self.verb}({self.noun})\n{self.suite}/{self.noun}_{self.number}.py:{self.line}: in {self.verb}\n"
            f"    return self.{self.other}['{self.noun}_id']\n"
        )
        return "KeyError", f"KeyError: '{self.noun}_id'", frames + f"E   KeyError: '{self.noun}_id'\n"

    def go(self, test, pick):
        frames = (
            f"panic: runtime error: index out of range [{self.values[0]}] with length {self.values[0]}\n\n"
            f"goroutine {pick.randint(6, 900)} [running]:\n"
            f"acme/{self.suite}.(*{self.name}).{self.verb.title()}(0xc000{pick.randrange(16**6):06x})\n"
            f"\t/build/{self.suite}/{self.noun}_{self.number}.go:{self.line} +0x{pick.randrange(16**3):x}\n"
        )
        return "panic", f"index out of range [{self.values[0]}] with length {self.values[0]}", frames

    def browser(self, test, pick):
        message = f"Unable to locate element: #{self.noun}-{self.verb}-{self.number} (Session info: chrome={pick.randint(110, 130)}.0)"
        return "org.openqa.selenium.NoSuchElementException", message, self.java(test, pick)


def log(root, pick):
    lines = [
        f"2026-11-{pick.randint(1, 28):02} 1{pick.randint(0, 9)}:0{pick.randint(0, 9)}:2{pick.randint(0, 9)} INFO  [{root.suite}] "
        f"request {pick.randrange(16**8):08x} {root.verb} {pick.choice(NOUNS)} took {pick.randint(1, 900)} ms"
        for _ in range(pick.randint(2, 6))
    ]
    return "\n".join(lines)


def main(failures, roots):
    out = sys.stdout
    known = [Root(number) for number in range(roots)]
    # A few roots have most of the failures, as in practice.
    weights = [1 / (1 + number) ** 0.7 for number in range(roots)]
    pick = random.Random(1)
    chosen = known + pick.choices(known, weights, k=max(0, failures - roots))
    out.write(f'<testsuites><testsuite name="all" tests="{failures}" failures="{failures}">\n')
    for number, root in enumerate(chosen[:failures]):
        test = f"{root.verb}_{pick.choice(NOUNS)}_{number}"
        kind, message, frames = root.kind(test, pick)
        text = f"{kind}: {message}\n{frames}"
        out.write(
            f'<testcase classname="com.acme.{root.suite}.{root.name}Test" name="{test}" time="{pick.random() * 9:.3f}">'
            f"<failure type={quoteattr(kind)} message={quoteattr(message)}>{escape(text)}</failure>"
            f"<system-out>{escape(log(root, pick))}</system-out></testcase>\n"
        )
    out.write("</testsuite></testsuites>\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
