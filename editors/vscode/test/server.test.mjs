// The language server, asked by a foreign client: the reference implementation of the protocol.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node.js";
import { asterisk, program, project, skipped } from "./support/program.mjs";

/** A rule with a mistake (`confidense`), a helper, and a line that is not formatted. */
const RULE = `//! Own rules.

/// Whether a match is certain.
private fn certain(artifact, vars) { artifact.confidence >= vars.recall_hit }

/// Fires on certain matches.
fn own_hit(artifact, state, vars) {
    let sure = certain(artifact, vars);
      if !sure   { return false; }
    #{
        because: \`sure: \${artifact.confidense}\`,
    }
}
`;

const PIPELINE = `extends: rca
edges:
  - { id: H1, rule: "rules/own.rhai#own_hit" }
`;

/** How long an answer may take: a debug build on a busy machine lints the project in up to a minute. */
const PATIENCE = 180_000;

class Client {
  diagnostics = new Map();
  waiting = [];

  constructor(directory) {
    this.process = spawn(program, ["lsp"], { cwd: directory, stdio: ["pipe", "pipe", "pipe"] });
    this.errors = "";
    this.process.stderr.on("data", (data) => (this.errors += data));
    this.exited = new Promise((resolve) => this.process.on("exit", resolve));
    const { StreamMessageReader, StreamMessageWriter, createProtocolConnection } = protocol;
    this.connection = createProtocolConnection(new StreamMessageReader(this.process.stdout), new StreamMessageWriter(this.process.stdin));
    this.connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
      this.diagnostics.set(uri, diagnostics);
      this.waiting.forEach((check) => check());
    });
    for (const method of ["client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"]) {
      this.connection.onRequest(method, () => null);
    }
    for (const what of ["semanticTokens", "codeLens", "inlayHint", "inlineValue", "diagnostic"]) {
      this.connection.onRequest(`workspace/${what}/refresh`, () => null);
    }
    this.connection.onRequest("workspace/configuration", ({ items }) => items.map(() => null));
    this.connection.listen();
  }

  /** Asks for something; fails if no answer comes. */
  async ask(method, params) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer to ${method} after ${PATIENCE / 1000} s; stderr: ${this.errors}`)), PATIENCE);
    });
    try {
      return await Promise.race([this.connection.sendRequest(method, params), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  tell(method, params) {
    return this.connection.sendNotification(method, params);
  }

  /** Waits for diagnostics of a file that a check accepts. */
  diagnosticsOf(uri, accepts) {
    return new Promise((resolve, reject) => {
      const shown = () => JSON.stringify(this.diagnostics.get(uri));
      const timer = setTimeout(() => reject(new Error(`no such diagnostics: ${shown()}; stderr: ${this.errors}`)), PATIENCE);
      const check = () => {
        const found = this.diagnostics.get(uri);
        if (found !== undefined && accepts(found)) {
          clearTimeout(timer);
          resolve(found);
        }
      };
      this.waiting.push(check);
      check();
    });
  }
}

/** The position within a text of the nth occurrence of a word, plus an offset. */
function at(text, word, { nth = 0, plus = 0 } = {}) {
  let offset = -1;
  for (let count = 0; count <= nth; count++) {
    offset = text.indexOf(word, offset + 1);
    assert.notEqual(offset, -1, `${word} is not in the text`);
  }
  const before = text.slice(0, offset + plus).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
}

const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  workspace: { workspaceFolders: true, configuration: true, workspaceEdit: { documentChanges: true } },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true },
    completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown", "plaintext"] } },
    hover: { contentFormat: ["markdown", "plaintext"] },
    definition: { linkSupport: false },
    rename: { prepareSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor", "source"] } } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    foldingRange: { lineFoldingOnly: true },
    semanticTokens: {
      requests: { full: true },
      tokenTypes: ["namespace", "function", "parameter", "variable", "property", "keyword", "string", "number", "comment", "operator", "method"],
      tokenModifiers: ["declaration", "readonly"],
      formats: ["relative"],
    },
  },
};

/** A client of a directory, initialized. */
async function connected(context, directory) {
  const root = pathToFileURL(directory).href;
  const client = new Client(directory);
  context.after(() => client.process.kill());
  const folders = [{ uri: root, name: "project" }];
  const started = await client.ask("initialize", { processId: process.pid, rootUri: root, workspaceFolders: folders, capabilities: CAPABILITIES });
  await client.tell("initialized", {});
  return { client, capabilities: started.capabilities };
}

test("a foreign client is served", { skip: skipped("lsp"), timeout: 10 * PATIENCE }, async (context) => {
  const directory = project(context, "--minimal");
  const file = path.join(directory, "scripts/rules/own.rhai");
  writeFileSync(file, RULE);
  mkdirSync(path.join(directory, "pipelines"));
  writeFileSync(path.join(directory, "pipelines/rca.yaml"), PIPELINE);
  // Recorded values, of a run with the rule as it should be.
  writeFileSync(file, RULE.replace("confidense", "confidence"));
  asterisk(directory, "run");
  writeFileSync(file, RULE);

  const uri = pathToFileURL(file).href;
  const tests = path.join(directory, "scripts/rules/decisions_test.rhai");
  const testsUri = pathToFileURL(tests).href;
  const textDocument = { uri };
  const lines = RULE.split("\n").length;
  const range = { start: { line: 0, character: 0 }, end: { line: lines - 1, character: 0 } };
  const { client, capabilities } = await connected(context, directory);
  const open = (uri, text) => client.tell("textDocument/didOpen", { textDocument: { uri, languageId: "rhai", version: 1, text } });
  await open(uri, RULE);
  await open(testsUri, readFileSync(tests, "utf8"));

  let mistakes = [];
  await context.test("diagnostics of a mistake", async () => {
    const of = (found) => found.filter(({ message }) => message.includes("confidense"));
    if (capabilities.diagnosticProvider) {
      mistakes = of((await client.ask("textDocument/diagnostic", { textDocument })).items);
    } else {
      mistakes = of(await client.diagnosticsOf(uri, (found) => of(found).length > 0));
    }
    assert.equal(mistakes.length, 1);
    assert.deepEqual(mistakes[0].range.start, at(RULE, "confidense"));
  });

  const certain = at(RULE, "certain(", { nth: 1, plus: 1 });
  const has = (items) => Array.isArray(items) && items.length > 0;
  /** Each: the capability, the request, its parameters, and whether the answer is good. */
  const requests = [
    ["completionProvider", "textDocument/completion", { textDocument, position: at(RULE, "vars.recall_hit", { plus: 5 }) }, (answer) =>
      (answer.items ?? answer).some(({ label }) => label === "recall_hit")],
    ["hoverProvider", "textDocument/hover", { textDocument, position: certain }, (answer) => JSON.stringify(answer.contents).includes("certain")],
    ["definitionProvider", "textDocument/definition", { textDocument, position: certain }, (answer) => {
      const [found] = [answer].flat();
      return (found.uri ?? found.targetUri) === uri && (found.range ?? found.targetRange).start.line === at(RULE, "private fn certain").line;
    }],
    ["referencesProvider", "textDocument/references", { textDocument, position: certain, context: { includeDeclaration: true } }, (answer) =>
      answer.length === 2],
    ["renameProvider", "textDocument/rename", { textDocument, position: certain, newName: "sure_enough" }, (answer) =>
      JSON.stringify(answer.changes ?? answer.documentChanges).split("sure_enough").length === 3],
    ["codeActionProvider", "textDocument/codeAction", () => ({ textDocument, range: mistakes[0].range, context: { diagnostics: mistakes } }), (answer) =>
      JSON.stringify(answer).includes("confidence")],
    ["documentSymbolProvider", "textDocument/documentSymbol", { textDocument }, (answer) =>
      ["certain", "own_hit"].every((name) => answer.some((symbol) => symbol.name === name))],
    ["foldingRangeProvider", "textDocument/foldingRange", { textDocument }, has],
    ["semanticTokensProvider", "textDocument/semanticTokens/full", { textDocument }, (answer) => has(answer.data) && answer.data.length % 5 === 0],
    ["documentFormattingProvider", "textDocument/formatting", { textDocument, options: { tabSize: 4, insertSpaces: true } }, has],
    ["inlayHintProvider", "textDocument/inlayHint", { textDocument, range }, (answer) => answer === null || Array.isArray(answer)],
    ["inlineValueProvider", "textDocument/inlineValue", { textDocument, range, context: { frameId: 1, stoppedLocation: range } }, (answer) =>
      answer === null || Array.isArray(answer)],
    ["codeLensProvider", "textDocument/codeLens", { textDocument: { uri: testsUri } }, (answer) =>
      answer.some(({ command }) => command?.command === "asterisk.runTest")],
    ["codeLensProvider", "textDocument/codeLens", { textDocument }, (answer) => answer === null || Array.isArray(answer)],
  ];
  for (const [capability, method, params, isGood] of requests) {
    await context.test(method, async () => {
      assert.ok(capabilities[capability], `the server has no ${capability}`);
      const answer = await client.ask(method, typeof params === "function" ? params() : params);
      assert.ok(isGood(answer), JSON.stringify(answer));
    });
  }

  await context.test("asterisk/cases and asterisk/selectCase", async () => {
    const { cases } = (await import("../out/logic.js")).default;
    const found = cases(await client.ask("asterisk/cases", {}));
    assert.ok(found.length > 0);
    const [{ run, case: id }] = found;
    await client.ask("asterisk/selectCase", { run, case: id });
  });

  await context.test("diagnostics go when the mistake is corrected", async () => {
    const text = RULE.replace("confidense", "confidence");
    await client.tell("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges: [{ text }] });
    const of = (found) => found.filter(({ message }) => message.includes("confidense"));
    if (capabilities.diagnosticProvider) {
      assert.deepEqual(of((await client.ask("textDocument/diagnostic", { textDocument })).items), []);
    } else {
      await client.diagnosticsOf(uri, (found) => of(found).length === 0);
    }
  });

  await context.test("shutdown", async () => {
    assert.equal(await client.ask("shutdown"), null);
    await client.tell("exit");
    assert.equal(await client.exited, 0);
  });
});

test("a project of a thousand scripts, some of them broken, is served", { skip: skipped("lsp"), timeout: 10 * PATIENCE }, async (context) => {
  const directory = project(context, "--minimal");
  const write = (name, text) => writeFileSync(path.join(directory, name), text);
  const rule = (at) => `/// Fires on certain matches.\nfn rule_${at}(artifact, state, vars) {\n    artifact.confidence >= vars.enough\n}\n`;
  for (let at = 0; at < 1000; at++) {
    write(`scripts/rules/wide_${at}.rhai`, rule(at));
  }
  const broken = "fn half(artifact, state, vars) {\n    if artifact.\n";
  write("scripts/rules/broken.rhai", broken);
  mkdirSync(path.join(directory, "pipelines"));
  const edges = Array.from({ length: 100 }, (_, at) => `  - { id: E${at}, from: look, to: _done, rule: "rules/wide_${at}.rhai#rule_${at}" }\n`);
  const wide =
    "pipeline: wide\ndescription: many rules\nvars: { enough: 0.8 }\nnodes:\n  - { name: look, schema: { confidence: number } }\n" +
    `edges:\n${edges.join("")}start: look\ndone: _done\n`;
  write("pipelines/wide.yaml", wide);
  const half = "pipeline: half\nnodes:\n  - { name: a\nedges: [\n";
  write("pipelines/half.yaml", half);
  const { client } = await connected(context, directory);
  const options = { tabSize: 4, insertSpaces: true };
  const texts = { "scripts/rules/wide_7.rhai": rule(7), "scripts/rules/broken.rhai": broken, "pipelines/wide.yaml": wide, "pipelines/half.yaml": half };
  for (const [name, text] of Object.entries(texts)) {
    const uri = pathToFileURL(path.join(directory, name)).href;
    const textDocument = { uri };
    await client.tell("textDocument/didOpen", { textDocument: { uri, languageId: name.endsWith("rhai") ? "rhai" : "yaml", version: 1, text } });
    const position = { line: 1, character: 8 };
    const range = { start: { line: 0, character: 0 }, end: { line: 3, character: 0 } };
    const requests = [
      ["completion", { position }], ["hover", { position }], ["signatureHelp", { position }], ["definition", { position }],
      ["references", { position, context: { includeDeclaration: true } }], ["documentHighlight", { position }],
      ["codeAction", { range, context: { diagnostics: [] } }], ["documentSymbol", {}], ["foldingRange", {}], ["semanticTokens/full", {}],
      ["inlayHint", { range }], ["inlineValue", { range, context: { frameId: 1, stoppedLocation: range } }], ["codeLens", {}],
    ];
    for (const [method, params] of requests) {
      await client.ask(`textDocument/${method}`, { textDocument, ...params });
    }
    // A text with a syntax error is not formatted, and the client is told why.
    const isBroken = text === broken || text === half;
    const formatted = client.ask("textDocument/formatting", { textDocument, options });
    await (isBroken ? assert.rejects(formatted, /not formatted: line \d/) : formatted);
    if (isBroken) {
      await client.diagnosticsOf(uri, (found) => found.some(({ code }) => code === "correctness/syntax"));
    }
  }
  const uri = pathToFileURL(path.join(directory, "scripts/rules/wide_7.rhai")).href;
  const symbols = await client.ask("workspace/symbol", { query: "rule_999" });
  assert.ok(symbols.some(({ name }) => name === "rule_999"));
  const edge = await client.ask("textDocument/references", { textDocument: { uri }, position: { line: 1, character: 5 }, context: { includeDeclaration: false } });
  assert.deepEqual(edge.map((found) => path.basename(found.uri)), ["wide.yaml"]);
  assert.equal(await client.ask("shutdown"), null);
  await client.tell("exit");
  assert.equal(await client.exited, 0);
});
