// A stub of the module `vscode`: records what the extension registers, and has just enough to activate it.

import { createRequire, Module } from "node:module";
import { EventEmitter } from "node:events";

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

export function stub(settings = {}, folder = undefined) {
  const registered = { commands: new Map(), debuggers: new Map(), configurations: new Map(), contents: new Map(), messages: [], controllers: [], panels: [], pages: [], status: undefined };
  const emitter = new EventEmitter();
  const log = Object.fromEntries(["info", "warn", "error", "show", "append", "appendLine", "dispose", "debug", "trace"].map((name) => [name, () => {}]));
  const known = {
    Disposable,
    Uri: {
      file: (path) => ({ scheme: "file", path, fsPath: path, toString: () => `file://${path}` }),
      joinPath: (uri, ...parts) => known.Uri.file([uri.fsPath, ...parts].join("/")),
      parse: (text) => known.Uri.file(text.replace("file://", "")),
      from: (parts) => parts,
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
    EventEmitter: class {
      listeners = new Set();
      event = (listener) => (this.listeners.add(listener), new Disposable(() => this.listeners.delete(listener)));
      fire(value) {
        this.listeners.forEach((listener) => listener(value));
      }
      dispose() {}
    },
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
      executeCommand: async () => {},
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
    window: {
      activeTextEditor: undefined,
      createOutputChannel: () => log,
      createStatusBarItem: () => {
        registered.status = { show: () => {}, dispose: () => {} };
        return registered.status;
      },
      showErrorMessage: async (message) => void registered.messages.push(message),
      showQuickPick: async ([first]) => first,
      createWebviewPanel: (type, title) => {
        const panel = { title, webview: {} };
        registered.panels.push(panel);
        return panel;
      },
      showTextDocument: async ({ uri }) => {
        const provider = registered.contents.get(uri.scheme);
        registered.pages.push({ name: uri.path, text: provider.provideTextDocumentContent(uri) });
      },
    },
    workspace: {
      workspaceFolders: folder === undefined ? undefined : [{ name: "project", uri: { scheme: "file", fsPath: folder } }],
      getWorkspaceFolder: () => undefined,
      getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
      onDidChangeConfiguration: (listener) => (emitter.on("configuration", listener), new Disposable()),
      onDidCloseTextDocument: () => new Disposable(),
      openTextDocument: async (uri) => ({ uri }),
      registerTextDocumentContentProvider: (scheme, provider) => (registered.contents.set(scheme, provider), new Disposable()),
      createFileSystemWatcher: () => Object.fromEntries(["onDidCreate", "onDidChange", "onDidDelete", "dispose"].map((name) => [name, () => new Disposable()])),
    },
  };
  // Parts of the interface that only the language client uses do nothing.
  const open = (part, name) => new Proxy(part, { get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : anything(`${name}.${key}`)) });
  for (const name of ["window", "workspace", "commands", "debug", "tests", "languages"]) {
    known[name] = open(known[name], name);
  }
  return { registered, vscode: open(known, "vscode") };
}

/** A controller of tests, which keeps what its runs report. */
class Controller {
  items = collection();
  reported = [];
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
    return { ...Object.fromEntries(states), appendOutput: () => {}, end: () => {} };
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
