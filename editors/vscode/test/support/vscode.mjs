// A stub of the module `vscode`: records what the extension registers, and has just enough to activate it.

import { readdirSync } from "node:fs";
import { createRequire, Module } from "node:module";
import * as path from "node:path";

const require = createRequire(import.meta.url);

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
  static from(...all) {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
}

/** Anything that is not given here: a class that can be extended, called and read. */
function anything(name) {
  return new Proxy(class {}, {
    get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : anything(`${name}.${String(key)}`)),
    apply: () => new Disposable(),
  });
}

/** A kind of code actions, with a part appended by each dot. */
const kind = (value) => ({ value, append: (part) => kind(value === "" ? part : `${value}.${part}`) });
const kinds = Object.fromEntries(
  ["", "QuickFix", "Refactor", "RefactorExtract", "RefactorInline", "RefactorRewrite", "Source", "SourceOrganizeImports"].map((name) => [
    name || "Empty",
    kind(name),
  ]),
);

class Emitter {
  listeners = new Set();
  event = (listener) => (this.listeners.add(listener), new Disposable(() => this.listeners.delete(listener)));
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose() {}
}

/** The state of a workspace, which outlives the extension. */
export function memento() {
  const values = new Map();
  return { get: (key, otherwise) => values.get(key) ?? otherwise, update: async (key, value) => void values.set(key, value) };
}

export function stub(settings = {}, folder = undefined) {
  const registered = {
    commands: new Map(),
    debuggers: new Map(),
    configurations: new Map(),
    contents: new Map(),
    messages: [],
    logged: [],
    controllers: [],
    panels: [],
    pages: [],
    tasks: [],
    /** What a person answers: the action of a message, and the item of a list. */
    act: () => undefined,
    choose: (items) => items.find(({ kind }) => kind === undefined),
    status: undefined,
    watchers: new Map(),
    opened: new Emitter(),
    configured: new Emitter(),
  };
  const log = Object.fromEntries(["warn", "error", "show", "append", "appendLine", "dispose", "debug", "trace"].map((name) => [name, () => {}]));
  log.info = (line) => void registered.logged.push(line);
  const known = {
    Disposable,
    Uri: {
      file: (path) => ({ scheme: "file", path, fsPath: path, toString: () => `file://${path}` }),
      joinPath: (uri, ...parts) => known.Uri.file([uri.fsPath, ...parts].join("/")),
      parse: (text) => known.Uri.file(text.replace("file://", "")),
      from: ({ scheme, path }) => ({ scheme, path, toString: () => `${scheme}:${path}` }),
    },
    RelativePattern: class {
      constructor(base, pattern) {
        Object.assign(this, { base, pattern });
      }
    },
    CancellationError: class extends Error {},
    CancellationTokenSource: class {
      token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
      cancel() {
        this.token.isCancellationRequested = true;
      }
      dispose() {}
    },
    QuickPickItemKind: { Separator: -1 },
    TaskScope: { Workspace: 2 },
    ProcessExecution: class {
      constructor(process, args, options) {
        Object.assign(this, { process, args, options });
      }
    },
    Task: class {
      constructor(definition, scope, name, source, execution) {
        Object.assign(this, { name, execution });
      }
    },
    StatusBarAlignment: { Left: 1 },
    ViewColumn: { Active: -1, Beside: -2 },
    TestRunProfileKind: { Run: 1 },
    Range: class {
      constructor(...at) {
        this.at = at;
      }
    },
    Position: class {
      constructor(...at) {
        this.at = at;
      }
    },
    Location: class {
      constructor(uri, position) {
        Object.assign(this, { uri, position });
      }
    },
    TestMessage: class {
      constructor(message) {
        this.message = message;
      }
      static diff(message, expected, actual) {
        return Object.assign(new this(message), { expected, actual });
      }
    },
    TestRunRequest: class {
      constructor(include) {
        this.include = include;
      }
    },
    EventEmitter: Emitter,
    DebugAdapterExecutable: class {
      constructor(command, args, options) {
        Object.assign(this, { command, args, options });
      }
    },
    commands: {
      registerCommand: (name, action) => {
        if (registered.commands.has(name)) {
          throw new Error(`command '${name}' already exists`);
        }
        registered.commands.set(name, action);
        return new Disposable();
      },
      executeCommand: async (name, uri) => {
        if (name === "markdown.showPreviewToSide") {
          registered.pages.push({ name: uri.path, text: registered.contents.get(uri.scheme).provideTextDocumentContent(uri) });
        }
      },
    },
    debug: {
      registerDebugAdapterDescriptorFactory: (type, factory) => (registered.debuggers.set(type, factory), new Disposable()),
      registerDebugConfigurationProvider: (type, provider) => (registered.configurations.set(type, provider), new Disposable()),
    },
    version: "1.91.0",
    CodeActionKind: kinds,
    env: { appName: "stub", language: "en" },
    extensions: { getExtension: () => undefined },
    languages: {
      createDiagnosticCollection: () => Object.fromEntries(["set", "delete", "clear", "dispose"].map((name) => [name, () => {}])),
      match: () => 0,
    },
    tests: {
      createTestController: () => {
        const controller = new Controller();
        registered.controllers.push(controller);
        return controller;
      },
    },
    tasks: { executeTask: async (task) => void registered.tasks.push(task) },
    window: {
      activeTextEditor: undefined,
      visibleTextEditors: [],
      createOutputChannel: () => log,
      createStatusBarItem: () => {
        const item = { isShown: false, show: () => (item.isShown = true), hide: () => (item.isShown = false), dispose: () => {} };
        registered.status = item;
        return item;
      },
      showErrorMessage: async (message, ...actions) => {
        registered.messages.push(message);
        return registered.act(message, actions);
      },
      showQuickPick: async (items) => registered.choose(items),
      createWebviewPanel: (type, title) => {
        const panel = { title, webview: {}, reveal: () => {}, dispose: () => {}, onDidDispose: () => new Disposable() };
        registered.panels.push(panel);
        return panel;
      },
    },
    workspace: {
      workspaceFolders: folder === undefined ? undefined : [{ name: "project", uri: { scheme: "file", fsPath: folder } }],
      getWorkspaceFolder: () => undefined,
      getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
      onDidChangeConfiguration: registered.configured.event,
      onDidOpenTextDocument: registered.opened.event,
      textDocuments: [],
      asRelativePath: (uri) => path.relative(folder ?? "", uri.fsPath ?? uri),
      findFiles: async () => {
        const files = folder === undefined ? [] : readdirSync(folder, { recursive: true }).map(String);
        return files.filter((file) => path.basename(file) === "asterisk.yaml").map((file) => known.Uri.file(path.join(folder, file)));
      },
      registerTextDocumentContentProvider: (scheme, provider) => (registered.contents.set(scheme, provider), new Disposable()),
      createFileSystemWatcher: (pattern) => {
        const [created, changed, deleted] = [new Emitter(), new Emitter(), new Emitter()];
        registered.watchers.set(pattern, { created, changed, deleted });
        return { onDidCreate: created.event, onDidChange: changed.event, onDidDelete: deleted.event, dispose: () => {} };
      },
    },
  };
  // Parts of the interface that only the language client uses do nothing.
  const open = (part, name) => new Proxy(part, { get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : anything(`${name}.${key}`)) });
  for (const name of ["window", "workspace", "commands", "debug", "tests", "languages", "tasks"]) {
    known[name] = open(known[name], name);
  }
  return { registered, vscode: open(known, "vscode") };
}

