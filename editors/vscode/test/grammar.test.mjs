// The grammars, on bundled files and on samples.

import assert from "node:assert/strict";
import { test } from "node:test";
import { files } from "./support/files.mjs";
import { RECENT_YAML, scopesOf, tokens } from "./support/grammars.mjs";

const RHAI = "source.rhai";
const YAML = "source.yaml";
const MARKDOWN = "text.html.markdown";

/** Tokens of bundled files whose innermost scope says what they are. */
async function check(scope, found) {
  const wrong = [];
  for (const { name, text } of found) {
    const all = await tokens(scope, text);
    wrong.push(...all.filter(({ scopes }) => scopes.some((scope) => scope.startsWith("invalid"))).map(({ line, text }) => `${name}:${line}: ${text}`));
    // What is left open at the end of a file was read wrongly somewhere above.
    const last = all.at(-1)?.scopes ?? [];
    if (scope === RHAI && last.length !== 1 && text.endsWith("\n")) {
      wrong.push(`${name}: ends within ${last.join(" ")}`);
    }
  }
  assert.deepEqual(wrong, []);
}

test("every token of the bundled scripts is valid", async () => {
  const scripts = files("scripts", ".rhai");
  assert.ok(scripts.length > 100);
  await check(RHAI, scripts);
});

test("every word of the bundled scripts has a scope", async () => {
  for (const { name, text } of files("scripts", ".rhai")) {
    const bare = (await tokens(RHAI, text)).filter(({ scopes, text }) => scopes.length === 1 && text.trim() !== "");
    assert.deepEqual(bare.map(({ line, text }) => `${name}:${line}: ${text}`), []);
  }
});

test("bundled pipelines and templates are valid", async () => {
  await check(YAML, files("pipelines", ".yaml"));
  await check(MARKDOWN, files("templates", ".md"));
});

/** Each sample: a text, a token of it, and the innermost scope of that token, or of each one with that text. */
const SAMPLES = [
  [RHAI, "// a", "a", "comment.line.double-slash.rhai"],
  [RHAI, "/// Fires.", "Fires.", "comment.line.documentation.rhai"],
  [RHAI, "//! Rules.", "Rules.", "comment.line.documentation.rhai"],
  [RHAI, "//// a", "// a", "comment.line.double-slash.rhai"],
  [RHAI, "/* a /* b */ c */ x", "x", "variable.other.rhai"],
  [RHAI, "/** a */", "a", "comment.block.documentation.rhai"],
  [RHAI, 'let a = "b ""c"" d";', ";", "punctuation.terminator.rhai"],
  [RHAI, String.raw`"a\tb"`, String.raw`\t`, "constant.character.escape.rhai"],
  [RHAI, String.raw`"a\qb"`, String.raw`\q`, "invalid.illegal.escape.rhai"],
  [RHAI, 'f("", x)', "x", "variable.other.rhai"],
  [RHAI, '#"a "b" c"# + d', "d", "variable.other.rhai"],
  [RHAI, '##"a"# b"## + d', "d", "variable.other.rhai"],
  [RHAI, "'x' + 1", "1", "constant.numeric.integer.rhai"],
  [RHAI, "`a ${b + `c ${d}`} e`", "d", "variable.other.rhai"],
  [RHAI, "`a ${#{ b: 1 }.b} e`", "e", "string.template.rhai"],
  [RHAI, "`a ${if x { y } else { z }} e`", "e", "string.template.rhai"],
  [RHAI, "`a\nb`", "b", "string.template.rhai"],
  [RHAI, "0xff_00", "0xff_00", "constant.numeric.hex.rhai"],
  [RHAI, "0b1_0", "0b1_0", "constant.numeric.binary.rhai"],
  [RHAI, "1_000.5e-3", "1_000.5e-3", "constant.numeric.float.rhai"],
  [RHAI, "0..10", "10", "constant.numeric.integer.rhai"],
  [RHAI, "0..=10", "..=", "keyword.operator.range.rhai"],
  [RHAI, "for x in y { continue; }", "in", "keyword.control.rhai"],
  [RHAI, "private fn of(a, b) { a }", "of", "entity.name.function.rhai"],
  [RHAI, "private fn of(a, b) { 1 }", "b", "variable.parameter.rhai"],
  [RHAI, "fn int.double() { this * 2 }", "int", "entity.name.type.rhai"],
  [RHAI, "fn int.double() { this * 2 }", "this", "variable.language.rhai"],
  [RHAI, 'import "lib/text" as text;', "text", "entity.name.namespace.rhai"],
  [RHAI, "text::one_line(a)", "text", "entity.name.namespace.rhai"],
  [RHAI, "text::one_line(a)", "one_line", "entity.name.function.call.rhai"],
  [RHAI, "a.len()", "len", "entity.name.function.call.method.rhai"],
  [RHAI, "a.match || a?.switch", "switch", "variable.other.property.rhai"],
  [RHAI, "#{ in_: 1, because: a::b }", "because", "variable.other.property.key.rhai"],
  [RHAI, "#{ because: a::b }", "a", "entity.name.namespace.rhai"],
  [RHAI, '#{ "a b": 1 }', '"', "punctuation.definition.string.begin.rhai", "punctuation.definition.string.end.rhai"],
  [RHAI, "#{ a: if b { c } else { d } }", "d", "variable.other.rhai"],
  [RHAI, "list.map(|a, b| a + b)", "|", "punctuation.definition.parameters.begin.rhai", "punctuation.definition.parameters.end.rhai"],
  [RHAI, "a | b", "|", "keyword.operator.bitwise.rhai"],
  [RHAI, "a || b", "||", "keyword.operator.logical.rhai"],
  [RHAI, "switch a { 1 | 2 => b }", "=>", "keyword.operator.arrow.rhai"],
  [RHAI, "const LIMIT = 3;", "LIMIT", "variable.other.constant.rhai"],
  [RHAI, "let x = true;", "true", "constant.language.boolean.rhai"],
  [RECENT_YAML, "edges:\n  - condition: |\n      a.len() > 1\n  - id: last", "last", "string.unquoted.plain.out.yaml"],
  [MARKDOWN, "Case {{ params.failure.name | upper }}.", "failure", "variable.other.property.minijinja"],
  [MARKDOWN, "Case {{ params.failure.name | upper }}.", "upper", "support.function.filter.minijinja"],
  [MARKDOWN, "{%- if a is defined and not b -%}", "if", "keyword.control.minijinja"],
  [MARKDOWN, "{%- if a is defined and not b -%}", "defined", "support.function.test.minijinja"],
  [MARKDOWN, "{# a comment #}", "a comment", "comment.block.minijinja"],
  [MARKDOWN, "- item {% include 'parts/role.md' %}", "include", "keyword.control.minijinja"],
];

