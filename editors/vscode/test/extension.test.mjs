// The extension in a stub of VS Code: what package.json declares is registered, and tests of a project run.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { extension, read } from "./support/files.mjs";
import { asterisk, program, project, skipped } from "./support/program.mjs";
import { load, memento, stub } from "./support/vscode.mjs";

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

/** Activates the extension, until the end of the test. */
async function activate(context, vscode, workspaceState = memento()) {
  const subscriptions = [];
  context.after(() => subscriptions.forEach((one) => one.dispose()));
  await load(vscode).activate({ subscriptions, workspaceState });
  return subscriptions;
}

/** Waits until something is so. */
async function until(holds, what) {
  const end = Date.now() + 60_000;
  while (!holds()) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("what package.json declares is registered", async (context) => {
  const { registered, vscode } = stub({ path: "/nowhere/asterisk" });
  const subscriptions = await activate(context, vscode);
  assert.deepEqual([...registered.commands.keys()].sort(), contributes.commands.map(({ command }) => command).sort());
  assert.deepEqual([...registered.debuggers.keys()], contributes.debuggers.map(({ type }) => type));
  assert.deepEqual([...registered.configurations.keys()], contributes.debuggers.map(({ type }) => type));
  assert.ok(subscriptions.every(({ dispose }) => typeof dispose === "function"));
  const commands = new Set(contributes.commands.map(({ command }) => command));
  assert.ok(Object.values(contributes.menus).flat().every(({ command }) => commands.has(command)));
  const settings = Object.keys(contributes.configuration.properties);
  const used = ["path", "schemas"].map((name) => `asterisk.${name}`);
  assert.deepEqual(used.filter((name) => !settings.includes(name)), []);
});

const MISSING = "Cannot start `/nowhere/asterisk`. Install Asterisk, or set `asterisk.path` to the program.";

test("a missing program is reported with what to do, by every command", async (context) => {
  const { registered, vscode } = stub({ path: "/nowhere/asterisk" }, extension);
  await activate(context, vscode);
  assert.deepEqual(registered.messages, [MISSING]);
  for (const [name, ...args] of [["selectCase"], ["explain"], ["explain", "latest", null, "H2"], ["showFlips", "H2"], ["openReport"]]) {
    await registered.commands.get(`asterisk.${name}`)(...args);
  }
  const provider = registered.configurations.get("asterisk");
  assert.equal(await provider.resolveDebugConfiguration(undefined, {}), undefined);
  const given = { run: "latest", project: extension };
  assert.equal(await provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, given), undefined);
  assert.deepEqual(registered.messages, Array(8).fill(MISSING));
});

test("the debugger starts `asterisk dap` with the given attributes, and the latest run by default", async (context) => {
  const { registered, vscode } = stub({ path: "bin/asterisk" }, "/project");
  vscode.workspace.findFiles = async () => [];
  await activate(context, vscode);
  const provider = registered.configurations.get("asterisk");
  const given = await provider.resolveDebugConfiguration({ uri: { fsPath: "/project" } }, { type: "asterisk", request: "launch" });
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
  const report = await provider.resolveDebugConfiguration(undefined, { type: "asterisk", input: "junit.xml", project: "${workspaceFolder}/p" });
  assert.deepEqual([report.run, report.project], [undefined, "${workspaceFolder}/p"]);
  const adapter = registered.debuggers.get("asterisk").createDebugAdapterDescriptor({ configuration: given });
  assert.deepEqual({ ...adapter }, { command: "/project/bin/asterisk", args: ["dap"], options: { cwd: "/project" } });
});

test("without a run, one is offered", { skip: skipped("lsp") }, async (context) => {
  const directory = project(context, "--minimal");
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  registered.act = (message, [action]) => action;
  await registered.commands.get("asterisk.openReport")();
  const provider = registered.configurations.get("asterisk");
  assert.equal(await provider.resolveDebugConfiguration(undefined, {}), undefined);
  const given = await provider.resolveDebugConfiguration(undefined, { type: "asterisk" });
  assert.equal(await provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, given), undefined);
  assert.deepEqual(registered.messages, Array(3).fill("There is no run yet: `asterisk run` makes one."));
  await until(() => registered.tasks.length === 3, "a run is started");
  const { process, args, options } = registered.tasks[0].execution;
  assert.deepEqual([process, args, options.cwd], [program, ["run"], directory]);
  // A report that the explorer's menu is opened for.
  await registered.commands.get("asterisk.run")(vscode.Uri.file(path.join(directory, "target/junit.xml")));
  assert.deepEqual(registered.tasks[3].execution.args, ["run", "--input", "target/junit.xml"]);
});

