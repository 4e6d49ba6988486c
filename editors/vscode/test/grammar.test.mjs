// The TextMate grammar, as VS Code applies it, on the examples of the repository.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
const require = createRequire(import.meta.url);
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const root = new URL("../../../", import.meta.url);
const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
const onigLib = oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length)).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));
const registry = new textmate.Registry({
  onigLib,
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(new URL("../syntaxes/bp.tmLanguage.json", import.meta.url), "utf8"), "bp.json"),
});
const grammar = await registry.loadGrammar("source.bp");

/** Words of a text with their innermost scope. */
function words(text) {
  let state = textmate.INITIAL;
  return text.split("\n").flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map((t) => [line.slice(t.startIndex, t.endIndex).trim(), t.scopes.at(-1)]).filter(([word]) => word);
  });
}

test("keywords, names, labels and comments are told apart", () => {
  const scope = Object.fromEntries(words("void main() begin // if\n  L: x := T & x-if;\n  /* end */ start_thread L; $if := 1;\nend"));
  assert.equal(scope.void, "storage.type.bp");
  assert.equal(scope.main, "entity.name.function.bp");
  assert.equal(scope.begin, "keyword.control.bp");
  assert.equal(scope["// if"], "comment.line.double-slash.bp");
  assert.equal(scope.L, "variable.other.bp");
  assert.equal(scope.start_thread, "keyword.other.bp");
  assert.equal(scope.T, "constant.language.bp");
  assert.equal(scope.$if, "variable.other.bp");
});

test("every keyword of the examples is highlighted", () => {
  const groups = JSON.parse(readFileSync(new URL("editors/keywords.json", root), "utf8"));
  const keywords = new Set([...groups.control, ...groups.statement, ...groups.declaration]);
  let seen = 0;
  for (const file of readdirSync(new URL("examples/", root)).filter((f) => f.endsWith(".bp"))) {
    for (const [word, scope] of words(readFileSync(new URL("examples/" + file, root), "utf8"))) {
      if (!keywords.has(word)) continue;
      seen += 1;
      assert.match(scope, /^(keyword|storage)\./, `${file}: ${word}`);
    }
  }
  assert.ok(seen > 100, `${seen}`);
});
