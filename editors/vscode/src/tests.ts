// The Test Explorer: tests of scripts, by `asterisk test`.

import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Host } from "./host";
import type { Projects } from "./projects";
import { listed, results, runArguments, testLines, type Failure, type TestResult } from "./results";

/** The data of an item: a file with tests, or one of them. */
interface Item {
  project: string;
  scripts: string;
  file: string;
  name?: string;
}

/** Tests that one process runs. */
interface Batch {
  project: string;
  files: string[];
  name?: string;
  tests: vscode.TestItem[];
}

export class Tests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("asterisk", "Asterisk");
  private readonly data = new WeakMap<vscode.TestItem, Item>();
  private readonly disposables: vscode.Disposable[] = [this.controller];
  private changed: NodeJS.Timeout | undefined;
  private wasAsked = false;
  /** Why the tests of a project cannot be listed. */
  private readonly problems = new Map<string, unknown>();

  constructor(
    private readonly host: Host,
    private readonly projects: Projects,
  ) {
    this.controller.refreshHandler = (token) => this.discover(token);
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) {
        await this.discover();
      }
    };
    this.controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token), true);
    const watcher = vscode.workspace.createFileSystemWatcher("**/*_test.rhai");
    const again = (): void => {
      clearTimeout(this.changed);
      this.changed = setTimeout(() => void this.discover(), 500);
    };
    this.disposables.push(
      watcher,
      watcher.onDidCreate(again),
      watcher.onDidChange(again),
      watcher.onDidDelete(again),
      // Projects that come at the start are listed when VS Code asks.
      projects.onDidChange(() => this.wasAsked && again()),
    );
  }

  /** Runs a test of a file as it is in the editor, as a lens above it does. */
  async runTest(uri: vscode.Uri, name: string | undefined): Promise<void> {
    await this.save(uri);
    const found = this.find(uri, name) ?? (await this.discover(), this.find(uri, name));
    if (found === undefined) {
      const problem = this.problems.get(this.projects.of(uri)?.root ?? "");
      if (problem !== undefined) {
        throw problem;
      }
      throw new Error(`There is no test ${name === undefined ? "" : `\`${name}\` `}in ${vscode.workspace.asRelativePath(uri)}.`);
    }
    await this.run(new vscode.TestRunRequest([found]), undefined);
  }

  /** Saves the edited files of a project: the program reads files. For its own commands, VS Code does (`testing.saveBeforeTest`). */
  private async save(uri: vscode.Uri): Promise<void> {
    const project = this.projects.of(uri);
    const edited = vscode.workspace.textDocuments.filter((document) => document.isDirty && this.projects.of(document.uri) === project);
    for (const document of edited.filter((document) => !document.isUntitled)) {
      if (!(await document.save())) {
        throw new Error(`${vscode.workspace.asRelativePath(document.uri)} could not be saved, so the test was not run.`);
      }
    }
  }

  private find(uri: vscode.Uri, name: string | undefined): vscode.TestItem | undefined {
    const file = this.items().find((item) => item.uri?.fsPath === uri.fsPath);
    return name === undefined ? file : file?.children.get(name);
  }

  private items(): vscode.TestItem[] {
    return [...this.controller.items].map(([, item]) => item);
  }

  /** Lists the tests of all projects. */
  private async discover(token?: vscode.CancellationToken): Promise<void> {
    this.wasAsked = true;
    const files: vscode.TestItem[] = [];
    const projects = this.projects.all();
    for (const { root, name } of projects) {
      try {
        const found = await this.discoverProject(root, token);
        if (projects.length > 1) {
          found.forEach((item) => (item.description = name));
        }
        files.push(...found);
        this.problems.delete(root);
      } catch (error) {
        // An error in a script, which is among the diagnostics of the server, too: the tests are those of before.
        files.push(...this.items().filter((item) => this.data.get(item)?.project === root));
        this.problems.set(root, error);
        this.host.log.warn(`tests of ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.controller.items.replace(files);
  }

  private async discoverProject(project: string, token: vscode.CancellationToken | undefined): Promise<vscode.TestItem[]> {
    const { scripts } = await this.host.directories(project);
    const tests = listed(await this.host.json(["test", "--list", "--allow-empty"], project, token));
    // Bundled tests have no file here.
    const own = [...new Set(tests.map((test) => test.file))].filter((file) => existsSync(path.join(scripts, file)));
    return own.map((file) => {
      const uri = vscode.Uri.file(path.join(scripts, file));
      const lines = testLines(readFileSync(uri.fsPath, "utf8"));
      const item = this.item(uri.toString(), file, uri, { project, scripts, file });
      for (const { name } of tests.filter((test) => test.file === file)) {
        const test = this.item(name, name, uri, { project, scripts, file, name });
        const line = lines.get(name) ?? 0;
        test.range = new vscode.Range(line, 0, line, 0);
        item.children.add(test);
      }
      return item;
    });
  }

  private item(id: string, label: string, uri: vscode.Uri, data: Item): vscode.TestItem {
    const item = this.controller.createTestItem(id, label, uri);
    this.data.set(item, data);
    return item;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken | undefined): Promise<void> {
    const run = this.controller.createTestRun(request);
    const found: TestResult[] = [];
    try {
      for (const batch of this.batches(request.include ?? this.items(), request.exclude ?? [])) {
        found.push(...(await this.runBatch(run, batch, token)));
      }
      const failed = found.filter((result) => !result.passed).length;
      const seconds = found.reduce((sum, result) => sum + result.milliseconds, 0) / 1000;
      run.appendOutput(`${found.length - failed} passed, ${failed} failed in ${seconds.toFixed(2)} s\r\n`);
    } finally {
      run.end();
    }
  }

  /** All files of a project are run by one process, as reading the project takes longer than most tests; single tests by their own. */
  private batches(asked: readonly vscode.TestItem[], exclude: readonly vscode.TestItem[]): Batch[] {
    const projects = new Map<string, Batch>();
    const single: Batch[] = [];
    for (const item of asked.filter((item) => !exclude.includes(item))) {
      const { project, file, name } = this.data.get(item)!;
      if (name !== undefined) {
        single.push({ project, files: [file], name, tests: [item] });
        continue;
      }
      const batch = projects.get(project) ?? { project, files: [], tests: [] };
      projects.set(project, batch);
      batch.files.push(file);
      batch.tests.push(...[...item.children].map(([, test]) => test).filter((test) => !exclude.includes(test)));
    }
    return [...projects.values(), ...single];
  }

  /** Runs tests, and returns their results. Tests that do not get to run are skipped. */
  private async runBatch(run: vscode.TestRun, batch: Batch, token: vscode.CancellationToken | undefined): Promise<TestResult[]> {
    const { project, files, name, tests } = batch;
    const isCancelled = (): boolean => token?.isCancellationRequested ?? false;
    try {
      if (isCancelled()) {
        throw new vscode.CancellationError();
      }
      tests.forEach((test) => run.started(test));
      const found = results(await this.host.json(runArguments(files, name), project, token));
      return tests.flatMap((test) => {
        const { file, name, scripts } = this.data.get(test)!;
        const result = found.find((one) => one.file === file && one.name === name);
        if (result === undefined) {
          run.skipped(test);
          return [];
        }
        this.show(run, test, result, scripts);
        return [result];
      });
    } catch (error) {
      const message = new vscode.TestMessage(error instanceof Error ? error.message : String(error));
      tests.forEach((test) => (isCancelled() ? run.skipped(test) : run.errored(test, message)));
      return [];
    }
  }

  private show(run: vscode.TestRun, test: vscode.TestItem, result: TestResult, scripts: string): void {
    if (result.line !== undefined) {
      test.range = new vscode.Range(result.line, 0, result.line, 0);
    }
    if (result.passed) {
      run.passed(test, result.milliseconds);
      return;
    }
    const message = (failure: Failure): vscode.TestMessage => {
      const { got, wanted, place } = failure;
      const shown =
        got === undefined || wanted === undefined
          ? new vscode.TestMessage(failure.message)
          : vscode.TestMessage.diff(failure.message, wanted, got);
      const file = place && path.join(scripts, place.file);
      if (place !== undefined && file !== undefined && existsSync(file)) {
        shown.location = new vscode.Location(vscode.Uri.file(file), new vscode.Position(place.line, place.column));
      }
      // Without the location: with it, VS Code lists the failure a second time.
      run.appendOutput(`${result.file}#${result.name}: ${failure.message}\n`.replaceAll("\n", "\r\n"), undefined, test);
      return shown;
    };
    run.failed(test, result.failures.map(message), result.milliseconds);
  }

  dispose(): void {
    clearTimeout(this.changed);
    this.disposables.forEach((disposable) => disposable.dispose());
  }
}
