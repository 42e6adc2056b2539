// The program in VS Code: which one, where it runs, and how its errors are shown.

import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { MissingProgram, parseJson, programOf, run, type Output } from "./program";
import { directories, projectOf, type Directories } from "./project";

export class Host {
  constructor(readonly log: vscode.LogOutputChannel) {}

  /** The program that the settings name. */
  program(scope?: vscode.WorkspaceFolder): string {
    const setting = vscode.workspace.getConfiguration("asterisk", scope).get<string>("path", "asterisk");
    return programOf(setting, (scope ?? vscode.workspace.workspaceFolders?.[0])?.uri.fsPath);
  }

  /** The project of a file, or of the first folder. */
  project(uri?: vscode.Uri): string | undefined {
    const file = uri ?? vscode.window.activeTextEditor?.document.uri;
    const folder = (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
    if (folder === undefined) {
      return file?.scheme === "file" ? path.dirname(file.fsPath) : undefined;
    }
    const inside = file?.scheme === "file" && file.fsPath.startsWith(folder.uri.fsPath);
    return projectOf(inside ? file.fsPath : path.join(folder.uri.fsPath, "_"), folder.uri.fsPath, existsSync);
  }

  /** Runs a command in a project. */
  async run(args: readonly string[], project: string, token?: vscode.CancellationToken): Promise<Output> {
    const stop = new AbortController();
    const listener = token?.onCancellationRequested(() => stop.abort());
    this.log.info(`asterisk ${args.join(" ")}`);
    try {
      const output = await run(this.program(), args, project, stop.signal);
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

  /** Shows an error with what to do about it. */
  report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(message);
    const action = error instanceof MissingProgram ? "Open Settings" : "Show Log";
    void vscode.window.showErrorMessage(message, action).then((chosen) => {
      if (chosen === "Open Settings") {
        void vscode.commands.executeCommand("workbench.action.openSettings", "asterisk.path");
      } else if (chosen === "Show Log") {
        this.log.show();
      }
    });
  }
}
