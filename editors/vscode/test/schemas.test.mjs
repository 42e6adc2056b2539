// The JSON Schemas in the YAML language server that editors use: the comments that `asterisk init` and `asterisk new` write lead to them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node.js";
import { repository } from "./support/files.mjs";
import { asterisk, project, skipped } from "./support/program.mjs";

const require = createRequire(import.meta.url);

/** Opens files in the YAML language server, and returns the messages of each. */
async function messages(context, directory, files, schemas = {}) {
  const server = path.join(path.dirname(require.resolve("yaml-language-server/package.json")), "bin/yaml-language-server");
  const child = spawn(process.execPath, [server, "--stdio"], { cwd: directory, stdio: ["pipe", "pipe", "inherit"] });
  context.after(() => child.kill());
  const { StreamMessageReader, StreamMessageWriter, createProtocolConnection } = protocol;
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const found = new Map();
  const all = new Promise((resolve) => {
    connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
      found.set(uri, diagnostics.map(({ message, range }) => `${range.start.line + 1}: ${message}`));
      if (found.size === files.length) {
        resolve(undefined);
      }
    });
  });
  connection.onRequest("client/registerCapability", () => null);
  const yaml = { validate: true, schemaStore: { enable: false }, schemas };
  connection.onRequest("workspace/configuration", ({ items }) => items.map(({ section }) => (section === "yaml" ? yaml : {})));
  connection.listen();
  const root = pathToFileURL(directory).href;
  const capabilities = { workspace: { configuration: true } };
  await connection.sendRequest("initialize", { processId: process.pid, rootUri: root, workspaceFolders: [{ uri: root, name: "p" }], capabilities });
  await connection.sendNotification("initialized", {});
  for (const file of files) {
    const uri = pathToFileURL(path.join(directory, file)).href;
    const text = readFileSync(path.join(directory, file), "utf8");
    await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
  }
  await all;
  return new Map(files.map((file) => [file, found.get(pathToFileURL(path.join(directory, file)).href)]));
}

test("comments lead the YAML language server to the schemas", { skip: skipped("init"), timeout: 120_000 }, async (context) => {
  const directory = project(context, "--only", "config,schemas");
  for (const [kind, name] of [["pipeline", "nightly"], ["domain", "shop"], ["signature", "cable"], ["owner-rule", "own"]]) {
    asterisk(directory, "new", kind, name);
  }
  asterisk(directory, "new", "pipeline", "own", "--from", "rca");
  const files = readdirSync(directory, { recursive: true }).map(String).filter((name) => name.endsWith(".yaml")).sort();
  assert.equal(files.length, 6, files.join(" "));
  const good = await messages(context, directory, files);
  assert.deepEqual([...good.values()].flat(), []);
  // A mistake in each: a key that there is not.
  for (const file of files) {
    writeFileSync(path.join(directory, file), `${readFileSync(path.join(directory, file), "utf8")}\nnosuchkey: 1\n`);
  }
  const bad = await messages(context, directory, files);
  assert.deepEqual([...bad].filter(([, found]) => !found.some((message) => message.includes("nosuchkey"))), []);
});

test("settings map paths to the schemas as docs/editors.md shows", { skip: skipped("init"), timeout: 120_000 }, async (context) => {
  const directory = project(context);
  const page = readFileSync(path.join(repository, "docs/editors.md"), "utf8");
  const shown = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text)).find((settings) => settings.lsp);
  const { schemas } = shown.lsp["yaml-language-server"].settings.yaml;
  const files = ["asterisk.yaml", "pipelines/rca.yaml", "scripts/data/domains/generic.yaml"];
  for (const file of files) {
    // Without the comment, only the settings lead to the schema.
    const text = readFileSync(path.join(directory, file), "utf8").replace(/^# yaml-language-server.*\n/, "");
    writeFileSync(path.join(directory, file), `${text}\nnosuchkey: 1\n`);
  }
  const found = await messages(context, directory, files, schemas);
  assert.deepEqual([...found.values()].map((messages) => messages.filter((message) => !message.includes("nosuchkey"))), [[], [], []]);
  assert.deepEqual([...found.values()].map((messages) => messages.length), [1, 1, 1]);
});

test("bundled files match their schemas in the YAML language server", { skip: skipped("init"), timeout: 240_000 }, async (context) => {
  const directory = project(context);
  const { schemaKind } = (await import("../out/logic.js")).default;
  const names = readdirSync(directory, { recursive: true }).map(String).filter((name) => /^(pipelines|scripts)\/.*\.yaml$/.test(name));
  const copies = names.map((name) => {
    const kind = schemaKind(path.join(directory, name));
    const copy = path.join("copies", `${kind}-${name.replaceAll("/", "-")}`);
    mkdirSync(path.join(directory, "copies"), { recursive: true });
    const text = readFileSync(path.join(directory, name), "utf8");
    writeFileSync(path.join(directory, copy), `# yaml-language-server: $schema=../schemas/${kind}.schema.json\n${text}`);
    return copy;
  });
  assert.ok(copies.length > 30);
  const found = await messages(context, directory, copies);
  assert.deepEqual([...found].filter(([, messages]) => messages.length > 0), []);
});
