// The extension in a stub of VS Code: what package.json declares is registered, and tests of a project run.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { extension, read } from "./support/files.mjs";
import { asterisk, program, project, skipped } from "./support/program.mjs";
import { load, stub } from "./support/vscode.mjs";

const manifest = JSON.parse(read("package.json"));
const { contributes } = manifest;

test("every file that package.json names is there", () => {
  const named = [...contributes.grammars.map(({ path }) => path), ...contributes.languages.map(({ configuration }) => configuration), manifest.main];
  assert.deepEqual(named.filter((name) => !existsSync(path.join(extension, name))), []);
  for (const { path: name, scopeName } of contributes.grammars) {
    assert.equal(JSON.parse(read(name)).scopeName, scopeName);
  }
});

test("versions are exact, and the lock file names no registry", () => {
  const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
  assert.deepEqual(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version)), []);
  assert.doesNotMatch(read("package-lock.json"), /"resolved"|https?:\/\/[^"]*registry/);
});

test("what package.json declares is registered", async () => {
  const { registered, vscode } = stub({ path: "/nowhere/asterisk" });
  const context = { subscriptions: [] };
  await load(vscode).activate(context);
  assert.deepEqual([...registered.commands.keys()].sort(), contributes.commands.map(({ command }) => command).sort());
  assert.deepEqual([...registered.debuggers.keys()], contributes.debuggers.map(({ type }) => type));
  assert.deepEqual([...registered.configurations.keys()], contributes.debuggers.map(({ type }) => type));
  assert.ok(context.subscriptions.every(({ dispose }) => typeof dispose === "function"));
  const commands = new Set(contributes.commands.map(({ command }) => command));
  assert.ok(contributes.menus.commandPalette.every(({ command }) => commands.has(command)));
  const settings = Object.keys(contributes.configuration.properties);
  const used = ["path", "schemas"].map((name) => `asterisk.${name}`);
  assert.deepEqual(used.filter((name) => !settings.includes(name)), []);
});

test("a missing program is reported with what to do", async () => {
  const { registered, vscode } = stub({ path: "/nowhere/asterisk" }, extension);
  await load(vscode).activate({ subscriptions: [] });
  assert.deepEqual(registered.messages, ["Cannot start `/nowhere/asterisk`. Install Asterisk, or set `asterisk.path` to the program."]);
});

test("the debugger starts `asterisk dap` with the given attributes, and the latest run by default", () => {
  const { registered, vscode } = stub({ path: "bin/asterisk" }, "/project");
  load(vscode).activate({ subscriptions: [] });
  const provider = registered.configurations.get("asterisk");
  const given = provider.resolveDebugConfiguration({ uri: { fsPath: "/project" } }, {});
  assert.deepEqual(given, {
    type: "asterisk",
    request: "launch",
    name: "Debug a case of the latest run",
    run: "latest",
    stopOnEntry: true,
    project: "/project",
  });
  const attributes = Object.keys(contributes.debuggers[0].configurationAttributes.launch.properties);
  assert.deepEqual(Object.keys(given).filter((name) => !["type", "request", "name", ...attributes].includes(name)), []);
  const adapter = registered.debuggers.get("asterisk").createDebugAdapterDescriptor({ configuration: given });
  assert.deepEqual({ ...adapter }, { command: "/project/bin/asterisk", args: ["dap"], options: { cwd: "/project" } });
});

/** Activates the extension, until the end of the test. */
async function activate(context, vscode) {
  const subscriptions = [];
  context.after(() => subscriptions.forEach((one) => one.dispose()));
  await load(vscode).activate({ subscriptions });
}

test("the language client starts, and commands show what the server answers", { skip: skipped("lsp") }, async (context) => {
  const directory = project(context, "--minimal");
  asterisk(directory, "run");
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  // A command of the server that the client registered too would be an error here.
  assert.deepEqual(registered.messages, []);
  const run = (name, ...args) => registered.commands.get(`asterisk.${name}`)(...args);
  await run("selectCase");
  assert.equal(registered.status.text, "$(beaker) 880101");
  // From the palette, then from a lens.
  await run("explain");
  await run("explain", "latest", null, "H2");
  await run("showFlips", "H2");
  await run("openReport");
  assert.deepEqual(registered.messages, []);
  const [palette, lens, flips] = registered.pages;
  assert.match(palette.text, /880101/);
  assert.match(lens.text, /H2/);
  assert.equal(typeof flips.text, "string");
  assert.match(registered.panels[0].webview.html, /^<!doctype html>/i);
});

test("the Test Explorer lists and runs the tests of a project", { skip: skipped("test") }, async (context) => {
  const directory = project(context, "--minimal");
  const file = path.join(directory, "scripts/rules/decisions_test.rhai");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n/// Fails.\nfn test_wrong() {\n    assert_eq(1 + 1, 3);\n}\n`);
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  const [controller] = registered.controllers;
  await controller.refreshHandler();
  assert.deepEqual([...controller.items].map(([, item]) => item.label), ["rules/decisions_test.rhai"]);
  const [[, item]] = controller.items;
  const names = [...item.children].map(([id]) => id);
  assert.deepEqual(names, ["test_a_crash_in_the_only_repository_is_investigated", "test_wrong"]);
  // All of the file, then one by the command of a lens.
  await controller.profiles[0]({ include: undefined }, undefined);
  const states = controller.reported.filter(({ state }) => state !== "started");
  assert.deepEqual(states.map(({ state, test }) => `${test} ${state}`), [`${names[0]} passed`, "test_wrong failed"]);
  const [[message]] = states[1].rest;
  assert.deepEqual([message.expected, message.actual], ["3", "2"]);
  const line = readFileSync(file, "utf8").split("\n").findIndex((line) => line.includes("1 + 1"));
  assert.deepEqual([message.location.uri.fsPath, message.location.position.at[0]], [file, line]);
  controller.reported.length = 0;
  await registered.commands.get("asterisk.runTest")(`file://${file}`, "test_wrong");
  assert.deepEqual(controller.reported.map(({ state, test }) => `${test} ${state}`), ["test_wrong started", "test_wrong failed"]);
  assert.deepEqual(registered.messages, []);
});
