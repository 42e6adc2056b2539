// The extension: finds the projects, starts their language servers, and registers commands, tests, the debugger and schemas.

import * as vscode from "vscode";
import { Selection } from "./cases";
import { explain, runPipeline, saveTest, showFlips } from "./commands";
import { registerDebugger } from "./debug";
import { Host } from "./host";
import { Pages } from "./pages";
import { Projects } from "./projects";
import { Reports } from "./reports";
import { registerSchemas } from "./schemas";
import { Tests } from "./tests";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Asterisk", { log: true });
  const host = new Host(log);
  const projects = new Projects(host);
  const selection = new Selection(projects, context.workspaceState, (error) => log.warn(String(error)));
  const tests = new Tests(host, projects);
  const pages = new Pages();
  const reports = new Reports(host);
  const command = <Args extends unknown[]>(name: string, action: (...args: Args) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(name, async (...args: Args) => {
      try {
        await action(...args);
      } catch (error) {
        host.report(error);
      }
    });
  context.subscriptions.push(
    log,
    projects,
    selection,
    tests,
    reports,
    registerDebugger(host, projects, selection),
    pages.register(),
    command("asterisk.restart", () => projects.restart()),
    command("asterisk.run", (report?: vscode.Uri) => runPipeline(host, projects, report)),
    command("asterisk.openReport", async () => reports.open((await projects.choose()).root)),
    // The commands of lenses have arguments, those of the palette have none.
    command("asterisk.explain", (run?: string, found?: string | null, id?: string) => explain(host, projects, pages, run, found, id)),
    command("asterisk.showFlips", (id: string) => showFlips(projects, pages, id)),
    command("asterisk.saveTest", (run: string, found: string | null, edge: string) => saveTest(projects, run, found, edge)),
    command("asterisk.selectCase", async () => selection.choose(await projects.choose())),
    command("asterisk.runTest", (uri: string | vscode.Uri, name?: string) =>
      tests.runTest(typeof uri === "string" ? vscode.Uri.parse(uri) : uri, name),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("asterisk.path")) {
        void projects.restart();
      }
    }),
  );
  // Menus of files are for workspaces with projects only.
  void vscode.commands.executeCommand("setContext", "asterisk.isActive", true);
  await Promise.all([projects.update(), registerSchemas(host, projects)]).catch((error: unknown) => host.report(error));
}

export function deactivate(): void {
  // The subscriptions are disposed of by VS Code.
}