/** A controller of tests, which keeps what its runs report. */
class Controller {
  items = collection();
  reported = [];
  output = [];
  profiles = [];
  createTestItem(id, label, uri) {
    return { id, label, uri, children: collection() };
  }
  createRunProfile(label, kind, handler) {
    this.profiles.push(handler);
  }
  createTestRun() {
    const report = (state) => (test, ...rest) => void this.reported.push({ state, test: test.id, rest });
    const states = ["started", "passed", "failed", "errored", "skipped"].map((state) => [state, report(state)]);
    return { ...Object.fromEntries(states), appendOutput: (text, location) => void this.output.push({ text, location }), end: () => {} };
  }
  dispose() {}
}

function collection() {
  const items = new Map();
  return {
    add: (item) => void items.set(item.id, item),
    get: (id) => items.get(id),
    replace: (all) => {
      items.clear();
      all.forEach((item) => items.set(item.id, item));
    },
    get size() {
      return items.size;
    },
    [Symbol.iterator]: () => items.entries(),
  };
}

/** Loads the built extension with a stub in the place of `vscode`. */
export function load(vscode) {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (name, ...rest) => (name === "vscode" ? "vscode" : resolve(name, ...rest));
  require.cache["vscode"] = { id: "vscode", filename: "vscode", loaded: true, exports: vscode };
  try {
    const file = require.resolve("../../out/extension.js");
    delete require.cache[file];
    return require(file);
  } finally {
    Module._resolveFilename = resolve;
    delete require.cache["vscode"];
  }
}