/** Samples for both grammars of YAML. */
const YAML_SAMPLES = [
  ['edges:\n  - condition: "confidence >= vars.sure"', ">=", "keyword.operator.comparison.rhai"],
  ["edges:\n  - { id: a, condition: 'state.loops.tries < 2', to: b }", "tries", "variable.other.property.rhai"],
  ["edges:\n  - { id: a, condition: 'state.loops.tries < 2', to: b }", "b", "string.unquoted.plain.in.yaml"],
  ["nodes:\n  - foreach: prior.a.list\n    name: b", "list", "variable.other.property.rhai"],
  ["nodes:\n  - foreach: prior.a.list\n    name: b", "b", "string.unquoted.plain.out.yaml"],
  ["edges:\n  - condition: |\n      a.len() > 1\n    to: b", "len", "entity.name.function.call.method.rhai"],
  ["edges:\n  - condition: |\n      a.len() > 1\n    to: b", "b", "string.unquoted.plain.out.yaml"],
  ["edges:\n  - id: a\n    condition: |\n      a.len() > 1\n\n      c\n    to: b", "c", "variable.other.rhai"],
  ["edges:\n  - id: a\n    condition: |\n      a.len() > 1\n\n      c\n    to: b\n  - id: d", "b", "string.unquoted.plain.out.yaml"],
  ["id: d\ncondition: >-\n  a\nto: b", "a", "variable.other.rhai"],
  ["id: d\ncondition: >-\n  a\nto: b", "b", "string.unquoted.plain.out.yaml"],
  ["edges:\n  - { id: a, condition: 'c < 2', to: b }", ",", "punctuation.separator.mapping.yaml"],
  ["edges:\n  - { id: a, condition: c < 2, to: b }", ",", "punctuation.separator.mapping.yaml"],
  ['arguments: "#{ text: failure.name }"', "failure", "variable.other.rhai"],
  ["arguments: agents/a.rhai#made", "made", "entity.name.function.call.rhai"],
  ["# condition: 'a'", "condition: 'a'", "comment.line.number-sign.yaml"],
];

test("text about conditions is not an expression", async () => {
  for (const text of ["description: condition is a word", "task: 'a condition: b > 1'", "task: |\n  condition: b > 1", "conditions: a"]) {
    for (const yaml of [YAML, RECENT_YAML]) {
      const rhai = (await tokens(yaml, text)).filter(({ scopes }) => scopes.some((scope) => scope.endsWith("rhai")));
      assert.deepEqual(rhai, [], text);
    }
  }
});

const ALL = [...SAMPLES, ...[YAML, RECENT_YAML].flatMap((yaml) => YAML_SAMPLES.map((sample) => [yaml, ...sample]))];

for (const [scope, text, token, ...expected] of ALL) {
  test(`${token} in ${JSON.stringify(text)} (${scope})`, async () => {
    const found = await scopesOf(scope, text, token);
    assert.ok(found.length > 0, `no such token: ${JSON.stringify((await tokens(scope, text)).map(({ text }) => text))}`);
    const innermost = found.map(([first]) => first);
    assert.deepEqual(innermost, expected.length === 1 ? innermost.map(() => expected[0]) : expected);
  });
}
