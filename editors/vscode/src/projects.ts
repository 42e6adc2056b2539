// The projects of the workspace, each with its language server.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Host } from "./host";
import { ownerOf, roots } from "./project";
import { Server } from "./server";

const MARKS = "**/asterisk.yaml";
const IGNORED = "**/{node_modules,target,.asterisk}/**";

export class Projects implements vscode.Disposable {
  private readonly servers = new Map<string, Server>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly serverChanged = new vscode.EventEmitter<Server>();
  private readonly disposables: vscode.Disposable[] = [this.changed, this.serverChanged];
  private updated: Promise<void> = Promise.resolve();

  /** There are other projects than before. */
  readonly onDidChange = this.changed.event;
  /** The server of a project started or stopped. */
  readonly onDidChangeServer = this.serverChanged.event;

  constructor(private readonly host: Host) {
    const again = (): void => void this.update();
    const watcher = vscode.workspace.createFileSystemWatcher(MARKS, false, true, false);
    this.disposables.push(
      watcher,
      watcher.onDidCreate(again),
      watcher.onDidDelete(again),
      // The watcher says nothing about files in a directory that is deleted.
      vscode.workspace.onDidDeleteFiles(again),
      vscode.workspace.onDidChangeWorkspaceFolders(again),
      vscode.workspace.onDidOpenTextDocument((document) => void this.open(document)),
    );
  }

  /** Finds the projects, and starts and stops their servers. */
  update(): Promise<void> {
    // One at a time: a slow search must not undo what a later one found.
    this.updated = this.updated.then(() => this.search()).catch((error: unknown) => this.host.report(error));
    return this.updated;
  }

  private async search(): Promise<void> {
    const marks = await vscode.workspace.findFiles(MARKS, IGNORED);
    const folders = vscode.workspace.workspaceFolders?.map((folder) => folder.uri.fsPath) ?? directoryOfEditor();
    const found = roots(marks.map((uri) => uri.fsPath), folders);
    const gone = [...this.servers.values()].filter((server) => !found.includes(server.root));
    const added = found.filter((root) => !this.servers.has(root));
    gone.forEach((server) => this.servers.delete(server.root));
    await Promise.all(gone.map((server) => server.stop()));
    for (const root of added) {
      const server: Server = new Server(this.host, root, () => this.serverChanged.fire(server), (uri) => this.of(uri) === server);
      this.servers.set(root, server);
    }
    if (gone.length > 0 || added.length > 0) {
      this.changed.fire();
    }
    await this.startNeeded();
  }

  /**
   * Starts the servers of projects with open files, and that of the only project. A repository may have dozens of projects, such as
   * examples, and an unused server costs time and memory.
   */
  private async startNeeded(): Promise<void> {
    const used = vscode.workspace.textDocuments.map((document) => this.of(document.uri)).filter((server) => server !== undefined);
    const needed = new Set(this.servers.size === 1 ? this.servers.values() : used);
    const errors = await Promise.all([...needed].map((server) => server.start().catch((error: unknown) => error)));
    // A program that is missing is missing for all of them.
    const different = new Map(errors.filter((error) => error !== undefined).map((error) => [String(error), error]));
    different.forEach((error) => this.host.report(error));
  }

  private async open(document: vscode.TextDocument): Promise<void> {
    const server = this.of(document.uri);
    // An error of an earlier start has been reported.
    if (server !== undefined && !server.wasStarted) {
      await server.start().catch((error: unknown) => this.host.report(error));
    }
  }

  /** All projects, by their directories. */
  all(): Server[] {
    return [...this.servers.values()].sort((one, other) => one.root.localeCompare(other.root));
  }

  /** The project of a file. */
  of(uri: vscode.Uri): Server | undefined {
    const root = uri.scheme === "file" ? ownerOf(uri.fsPath, this.servers.keys()) : undefined;
    return root === undefined ? undefined : this.servers.get(root);
  }

  /** The project of the active editor, else of another one that is visible, else the only one. */
  current(): Server | undefined {
    const editors = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors];
    const shown = editors.map((editor) => editor && this.of(editor.document.uri)).find((server) => server !== undefined);
    return shown ?? (this.servers.size === 1 ? this.all()[0] : undefined);
  }

  /** The project of a file, or else the current one, or else the one that a person chooses. */
  async choose(uri?: vscode.Uri): Promise<Server> {
    const found = (uri && this.of(uri)) ?? this.current();
    if (found !== undefined) {
      return found;
    }
    if (this.servers.size === 0) {
      throw new Error("Open the folder of a project first.");
    }
    const items = this.all().map((server) => ({ label: server.name, server }));
    const chosen = await vscode.window.showQuickPick(items, { placeHolder: "Project" });
    if (chosen === undefined) {
      throw new vscode.CancellationError();
    }
    return chosen.server;
  }

  /** Starts all servers again, with the program that the settings name now. */
  async restart(): Promise<void> {
    await Promise.all(this.all().map((server) => server.stop()));
    await this.update();
  }

  dispose(): void {
    [...this.servers.values(), ...this.disposables].forEach((disposable) => disposable.dispose());
  }
}

/** Without a folder, the file that is open is all there is of a project. */
function directoryOfEditor(): string[] {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === "file" ? [path.dirname(uri.fsPath)] : [];
}
