// The extension: starts the language server, and registers commands, tests, the debugger and schemas.

import * as vscode from "vscode";
import { explain, openReport, Pages, saveTest, selectCase, showFlips } from "./commands";
import { registerDebugger } from "./debug";
import { Host } from "./host";
import { registerSchemas } from "./schemas";
import { Server } from "./server";
import { Tests } from "./tests";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Asterisk", { log: true });
  const host = new Host(log);
  const server = new Server(host);
  const tests = new Tests(host);
  const pages = new Pages();
  const status = vscode.window.createStatusBarItem("asterisk.case", vscode.StatusBarAlignment.Left);
  status.name = "Asterisk: selected case";
  status.command = "asterisk.selectCase";
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
    server,
    tests,
    status,
    registerDebugger(host),
    pages.register(),
    command("asterisk.restart", () => server.restart()),
    command("asterisk.openReport", () => openReport(host)),
    // The commands of lenses have arguments, those of the palette have none.
    command("asterisk.explain", (run?: string, found?: string | null, id?: string) => explain(host, server, pages, run, found, id)),
    command("asterisk.showFlips", (id: string) => showFlips(server, pages, id)),
    command("asterisk.saveTest", (run: string, found: string | null, edge: string) => saveTest(server, run, found, edge)),
    command("asterisk.selectCase", () => selectCase(server, status)),
    command("asterisk.runTest", (uri: string | vscode.Uri, name?: string) =>
      tests.runTest(typeof uri === "string" ? vscode.Uri.parse(uri) : uri, name),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("asterisk.path")) {
        void server.restart();
      }
    }),
  );
  await Promise.all([server.start(), registerSchemas(host)]).catch((error: unknown) => host.report(error));
}

export function deactivate(): void {
  // The subscriptions are disposed of by VS Code.
}
