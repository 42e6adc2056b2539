// Commands: the report of a run, the explanation of a case, the case that values are shown of.

import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Host } from "./host";
import { firstMessage, ProgramError } from "./program";
import { cases, explainArguments, latestRun, reportOf } from "./project";
import type { Server } from "./server";

/** The scheme of explanations, which are read-only documents. */
const SCHEME = "asterisk-explain";

/** Shows the page of the latest run. */
export async function openReport(host: Host): Promise<void> {
  const project = host.project();
  if (project === undefined) {
    throw new Error("Open the folder of a project first.");
  }
  const run = latestRun(await host.json(["status"], project));
  if (run === undefined) {
    throw new Error("There is no run yet: `asterisk run` makes one.");
  }
  const { out } = await host.directories(project);
  const page = reportOf(out, run);
  if (!existsSync(page)) {
    const output = await host.run(["report", run], project);
    if (output.code !== 0 || !existsSync(page)) {
      throw new ProgramError(firstMessage(output), output);
    }
  }
  const panel = vscode.window.createWebviewPanel("asterisk.report", `Report ${run}`, vscode.ViewColumn.Active, {
    enableScripts: true,
    enableFindWidget: true,
    localResourceRoots: [vscode.Uri.file(path.dirname(page))],
  });
  panel.webview.html = readFileSync(page, "utf8");
}

/** Explanations, as read-only documents. */
export class Pages implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private count = 0;

  /** Shows a text next to the editor. */
  async show(name: string, text: string): Promise<void> {
    this.count += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name.replaceAll("/", " ")}.md`, query: String(this.count) });
    this.texts.set(uri.toString(), text);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.texts.delete(document.uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.texts.get(uri.toString());
  }
}

/** Shows why a case took its path; with the id of an edge or rule, what decided it. */
export async function explain(
  host: Host,
  server: Server,
  pages: Pages,
  run?: string,
  found?: string | null,
  id?: string,
): Promise<void> {
  if (run !== undefined && id !== undefined) {
    const text = await server.execute("asterisk.explain", [run, found ?? null, id]);
    return pages.show(`${id} in ${found ?? run}`, String(text));
  }
  const project = host.project();
  if (project === undefined) {
    throw new Error("Open the folder of a project first.");
  }
  let [ofRun, ofCase] = [run, found ?? undefined];
  if (ofCase === undefined && ofRun === undefined && server.isRunning) {
    const chosen = await pick(server);
    if (chosen === null) {
      return;
    }
    [ofRun, ofCase] = [chosen?.run, chosen?.case];
  }
  const output = await host.run(explainArguments(ofRun, ofCase), project);
  if (output.code !== 0) {
    throw new ProgramError(firstMessage(output), output);
  }
  // Without a case, the command lists those of the run.
  return pages.show(ofCase ?? ofRun ?? "latest", output.stdout);
}

/** Shows which recorded decisions the edits of a rule would flip. */
export async function showFlips(server: Server, pages: Pages, id: string): Promise<void> {
  await pages.show(`what ${id} would flip`, String(await server.execute("asterisk.showFlips", [id])));
}

/** Saves the last decision of an edge as a test. The server shows it. */
export async function saveTest(server: Server, run: string, found: string | null, edge: string): Promise<void> {
  await server.execute("asterisk.saveTest", [run, found, edge]);
}

/** Selects the case whose values the server shows next to the rules. */
export async function selectCase(server: Server, status: vscode.StatusBarItem): Promise<void> {
  if (!server.isRunning) {
    throw new Error("The language server is not running.");
  }
  const chosen = await pick(server);
  if (chosen === undefined) {
    throw new Error("There is no run yet: `asterisk run` makes one.");
  }
  if (chosen !== null) {
    await server.request("asterisk/selectCase", { run: chosen.run, case: chosen.case });
    status.text = `$(beaker) ${chosen.case}`;
    status.tooltip = `Values of ${chosen.name} in run ${chosen.run}`;
    status.show();
  }
}

/** Lets a person choose a case: `undefined` if there is none, `null` if none was chosen. */
async function pick(server: Server): Promise<{ run: string; case: string; name: string } | undefined | null> {
  const known = cases(await server.request("asterisk/cases", {}));
  if (known.length === 0) {
    return undefined;
  }
  const items = known.map((found) => ({
    label: found.case,
    description: found.name,
    detail: [found.detail, `run ${found.run}`].filter((part) => part !== "").join(", "),
    picked: found.selected,
    found,
  }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "Case", matchOnDescription: true, matchOnDetail: true });
  return chosen?.found ?? null;
}
