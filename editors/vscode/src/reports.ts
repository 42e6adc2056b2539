// The report of the latest run, in one panel per project.

import { existsSync, readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Host } from "./host";
import { firstMessage, ProgramError } from "./program";
import { reportOf } from "./project";

export class Reports implements vscode.Disposable {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly host: Host) {}

  async open(project: string): Promise<void> {
    const run = await this.host.latestRun(project);
    const { out } = await this.host.directories(project);
    const page = reportOf(out, run);
    if (!existsSync(page)) {
      const output = await this.host.run(["report", run], project);
      if (output.code !== 0 || !existsSync(page)) {
        throw new ProgramError(firstMessage(output), output);
      }
    }
    const panel = this.panel(project, out);
    panel.title = `Report ${run}`;
    panel.webview.html = readFileSync(page, "utf8");
    panel.reveal();
  }

  private panel(project: string, out: string): vscode.WebviewPanel {
    const known = this.panels.get(project);
    if (known !== undefined) {
      return known;
    }
    const panel = vscode.window.createWebviewPanel("asterisk.report", "Report", vscode.ViewColumn.Active, {
      enableScripts: true,
      enableFindWidget: true,
      // Filters and open sections of the page survive a look at another tab.
      retainContextWhenHidden: true,
      localResourceRoots: [vscode.Uri.file(out)],
    });
    this.panels.set(project, panel);
    panel.onDidDispose(() => this.panels.delete(project));
    return panel;
  }

  dispose(): void {
    this.panels.forEach((panel) => panel.dispose());
  }
}
