// Commands: explanations of recorded decisions, and runs.

import * as path from "node:path";
import * as vscode from "vscode";
import { choose } from "./cases";
import type { Host } from "./host";
import type { Pages } from "./pages";
import { firstMessage, ProgramError } from "./program";
import { explainArguments } from "./project";
import type { Projects } from "./projects";
import type { Server } from "./server";

/** Shows why the last decision of an edge or rule came out as it did, as a lens asks. */
async function explainEdge(server: Server, pages: Pages, run: string, found: string | null, id: string): Promise<void> {
  const text = await server.execute("asterisk.explain", [run, found, id]);
  await pages.show(`${id} in ${found === null ? `run ${run}` : `case ${found}`}`, String(text));
}

/** Shows why a case took its path. */
async function explainCase(host: Host, server: Server, pages: Pages): Promise<void> {
  const chosen = await choose(server);
  if (chosen === undefined) {
    return;
  }
  const output = await host.run(explainArguments(chosen.run, chosen.case), server.root);
  if (output.code !== 0) {
    throw new ProgramError(firstMessage(output), output);
  }
  await pages.show(`Case ${chosen.case}`, output.stdout);
}

/** Explains a case that a person chooses; with the arguments of a lens, what decided an edge or rule. */
export async function explain(
  host: Host,
  projects: Projects,
  pages: Pages,
  run?: string,
  found?: string | null,
  id?: string,
): Promise<void> {
  const server = await projects.choose();
  const isLens = run !== undefined && id !== undefined;
  await (isLens ? explainEdge(server, pages, run, found ?? null, id) : explainCase(host, server, pages));
}

/** Shows which recorded decisions the edits of a rule would flip. */
export async function showFlips(projects: Projects, pages: Pages, id: string): Promise<void> {
  const server = await projects.choose();
  await pages.show(`Flips of ${id}`, String(await server.execute("asterisk.showFlips", [id])));
}

/** Saves the last decision of an edge as a test. The server shows it. */
export async function saveTest(projects: Projects, run: string, found: string | null, edge: string): Promise<void> {
  const server = await projects.choose();
  await server.execute("asterisk.saveTest", [run, found, edge]);
}

/** Investigates failures in a terminal: those of a test report, or those that the project's settings name. */
export async function runPipeline(host: Host, projects: Projects, report?: vscode.Uri): Promise<void> {
  const { root } = await projects.choose(report);
  const input = report === undefined ? [] : ["--input", path.relative(root, report.fsPath)];
  await host.runInTerminal(["run", ...input], root);
}
