// Tests of scripts: what `asterisk test` lists and reports.

/** A test: the file below the scripts, and the name of its function. */
export interface TestId {
  file: string;
  name: string;
}

/** A failed check of a test. */
export interface Failure {
  message: string;
  /** The value that the check got, and the one that it wanted, if it compares two. */
  got?: string;
  wanted?: string;
  place?: Place;
}

/** A position in a file below the scripts, from 0. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/** What became of a test. */
export interface TestResult extends TestId {
  line: number | undefined;
  passed: boolean;
  milliseconds: number;
  failures: Failure[];
}

/** The tests that `asterisk test --list --format json` prints. */
export function listed(value: unknown): TestId[] {
  return list(value, "tests").flatMap((id) => {
    const hash = typeof id === "string" ? id.lastIndexOf("#") : -1;
    return typeof id === "string" && hash > 0 ? [{ file: id.slice(0, hash), name: id.slice(hash + 1) }] : [];
  });
}

/** The results that `asterisk test --format json` prints. */
export function results(value: unknown): TestResult[] {
  return list(value, "tests").map((test) => ({
    file: text(test, "file"),
    name: text(test, "name"),
    line: number(test, "line", undefined, -1),
    passed: text(test, "status") === "passed",
    milliseconds: (number(test, "seconds", 0) ?? 0) * 1000,
    failures: list(test, "failures").map(failure),
  }));
}

/** The arguments that run all tests of files, or one test of a file. The filter is a part of `file#name`, so that more tests may run. */
export function runArguments(files: readonly string[], name?: string): string[] {
  return ["test", ...files, ...(name === undefined ? [] : ["--filter", `${files[0]}#${name}`])];
}

/** Where the tests of a text are: the line of each test function, from 0. */
export function testLines(source: string): Map<string, number> {
  const found = new Map<string, number>();
  source.split("\n").forEach((line, index) => {
    const name = line.match(/^\s*(?:private\s+)?fn\s+(test_[A-Za-z0-9_]*)\s*\(/)?.[1];
    if (name !== undefined && !found.has(name)) {
      found.set(name, index);
    }
  });
  return found;
}

function failure(value: unknown): Failure {
  const message = text(value, "message");
  const row = isObject(value) && isObject(value["row"]) ? value["row"] : undefined;
  const help = isObject(value) && typeof value["help"] === "string" && value["help"] !== "" ? `\n\n${value["help"]}` : "";
  const where = row === undefined ? "" : `row ${String(row["index"])}, ${JSON.stringify(row["values"])}: `;
  const [label] = list(value, "labels");
  const compared = message.match(/^got `([\s\S]*)`, wanted `([\s\S]*)`$/);
  return {
    message: `${where}${message}${help}`,
    ...(compared?.[1] !== undefined && compared[2] !== undefined && { got: compared[1], wanted: compared[2] }),
    ...(label !== undefined && {
      place: { file: text(label, "file"), line: number(label, "line", 1, -1) ?? 0, column: number(label, "column", 1, -1) ?? 0 },
    }),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function list(value: unknown, key: string): unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

export function text(value: unknown, key: string): string {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : "";
}

function number(value: unknown, key: string, otherwise: number | undefined, offset = 0): number | undefined {
  const found = isObject(value) ? value[key] : undefined;
  const given = typeof found === "number" ? found : otherwise;
  return given === undefined ? undefined : given + offset;
}
