// Recorded cases: choosing one, and the one whose values the server shows next to the rules.

import * as vscode from "vscode";
import { cases, isSame, NoRun, outcome, type Case } from "./project";
import type { Projects } from "./projects";
import type { Server } from "./server";

/** The key of the selected cases, by the directories of their projects, in the state of the workspace. */
const MEMORY = "selectedCases";

interface Item extends vscode.QuickPickItem {
  found?: Case;
}

async function recorded(server: Server): Promise<Case[]> {
  return cases(await server.request("asterisk/cases", {}));
}

/** Lets a person choose a case. */
export async function choose(server: Server): Promise<Case | undefined> {
  return pick(server, await recorded(server), undefined);
}

/** The only case, or the one that a person chooses. */
export async function chooseUnlessOnly(server: Server): Promise<Case | undefined> {
  const known = await recorded(server);
  return known.length === 1 ? known[0] : pick(server, known, undefined);
}

/** Lets a person choose one of some cases, or none if one is selected. */
async function pick(server: Server, known: readonly Case[], selected: Case | undefined): Promise<Case | undefined> {
  if (known.length === 0) {
    throw new NoRun(server.root);
  }
  const chosen = await vscode.window.showQuickPick(items(known, selected), {
    placeHolder: "Case",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen === undefined) {
    throw new vscode.CancellationError();
  }
  return chosen.found;
}

function items(known: readonly Case[], selected: Case | undefined): Item[] {
  const list: Item[] = selected !== undefined ? [{ label: "$(circle-slash) None", description: "Show no values" }] : [];
  let run: string | undefined;
  for (const found of known) {
    if (found.run !== run) {
      run = found.run;
      list.push({ label: `Run ${run}`, kind: vscode.QuickPickItemKind.Separator });
    }
    const mark = isSame(found, selected) ? "$(check) " : "";
    list.push({ label: mark + found.name, description: outcome(found), detail: found.case, found });
  }
  return list;
}

/** The case of each project whose values are shown. It is remembered, as servers forget it when they stop. */
export class Selection implements vscode.Disposable {
  /** What the servers that run have. */
  private readonly selected = new Map<string, Case>();
  private readonly item = vscode.window.createStatusBarItem("asterisk.case", vscode.StatusBarAlignment.Left);
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly projects: Projects,
    private readonly memory: vscode.Memento,
    failed: (error: unknown) => void,
  ) {
    this.item.name = "Asterisk: selected case";
    this.item.command = "asterisk.selectCase";
    this.disposables = [
      this.item,
      projects.onDidChangeServer((server) => void this.restore(server).catch(failed)),
      projects.onDidChange(() => this.show()),
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
    ];
  }

  of(server: Server): Case | undefined {
    return this.selected.get(server.root);
  }

  /** Lets a person select a case, or none. */
  async choose(server: Server): Promise<void> {
    const known = await recorded(server);
    const selected = this.of(server);
    if (selected !== undefined && !known.some((found) => isSame(found, selected))) {
      // Its run was removed.
      await this.select(server, undefined);
    }
    await this.select(server, await pick(server, known, this.of(server)));
  }

  private async select(server: Server, chosen: Case | undefined): Promise<void> {
    await server.request("asterisk/selectCase", { run: chosen?.run ?? "latest", case: chosen?.case ?? null });
    if (chosen === undefined) {
      this.selected.delete(server.root);
    } else {
      this.selected.set(server.root, chosen);
    }
    this.show();
    await this.memory.update(MEMORY, { ...this.remembered(), [server.root]: chosen });
  }

  /** Selects the case again after a server started, if the run is still there. */
  private async restore(server: Server): Promise<void> {
    this.selected.delete(server.root);
    this.show();
    const last = this.remembered()[server.root];
    if (server.isRunning && last !== undefined) {
      const known = await recorded(server);
      await this.select(server, known.find((found) => isSame(found, last)));
    }
  }

  private remembered(): Record<string, Case | undefined> {
    return this.memory.get<Record<string, Case | undefined>>(MEMORY, {});
  }

  private show(): void {
    const server = this.projects.current();
    const found = server && this.of(server);
    if (found === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = `$(beaker) ${found.case}`;
    this.item.tooltip = `Values of “${found.name}” in run ${found.run}`;
    this.item.show();
  }

  dispose(): void {
    this.disposables.forEach((disposable) => disposable.dispose());
  }
}
