// The Test Explorer: tests of scripts, by `asterisk test`.

import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Host } from "./host";
import { listed, results, runArguments, testLines, type Failure, type TestResult } from "./results";

/** The data of an item: the tests of a project, of a file, or one of them. */
interface Item {
  project: string;
  scripts: string;
  file?: string;
  name?: string;
}

export class Tests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("asterisk", "Asterisk");
  private readonly data = new WeakMap<vscode.TestItem, Item>();
  private readonly disposables: vscode.Disposable[] = [this.controller];
  private changed: NodeJS.Timeout | undefined;

  constructor(private readonly host: Host) {
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
    this.disposables.push(watcher, watcher.onDidCreate(again), watcher.onDidChange(again), watcher.onDidDelete(again));
  }

  /** Runs a test of a file, as a lens above it does. */
  async runTest(uri: vscode.Uri, name: string | undefined): Promise<void> {
    if (this.controller.items.size === 0) {
      await this.discover();
    }
    const file = [...this.controller.items].map(([, item]) => item).find((item) => item.uri?.fsPath === uri.fsPath);
    const test = name === undefined ? file : file?.children.get(name);
    if (test === undefined) {
      throw new Error(`There is no test ${name ?? ""} in ${uri.fsPath}.`);
    }
    await this.run(new vscode.TestRunRequest([test]), undefined);
  }

  /** Lists the tests of all folders. */
  private async discover(token?: vscode.CancellationToken): Promise<void> {
    const files: vscode.TestItem[] = [];
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      try {
        const project = this.host.project(vscode.Uri.joinPath(folder.uri, "_")) ?? folder.uri.fsPath;
        const { scripts } = await this.host.directories(project);
        const tests = listed(await this.host.json(["test", "--list", "--allow-empty"], project, token));
        // Bundled tests have no file here.
        const own = [...new Set(tests.map((test) => test.file))].filter((file) => existsSync(path.join(scripts, file)));
        for (const file of own) {
          const uri = vscode.Uri.file(path.join(scripts, file));
          const lines = testLines(readFileSync(uri.fsPath, "utf8"));
          const item = this.item(uri.toString(), file, uri, { project, scripts, file });
          for (const { name } of tests.filter((test) => test.file === file)) {
            const test = this.item(name, name, uri, { project, scripts, file, name });
            const line = lines.get(name) ?? 0;
            test.range = new vscode.Range(line, 0, line, 0);
            item.children.add(test);
          }
          files.push(item);
        }
      } catch (error) {
        // An error in a script is among the diagnostics of the server.
        this.host.log.warn(`tests of ${folder.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.controller.items.replace(files);
  }

  private item(id: string, label: string, uri: vscode.Uri, data: Item): vscode.TestItem {
    const item = this.controller.createTestItem(id, label, uri);
    this.data.set(item, data);
    return item;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken | undefined): Promise<void> {
    const run = this.controller.createTestRun(request);
    const asked = request.include ?? [...this.controller.items].map(([, item]) => item);
    try {
      for (const item of asked) {
        if (token?.isCancellationRequested) {
          break;
        }
        await this.runItem(run, item, request.exclude ?? [], token);
      }
    } finally {
      run.end();
    }
  }

  private async runItem(
    run: vscode.TestRun,
    item: vscode.TestItem,
    exclude: readonly vscode.TestItem[],
    token: vscode.CancellationToken | undefined,
  ): Promise<void> {
    const data = this.data.get(item);
    const tests = (item.children.size === 0 ? [item] : [...item.children].map(([, test]) => test)).filter((test) => !exclude.includes(test));
    if (data === undefined) {
      return;
    }
    tests.forEach((test) => run.started(test));
    try {
      const found = results(await this.host.json(runArguments(data.file, data.name), data.project, token));
      for (const test of tests) {
        const result = found.find((one) => one.file === data.file && one.name === this.data.get(test)?.name);
        if (result === undefined) {
          run.skipped(test);
        } else {
          this.show(run, test, result, data.scripts);
        }
      }
    } catch (error) {
      const message = new vscode.TestMessage(error instanceof Error ? error.message : String(error));
      tests.forEach((test) => run.errored(test, message));
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
      run.appendOutput(`${result.file}#${result.name}: ${failure.message}\n`.replaceAll("\n", "\r\n"), shown.location, test);
      return shown;
    };
    run.failed(test, result.failures.map(message), result.milliseconds);
  }

  dispose(): void {
    clearTimeout(this.changed);
    this.disposables.forEach((disposable) => disposable.dispose());
  }
}
