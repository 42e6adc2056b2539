// The language server: `asterisk lsp`.

import * as vscode from "vscode";
import {
  LanguageClient,
  TransportKind,
  type DynamicFeature,
  type LanguageClientOptions,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { Host } from "./host";
import { MissingProgram, run } from "./program";

/** What the server is asked about. */
const DOCUMENTS = [
  { language: "rhai" },
  { language: "yaml", pattern: "**/{pipelines,data}/**/*.{yaml,yml}" },
  { language: "yaml", pattern: "**/asterisk.yaml" },
  { language: "markdown", pattern: "**/templates/**/*.md" },
];

/** A client that leaves the server's commands to this extension, which shows their results. */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if (!("registrationType" in feature) || feature.registrationType.method !== "workspace/executeCommand") {
      super.registerFeature(feature);
    }
  }
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;

  constructor(private readonly host: Host) {}

  async start(): Promise<void> {
    const project = this.host.project();
    if (project === undefined) {
      return;
    }
    const command = this.host.program();
    // Without a program the client would try again and again.
    try {
      const version = await run(command, ["--version"], project);
      this.host.log.info(version.stdout.trim());
    } catch (error) {
      if (error instanceof MissingProgram) {
        this.host.report(error);
        return;
      }
      throw error;
    }
    const server: ServerOptions = { command, args: ["lsp"], transport: TransportKind.stdio, options: { cwd: project } };
    const options: LanguageClientOptions = {
      documentSelector: DOCUMENTS.map((filter) => ({ scheme: "file", ...filter })),
      outputChannel: this.host.log,
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{rhai,yaml,yml,md}") },
    };
    this.client = new Client("asterisk", "Asterisk", server, options);
    try {
      await this.client.start();
    } catch (error) {
      this.client = undefined;
      this.host.report(error);
    }
  }

  async stop(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.dispose();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Asks the server; `undefined` if there is none. */
  async request(method: string, params?: unknown): Promise<unknown> {
    return this.client?.sendRequest(method, params);
  }

  /** Executes a command of the server, such as that of a lens. */
  async execute(command: string, args: unknown[]): Promise<unknown> {
    if (!this.isRunning) {
      throw new Error("The language server is not running.");
    }
    return this.request("workspace/executeCommand", { command, arguments: args });
  }

  get isRunning(): boolean {
    return this.client?.isRunning() ?? false;
  }

  dispose(): void {
    void this.stop();
  }
}
