// The parts that do not need VS Code.

import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";
import { files } from "./support/files.mjs";
import { skipped, asterisk, project } from "./support/program.mjs";
import logic from "../out/logic.js";

test("the program is looked up in PATH, unless it is a path", () => {
  const { programOf } = logic;
  assert.equal(programOf("", "/p"), "asterisk");
  assert.equal(programOf(" asterisk ", "/p"), "asterisk");
  assert.equal(programOf("${workspaceFolder}/bin/a", "/p"), "/p/bin/a");
  assert.equal(programOf("bin/a", "/p"), "/p/bin/a");
  assert.equal(programOf("/usr/bin/a", undefined), "/usr/bin/a");
  assert.match(programOf("~/bin/a", "/p"), /^\/.*[^~]\/bin\/a$/);
});

test("a missing program has a message of its own", async () => {
  await assert.rejects(logic.run("/nowhere/asterisk", [], "."), logic.MissingProgram);
});

test("the first diagnostic is the message of an error", () => {
  const message = (stderr) => logic.firstMessage({ code: 2, stdout: "", stderr });
  assert.equal(message("store/missing\n\n  × no store at a yet\n  help: b\n"), "no store at a yet");
  assert.equal(message("error: unexpected argument\n"), "error: unexpected argument");
  assert.equal(message(""), "asterisk exited with code 2");
  assert.throws(() => logic.parseJson({ code: 2, stdout: "", stderr: "  × no\n" }), { message: "no" });
});

test("tests are listed with their files", () => {
  const value = { schema_version: 1, tests: ["rules/a_test.rhai#test_b", "odd", 3] };
  assert.deepEqual(logic.listed(value), [{ file: "rules/a_test.rhai", name: "test_b" }]);
  assert.deepEqual(logic.listed(null), []);
});

test("failures have their values and places", () => {
  const label = { file: "rules/a_test.rhai", line: 12, column: 15, text: "got.to", value: '"b"' };
  const failure = { row: { table: "t", index: 2, values: [1] }, code: "test/assert", message: 'got `"b"`, wanted `"c"`', help: "why", labels: [label] };
  const value = { tests: [{ file: "rules/a_test.rhai", name: "test_b", line: 10, status: "failed", seconds: 0.25, failures: [failure] }] };
  assert.deepEqual(logic.results(value), [
    {
      file: "rules/a_test.rhai",
      name: "test_b",
      line: 9,
      passed: false,
      milliseconds: 250,
      failures: [
        {
          message: 'row 2, [1]: got `"b"`, wanted `"c"`\n\nwhy',
          got: '"b"',
          wanted: '"c"',
          place: { file: "rules/a_test.rhai", line: 11, column: 14 },
        },
      ],
    },
  ]);
});

test("test functions are found in a text", () => {
  const text = "//! Tests.\n\nfn test_a() {}\nfn helper() {}\nprivate fn test_b() {}\n// fn test_c() {}\n";
  assert.deepEqual([...logic.testLines(text)], [["test_a", 2], ["test_b", 4]]);
});

test("a single test is selected by its file and name", () => {
  assert.deepEqual(logic.runArguments(["a_test.rhai", "b_test.rhai"]), ["test", "a_test.rhai", "b_test.rhai"]);
  assert.deepEqual(logic.runArguments(["a_test.rhai"], "test_b"), ["test", "a_test.rhai", "--filter", "a_test.rhai#test_b"]);
});

test("cases are listed by run", () => {
  const answer = { runs: [{ run: "r", cases: [{ case: "1", name: "first", status: "done" }, { case: "2", title: "Boom", defect: "pb001" }] }] };
  const [first, second] = logic.cases(answer);
  assert.deepEqual(first, { run: "r", case: "1", name: "first", defect: "", title: "", status: "done" });
  assert.deepEqual(second, { run: "r", case: "2", name: "2", defect: "pb001", title: "Boom", status: "" });
  assert.deepEqual([logic.outcome(first), logic.outcome(second)], ["done", "pb001: Boom"]);
  assert.deepEqual(logic.cases(null), []);
  assert.deepEqual([logic.isSame(first, { ...first }), logic.isSame(first, second), logic.isSame(undefined, undefined)], [true, false, false]);
});

