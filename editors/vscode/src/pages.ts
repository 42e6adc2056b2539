// Explanations: Markdown that is shown as a preview next to the editor.

import * as vscode from "vscode";
import { asMarkdown } from "./project";

const SCHEME = "asterisk-explain";

/** How many texts are kept, for previews that are still open. */
const KEPT = 50;

export class Pages implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** Shows a text next to the editor. The name is the title of the preview. */
  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name.replaceAll("/", " ")}.md` });
    const key = uri.toString();
    this.texts.delete(key);
    this.texts.set(key, asMarkdown(name, text));
    [...this.texts.keys()].slice(0, -KEPT).forEach((old) => this.texts.delete(old));
    // A preview of the same name that is open shows the new text.
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(this.changed, vscode.workspace.registerTextDocumentContentProvider(SCHEME, this));
  }

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.texts.get(uri.toString());
  }
}
