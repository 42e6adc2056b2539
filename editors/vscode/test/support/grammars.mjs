// Grammars as VS Code uses them: those of this extension, and those of YAML and Markdown that it injects into.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
const own = new Map(manifest.contributes.grammars.map((grammar) => [grammar.scopeName, grammar]));
/** Scopes of others, by the names of their grammars in `tm-grammars`. */
const others = { "source.yaml": "yaml", "text.html.markdown": "markdown", "text.html.basic": "html", "text.html.derivative": "html-derivative" };

const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));

/** All grammars, with a file for those that `find` knows. */
const registry = (find) =>
  new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    async loadGrammar(scope) {
      const path = own.get(scope)?.path;
      const file = path ? new URL(`../../${path}`, import.meta.url) : find(scope);
      return file ? textmate.parseRawGrammar(await readFile(file, "utf8"), "grammar.json") : null;
    },
    getInjections: (scope) => [...own.values()].filter((grammar) => grammar.injectTo?.includes(scope)).map((grammar) => grammar.scopeName),
  });
const packaged = registry((scope) => others[scope] && require.resolve(`tm-grammars/grammars/${others[scope]}.json`));
/** `tm-grammars` has the YAML of old versions of VS Code only. */
const recent = registry((scope) => scope === "source.yaml" && new URL("yaml.tmLanguage.json", import.meta.url));

/** YAML as new versions of VS Code have it. */
export const RECENT_YAML = "source.yaml, as in VS Code";

/** The tokens of a text: `{ line, text, scopes }`, with scopes from the innermost to the outermost. */
export async function tokens(scope, text) {
  const grammar = await (scope === RECENT_YAML ? recent.loadGrammar("source.yaml") : packaged.loadGrammar(scope));
  let stack = textmate.INITIAL;
  return text.split("\n").flatMap((line, index) => {
    const { tokens, ruleStack, stoppedEarly } = grammar.tokenizeLine(line, stack, 5000);
    if (stoppedEarly) {
      throw new Error(`line ${index + 1} takes too long: ${line}`);
    }
    stack = ruleStack;
    return tokens.map((token) => ({
      line: index + 1,
      text: line.slice(token.startIndex, token.endIndex),
      scopes: token.scopes.toReversed(),
    }));
  });
}

/** The scopes of each token with this text. */
export async function scopesOf(scope, text, wanted) {
  const found = (await tokens(scope, text)).filter((token) => token.text.trim() === wanted);
  return found.map((token) => token.scopes);
}