test("an explanation is of a case of a run", () => {
  assert.deepEqual(logic.explainArguments("r", "1"), ["explain", "r", "--case", "1", "--format", "markdown"]);
});

test("texts that are not Markdown are shown as they are", () => {
  assert.equal(logic.asMarkdown("Flips", "# Case 1\n"), "# Case 1\n");
  assert.equal(logic.asMarkdown("Flips of H2", "a: *b*\nc\n"), "# Flips of H2\n\n```text\na: *b*\nc\n```\n");
});

test("the kind of a YAML file follows from its path", () => {
  const kinds = {
    "/p/asterisk.yaml": "project",
    "/p/pipelines/rca.yaml": "pipeline",
    "/p/pipelines/gallery/idea-to-zip/pipeline.yaml": "pipeline",
    "/p/pipelines/strict-policy.yaml": undefined,
    "/p/scripts/data/domains/shop.yml": "domain",
    "/p/heuristics/data/signatures/network.yaml": "signatures",
    "/p/scripts/data/scorecards/rca.yaml": "scorecard",
    "/p/scripts/data/evidence.yaml": "evidence",
    "/p/scripts/data/prices.yaml": undefined,
    "/p/.github/workflows/ci.yaml": undefined,
    "/p/scripts/data/terms.json": undefined,
  };
  for (const [file, kind] of Object.entries(kinds)) {
    assert.equal(logic.schemaKind(file), kind, file);
  }
  for (const { name } of [...files("scripts/data", ".yaml"), ...files("pipelines", ".yaml")]) {
    assert.notEqual(logic.schemaKind(`/p/${name}`), undefined, name);
  }
});

test("projects are the directories with asterisk.yaml, and folders without any", () => {
  const { roots } = logic;
  assert.deepEqual(roots(["/w/a/asterisk.yaml", "/w/b/asterisk.yaml"], ["/w", "/plain"]), ["/plain", "/w/a", "/w/b"]);
  assert.deepEqual(roots(["/w/asterisk.yaml", "/w/examples/asterisk.yaml"], ["/w"]), ["/w", "/w/examples"]);
  assert.deepEqual(roots(["/w/asterisk.yaml"], ["/w2"]), ["/w", "/w2"]);
  assert.deepEqual(roots([], []), []);
});

test("a file is of the innermost project around it", () => {
  const { ownerOf } = logic;
  assert.equal(ownerOf("/w/a/scripts/x.rhai", ["/w", "/w/a"]), "/w/a");
  assert.equal(ownerOf("/w/ab/x.rhai", ["/w", "/w/a"]), "/w");
  assert.equal(ownerOf("/w/..a/x.rhai", ["/w"]), "/w");
  assert.equal(ownerOf("/elsewhere/x.rhai", ["/w", "/w/a"]), undefined);
});

test("the program prints what is read here", { skip: skipped("run") }, (context) => {
  const directory = project(context, "--minimal");
  asterisk(directory, "run");
  const status = JSON.parse(asterisk(directory, "status", "--format", "json"));
  const { scripts, out } = logic.directories(JSON.parse(asterisk(directory, "config", "--format", "json")), directory);
  assert.equal(path.relative(directory, scripts), "scripts");
  const run = logic.latestRun(status);
  assert.match(asterisk(directory, "report", run, "--format", "html"), /^<!doctype html>/i);
  assert.equal(path.relative(directory, logic.reportOf(out, run)), `.asterisk/investigations/${run}/report.html`);
  const explained = asterisk(directory, ...logic.explainArguments(run, "880101"));
  assert.match(explained, /880101/);
});
