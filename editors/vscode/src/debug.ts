// The debugger of decisions: `asterisk dap`.

import * as vscode from "vscode";
import type { Host } from "./host";

export function registerDebugger(host: Host): vscode.Disposable {
  const adapter: vscode.DebugAdapterDescriptorFactory = {
    createDebugAdapterDescriptor(session) {
      const cwd = typeof session.configuration["project"] === "string" ? session.configuration["project"] : host.project();
      return new vscode.DebugAdapterExecutable(host.program(session.workspaceFolder), ["dap"], cwd === undefined ? {} : { cwd });
    },
  };
  const configurations: vscode.DebugConfigurationProvider = {
    // F5 in a script without a launch.json debugs the latest run.
    resolveDebugConfiguration(folder, given) {
      const name = given.name || "Debug a case of the latest run";
      const project: unknown = given["project"] ?? folder?.uri.fsPath ?? host.project();
      const run = given["input"] === undefined ? { run: "latest" } : {};
      return { ...run, stopOnEntry: true, ...given, project, type: "asterisk", request: "launch", name };
    },
  };
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterDescriptorFactory("asterisk", adapter),
    vscode.debug.registerDebugConfigurationProvider("asterisk", configurations),
  );
}
