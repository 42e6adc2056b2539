// The language server of a project: `asterisk lsp`.

import * as vscode from "vscode";
import {
  LanguageClient,
  State,
  TransportKind,
  type DocumentSelector,
  type DynamicFeature,
  type LanguageClientOptions,
  type Middleware,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { Host } from "./host";

/** What the server is asked about, below the directory of its project. */
const DOCUMENTS = [
  { language: "rhai", pattern: "**" },
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
  private starting: Promise<LanguageClient> | undefined;
  private hasFailed = false;

  /** `changed` is called when the server started or stopped, and `owns` tells whether a file is of this project. */
  constructor(
    private readonly host: Host,
    readonly root: string,
    private readonly changed: () => void,
    private readonly owns: (uri: vscode.Uri) => boolean,
  ) {}

  /** The directory of the project as a person knows it: below the folder of the workspace. */
  get name(): string {
    const uri = vscode.Uri.file(this.root);
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    return folder?.uri.fsPath === this.root ? folder.name : vscode.workspace.asRelativePath(uri);
  }

  /** Starts the server, unless that was tried before. */
  async start(): Promise<void> {
    this.starting ??= this.launch().catch((error: unknown) => {
      this.hasFailed = true;
      throw error;
    });
    await this.starting;
  }

  get wasStarted(): boolean {
    return this.starting !== undefined;
  }

  private async launch(): Promise<LanguageClient> {
    // Without a program the client would try again and again.
    const version = await this.host.run(["--version"], this.root);
    this.host.log.info(`${version.stdout.trim()} for ${this.root}`);
    const server: ServerOptions = {
      command: this.host.program(this.root),
      args: ["lsp"],
      transport: TransportKind.stdio,
      options: { cwd: this.root },
    };
    const client = new Client("asterisk", "Asterisk", server, this.options());
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (newState !== State.Starting && client === this.client) {
        this.changed();
      }
    });
    await client.start();
    return client;
  }

  private options(): LanguageClientOptions {
    const uri = vscode.Uri.file(this.root);
    const below = (pattern: string): vscode.RelativePattern => new vscode.RelativePattern(uri, pattern);
    // The client passes patterns to VS Code as they are, though its types know only texts, where a directory would need escapes.
    const selector = DOCUMENTS.map(({ language, pattern }) => ({ scheme: "file", language, pattern: below(pattern) }));
    return {
      documentSelector: selector as unknown as DocumentSelector,
      workspaceFolder: { uri, name: this.name, index: 0 },
      outputChannel: this.host.log,
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(below("**/*.{rhai,yaml,yml,md}")) },
      middleware: onlyOwn(this.owns),
    };
  }

  async stop(): Promise<void> {
    // A client that is starting cannot be stopped.
    const client = await this.starting?.catch(() => this.client);
    [this.client, this.starting, this.hasFailed] = [undefined, undefined, false];
    if (client !== undefined) {
      this.changed();
      await client.dispose();
    }
  }

  /** Asks the server, which is started if it is not running. */
  async request(method: string, params: unknown): Promise<unknown> {
    if (this.hasFailed) {
      // What was wrong may have been set right by now.
      await this.stop();
    }
    await this.start();
    if (this.client === undefined || !this.isRunning) {
      throw new Error("The language server has stopped. The command “Restart Language Server” starts it again.");
    }
    return this.client.sendRequest(method, params);
  }

  /** Executes a command of the server, such as that of a lens. */
  async execute(command: string, args: unknown[]): Promise<unknown> {
    return this.request("workspace/executeCommand", { command, arguments: args });
  }

  get isRunning(): boolean {
    return this.client?.isRunning() ?? false;
  }

  dispose(): void {
    void this.stop().catch((error: unknown) => this.host.log.warn(String(error)));
  }
}

/**
 * Leaves files of projects within this one to their own servers: patterns cannot exclude directories. All these functions get a
 * document, an event about one, or its address first, and last the function that asks the server.
 */
function onlyOwn(owns: (uri: vscode.Uri) => boolean): Middleware {
  type Ask = (...args: unknown[]) => unknown;
  const ask = async (...args: unknown[]): Promise<unknown> => {
    const uri = uriOf(args[0]);
    return uri === undefined || owns(uri) ? (args.at(-1) as Ask)(...args.slice(0, -1)) : undefined;
  };
  return new Proxy<Middleware>({}, { get: (_, name) => (typeof name === "string" && /^(?:did|prepare|provide|will)[A-Z]/.test(name) ? ask : undefined) });
}

function uriOf(value: unknown): vscode.Uri | undefined {
  const { document, uri, scheme } = Object(value) as { document?: { uri: vscode.Uri }; uri?: vscode.Uri; scheme?: string };
  return document?.uri ?? uri ?? (scheme === undefined ? undefined : (value as vscode.Uri));
}
