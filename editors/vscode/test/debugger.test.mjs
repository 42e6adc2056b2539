// The debug adapter, asked by VS Code's own client for tests of adapters, with the configurations that package.json offers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { DebugClient } from "@vscode/debugadapter-testsupport";
import { read } from "./support/files.mjs";
import { asterisk, program, project, skipped } from "./support/program.mjs";

const [{ initialConfigurations }] = JSON.parse(read("package.json")).contributes.debuggers;

/** How long an answer may take, on a busy machine. */
const PATIENCE = 60_000;

test("a recorded case is debugged", { skip: skipped("dap"), timeout: 5 * PATIENCE }, async (context) => {
  const directory = project(context, "--minimal");
  const rules = path.join(directory, "scripts/rules/rca.rhai");
  asterisk(directory, "run");
  const client = new DebugClient(program, "dap", "asterisk", { cwd: directory });
  client.defaultTimeout = PATIENCE;
  await client.start();
  context.after(() => client.stop());

  const line = readFileSync(rules, "utf8").split("\n").findIndex((line) => line.includes("if !artifact.match || artifact.confidence < vars.recall_hit")) + 1;
  const launch = { ...initialConfigurations[0], project: directory, case: "880101" };
  const [, entry] = await Promise.all([
    client.waitForEvent("initialized").then(async () => {
      const { body } = await client.setBreakpointsRequest({ source: { path: rules }, breakpoints: [{ line }] });
      assert.deepEqual(body.breakpoints.map(({ verified }) => verified), [true]);
      return client.configurationDoneRequest();
    }),
    client.waitForEvent("stopped"),
    client.launch(launch),
  ]);
  assert.equal(entry.body.reason, "entry");
  const { threadId } = entry.body;

  const [, hit] = await Promise.all([client.continueRequest({ threadId }), client.waitForEvent("stopped")]);
  assert.equal(hit.body.reason, "breakpoint");
  const { body } = await client.stackTraceRequest({ threadId, levels: 20 });
  const [frame] = body.stackFrames;
  assert.deepEqual([frame.name.includes("recall_hit"), frame.line, frame.source?.path], [true, line, rules]);
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  assert.ok(scopes.length > 0);
  const variables = await Promise.all(scopes.map(({ variablesReference }) => client.variablesRequest({ variablesReference })));
  const names = variables.flatMap(({ body }) => body.variables.map(({ name }) => name));
  assert.ok(names.includes("confidence") && names.includes("recall_hit"), names.join(" "));
  const evaluated = await client.evaluateRequest({ expression: "vars.recall_hit > 0.0", frameId: frame.id, context: "watch" });
  assert.equal(evaluated.body.result, "true");

  await Promise.all([client.stepInRequest({ threadId }), client.waitForEvent("stopped")]);
  await Promise.all([client.stepBackRequest({ threadId }), client.waitForEvent("stopped")]);
  const back = await client.stackTraceRequest({ threadId, levels: 1 });
  assert.equal(back.body.stackFrames[0].line, line);
  await client.setBreakpointsRequest({ source: { path: rules }, breakpoints: [] });
  await Promise.all([client.continueRequest({ threadId }), client.waitForEvent("terminated")]);
});
