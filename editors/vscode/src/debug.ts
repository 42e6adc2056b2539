// The debugger of decisions: `asterisk dap`.

import * as path from "node:path";
import * as vscode from "vscode";
import { chooseUnlessOnly, type Selection } from "./cases";
import type { Host } from "./host";
import type { Projects } from "./projects";
import type { Server } from "./server";

export function registerDebugger(host: Host, projects: Projects, selection: Selection): vscode.Disposable {
  const adapter: vscode.DebugAdapterDescriptorFactory = {
    createDebugAdapterDescriptor(session) {
      const project = text(session.configuration, "project");
      return new vscode.DebugAdapterExecutable(host.program(project), ["dap"], project === undefined ? {} : { cwd: project });
    },
  };
  /** VS Code shows no errors of these functions: a configuration that is not there ends the start silently. */
  const orReport = async (resolve: () => Promise<vscode.DebugConfiguration>): Promise<vscode.DebugConfiguration | undefined> => {
    try {
      return await resolve();
    } catch (error) {
      host.report(error);
      return undefined;
    }
  };
  const configurations: vscode.DebugConfigurationProvider = {
    resolveDebugConfiguration: (folder, given) =>
      orReport(async () => {
        const server = given["project"] === undefined ? await projects.choose() : undefined;
        // F5 in a script without a launch.json gives an empty configuration.
        const isBare = !given.type && !given.request && !given.name;
        const recorded = isBare && server !== undefined ? await caseOf(host, server, selection) : { run: "latest" };
        return {
          ...(given["input"] === undefined && recorded),
          stopOnEntry: true,
          ...given,
          project: given["project"] ?? server?.root ?? folder?.uri.fsPath,
          type: "asterisk",
          request: "launch",
          name: given.name || "Debug a case of the latest run",
        };
      }),
    // The adapter would fail, too, but what it says is not shown with what to do about it.
    resolveDebugConfigurationWithSubstitutedVariables: (folder, given) =>
      orReport(async () => {
        const project = path.resolve(folder?.uri.fsPath ?? "", text(given, "project") ?? "");
        await (given["run"] === "latest" ? host.latestRun(project, text(given, "store")) : host.run(["--version"], project));
        return { ...given, project };
      }),
  };
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterDescriptorFactory("asterisk", adapter),
    vscode.debug.registerDebugConfigurationProvider("asterisk", configurations),
  );
}

/** The case whose values are shown, or the one that a person chooses. */
async function caseOf(host: Host, server: Server, selection: Selection): Promise<{ run: string; case?: string }> {
  // Before the server reads the project, which takes a while.
  await host.latestRun(server.root);
  const found = selection.of(server) ?? (await chooseUnlessOnly(server));
  return found === undefined ? { run: "latest" } : { run: found.run, case: found.case };
}

function text(configuration: vscode.DebugConfiguration, key: string): string | undefined {
  const value: unknown = configuration[key];
  return typeof value === "string" ? value : undefined;
}
