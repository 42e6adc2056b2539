// The program in VS Code: which one, where it runs, and how its errors are shown.

import * as vscode from "vscode";
import { MissingProgram, parseJson, programOf, run, type Output } from "./program";
import { directories, latestRun, NoRun, type Directories } from "./project";

/** What a person can do about an error. */
interface Action {
  title: string;
  run(): unknown;
}

export class Host {
  constructor(readonly log: vscode.LogOutputChannel) {}

  /** The program that the settings name for a project. */
  program(project?: string): string {
    const own = project === undefined ? undefined : vscode.workspace.getWorkspaceFolder(vscode.Uri.file(project));
    const setting = vscode.workspace.getConfiguration("asterisk", own).get<string>("path", "asterisk");
    return programOf(setting, (own ?? vscode.workspace.workspaceFolders?.[0])?.uri.fsPath);
  }

  /** Runs a command in a project. */
  async run(args: readonly string[], project: string, token?: vscode.CancellationToken): Promise<Output> {
    const stop = new AbortController();
    const listener = token?.onCancellationRequested(() => stop.abort());
    this.log.info(`asterisk ${args.join(" ")}`);
    try {
      const output = await run(this.program(project), args, project, stop.signal);
      if (output.stderr.trim() !== "") {
        this.log.info(output.stderr.trimEnd());
      }
      return output;
    } finally {
      listener?.dispose();
    }
  }

  /** Runs a command in a project, and reads the JSON that it prints. */
  async json(args: readonly string[], project: string, token?: vscode.CancellationToken): Promise<unknown> {
    return parseJson(await this.run([...args, "--format", "json"], project, token));
  }

  async directories(project: string): Promise<Directories> {
    return directories(await this.json(["config"], project), project);
  }

  /** The id of the latest run of a project, or in another store. */
  async latestRun(project: string, store?: string): Promise<string> {
    const run = latestRun(await this.json(["status", ...(store === undefined ? [] : ["--store", store])], project));
    if (run === undefined) {
      throw new NoRun(project);
    }
    return run;
  }

  /** Runs a command in a terminal, where a person follows it. */
  async runInTerminal(args: readonly string[], project: string): Promise<void> {
    // A task, and not a text that is sent to a shell, so that nothing needs quotes.
    const execution = new vscode.ProcessExecution(this.program(project), [...args], { cwd: project });
    const definition = { type: "asterisk", project, args };
    const task = new vscode.Task(definition, vscode.TaskScope.Workspace, `asterisk ${args.join(" ")}`, "Asterisk", execution, []);
    await vscode.tasks.executeTask(task);
  }

  /** Shows an error with what to do about it. A person who cancelled knows. */
  report(error: unknown): void {
    if (error instanceof vscode.CancellationError) {
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(message);
    const action = this.actionOf(error);
    void vscode.window.showErrorMessage(message, action.title).then((chosen) => {
      if (chosen === action.title) {
        action.run();
      }
    });
  }

  private actionOf(error: unknown): Action {
    if (error instanceof MissingProgram) {
      return { title: "Open Settings", run: () => vscode.commands.executeCommand("workbench.action.openSettings", "asterisk.path") };
    }
    if (error instanceof NoRun) {
      return { title: "Run", run: () => this.runInTerminal(["run"], error.project).catch((failure: unknown) => this.report(failure)) };
    }
    return { title: "Show Log", run: () => this.log.show() };
  }
}