test("the language client starts, and commands show what the server answers", { skip: skipped("lsp") }, async (context) => {
  const directory = project(context, "--minimal");
  asterisk(directory, "run");
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  // A command of the server that the client registered too would be an error here.
  assert.deepEqual(registered.messages, []);
  const run = (name, ...args) => registered.commands.get(`asterisk.${name}`)(...args);
  // From the palette, then from a lens.
  await run("explain");
  await run("explain", "latest", null, "H2");
  await run("showFlips", "H2");
  await run("openReport");
  await run("openReport");
  assert.deepEqual(registered.messages, []);
  const [palette, lens, flips] = registered.pages;
  assert.deepEqual(registered.pages.map(({ name }) => name), ["/Case 880101.md", "/H2 in run latest.md", "/Flips of H2.md"]);
  assert.match(palette.text, /^# .*880101/);
  assert.match(lens.text, /^# [^]*H2/);
  assert.match(flips.text, /^# /);
  assert.equal(registered.panels.length, 1);
  assert.match(registered.panels[0].webview.html, /^<!doctype html>/i);
});

test("a case is selected, remembered, and deselected", { skip: skipped("lsp") }, async (context) => {
  const directory = project(context, "--minimal");
  asterisk(directory, "run");
  const { registered, vscode } = stub({ path: program }, directory);
  const state = memento();
  await activate(context, vscode, state);
  const { status } = registered;
  const run = (name) => registered.commands.get(`asterisk.${name}`)();
  let offered = [];
  const choose = (wanted) => (registered.choose = (items) => ((offered = items), items.find(wanted)));
  choose(({ detail }) => detail === "880101");
  await run("selectCase");
  assert.deepEqual([status.isShown, status.text], [true, "$(beaker) 880101"]);
  assert.match(offered[0].label, /^Run /);
  assert.equal(offered[0].kind, vscode.QuickPickItemKind.Separator);
  // The selected case is that of F5.
  const bare = await registered.configurations.get("asterisk").resolveDebugConfiguration(undefined, {});
  assert.deepEqual([bare.case, bare.project], ["880101", directory]);

  // It is selected again after the server is restarted, as at the start of the next session.
  await run("restart");
  await until(() => status.isShown, "selected again");
  assert.equal(status.text, "$(beaker) 880101");
  // None is offered if there is one.
  registered.choose = ([first]) => first;
  await run("selectCase");
  assert.equal(status.isShown, false);
  assert.equal(state.get("selectedCases", {})[directory], undefined);
  // A case whose run is gone is not selected again.
  await state.update("selectedCases", { [directory]: { run: "gone", case: "880101" } });
  await run("restart");
  await until(() => state.get("selectedCases", {})[directory] === undefined, "forgotten");
  assert.equal(status.isShown, false);
  assert.deepEqual(registered.messages, []);
});

test("each project of a folder has a server, and F5 lets a person choose one", { skip: skipped("lsp") }, async (context) => {
  const one = project(context, "--minimal");
  const folder = project(context, "--minimal");
  // The folder is no project itself.
  rmSync(path.join(folder, "asterisk.yaml"));
  const sub = (name) => path.join(folder, "services", name);
  for (const name of ["first", "second"]) {
    cpSync(one, sub(name), { recursive: true });
    asterisk(sub(name), "run");
  }
  const { registered, vscode } = stub({ path: program }, folder);
  await activate(context, vscode);
  const started = () => registered.logged.filter((line) => / for \//.test(line)).map((line) => line.replace(/.* for /, ""));
  // Only the projects that are used.
  assert.deepEqual(started(), []);
  const uri = vscode.Uri.file(path.join(sub("second"), "scripts/rules/rca.rhai"));
  registered.opened.fire({ uri });
  await until(() => started().length === 1, "a server starts with a file");
  assert.deepEqual(started(), [sub("second")]);
  // The project of the editor, without a question.
  vscode.window.activeTextEditor = { document: { uri } };
  registered.choose = () => assert.fail("a question");
  await registered.commands.get("asterisk.openReport")();
  assert.equal(registered.panels.length, 1);
  // No editor: a person chooses the project, then the case.
  vscode.window.activeTextEditor = undefined;
  const asked = [];
  registered.choose = (items) => (asked.push(items.map(({ label }) => label)), items.find(({ kind }) => kind === undefined));
  const given = await registered.configurations.get("asterisk").resolveDebugConfiguration(undefined, {});
  assert.equal(given.project, sub("first"));
  assert.deepEqual(asked[0], ["services/first", "services/second"]);
  assert.deepEqual(registered.messages, []);
  // Tests of both, told apart.
  const [controller] = registered.controllers;
  await controller.refreshHandler();
  assert.deepEqual([...controller.items].map(([, { description }]) => description), ["services/first", "services/second"]);
  // A project that comes and one that goes.
  cpSync(one, sub("third"), { recursive: true });
  rmSync(path.join(sub("first"), "asterisk.yaml"));
  registered.watchers.get("**/asterisk.yaml").created.fire();
  vscode.window.activeTextEditor = { document: { uri: vscode.Uri.file(path.join(sub("third"), "asterisk.yaml")) } };
  await until(() => controller.items.size === 2 && [...controller.items].some(([, item]) => item.description === "services/third"), "tests");
  registered.choose = ([first]) => first;
  await registered.commands.get("asterisk.showFlips")("H2");
  assert.deepEqual([started().at(-1), registered.messages], [sub("third"), []]);
});

test("the Test Explorer lists and runs the tests of a project", { skip: skipped("test") }, async (context) => {
  const directory = project(context, "--minimal");
  const file = path.join(directory, "scripts/rules/decisions_test.rhai");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, `${text}\n/// Fails.\nfn test_wrong() {\n    assert_eq(1 + 1, 3);\n}\n`);
  mkdirSync(path.join(directory, "scripts/agents"), { recursive: true });
  writeFileSync(path.join(directory, "scripts/agents/more_test.rhai"), "//! More.\n\n/// Passes.\nfn test_more() {\n    assert_eq(1, 1);\n}\n");
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  const [controller] = registered.controllers;
  await controller.refreshHandler();
  assert.deepEqual([...controller.items].map(([, item]) => item.label), ["agents/more_test.rhai", "rules/decisions_test.rhai"]);
  const [, [, item]] = controller.items;
  const names = [...item.children].map(([id]) => id);
  assert.deepEqual(names, ["test_a_crash_in_the_only_repository_is_investigated", "test_wrong"]);
  // All of them by one process, then one by the command of a lens.
  const processes = () => registered.logged.filter((line) => line.startsWith("asterisk test") && !line.includes("--list"));
  const [runTests] = controller.profiles;
  await runTests({ include: undefined }, undefined);
  const states = controller.reported.filter(({ state }) => state !== "started");
  assert.deepEqual(states.map(({ state, test }) => `${test} ${state}`), ["test_more passed", `${names[0]} passed`, "test_wrong failed"]);
  assert.equal(processes().length, 1);
  const [[message]] = states[2].rest;
  assert.deepEqual([message.expected, message.actual], ["3", "2"]);
  const line = readFileSync(file, "utf8").split("\n").findIndex((line) => line.includes("1 + 1"));
  assert.deepEqual([message.location.uri.fsPath, message.location.position.at[0]], [file, line]);
  // The location is that of the message only.
  assert.deepEqual(controller.output.filter(({ location }) => location !== undefined), []);
  assert.match(controller.output.at(-1).text, /^2 passed, 1 failed in \d+\.\d\d s\r\n$/);
  // What is excluded is not reported.
  controller.reported.length = 0;
  await runTests({ include: undefined, exclude: [item] }, undefined);
  assert.deepEqual(controller.reported.map(({ state, test }) => `${test} ${state}`), ["test_more started", "test_more passed"]);

  // The lens tests what is in the editor.
  const save = async () => (writeFileSync(file, readFileSync(file, "utf8").replace("1 + 1, 3", "1 + 1, 2")), true);
  const elsewhere = { uri: vscode.Uri.file("/elsewhere/a.rhai"), isDirty: true, save: () => assert.fail("another project is saved") };
  vscode.workspace.textDocuments.push({ uri: vscode.Uri.file(file), isDirty: true, save }, elsewhere);
  controller.reported.length = 0;
  await registered.commands.get("asterisk.runTest")(`file://${file}`, "test_wrong");
  assert.deepEqual(controller.reported.map(({ state, test }) => `${test} ${state}`), ["test_wrong started", "test_wrong passed"]);
  assert.deepEqual(registered.messages, []);
  await registered.commands.get("asterisk.runTest")(`file://${file}`, "test_none");
  assert.deepEqual(registered.messages, ["There is no test `test_none` in scripts/rules/decisions_test.rhai."]);
  // Tests that cannot be listed remain, and what is wrong is said.
  writeFileSync(path.join(directory, "scripts/agents/broken.rhai"), "fn of( {}\n");
  await controller.refreshHandler();
  assert.equal(controller.items.size, 2);
  await registered.commands.get("asterisk.runTest")(`file://${file}`, "test_none");
  assert.match(registered.messages[1], /expect|syntax|parse/i);
});

test("tests of a run that is cancelled are skipped", { skip: skipped("test") }, async (context) => {
  const directory = project(context, "--minimal");
  const { registered, vscode } = stub({ path: program }, directory);
  await activate(context, vscode);
  const [controller] = registered.controllers;
  await controller.refreshHandler();
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (stop) => {
      setImmediate(() => ((token.isCancellationRequested = true), stop()));
      return new vscode.Disposable();
    },
  };
  await controller.profiles[0]({ include: undefined }, token);
  assert.deepEqual(controller.reported.map(({ state }) => state), ["started", "skipped"]);
});
