// Writes the lists of keywords into the files of all editors, from keywords.json: node editors/generate.mjs
// A test (crates/throng-cli/tests/cli/editors.rs) compares keywords.json with the lexer, and the files with keywords.json.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const groups = JSON.parse(readFileSync(join(here, "keywords.json"), "utf8"));

// TextMate: a name may hold `$`, `#`, and `-` or `.` between letters, so that `\b` is not enough.
const word = (words) => `(?<![A-Za-z0-9_$#])(${words.join("|")})(?![A-Za-z0-9_$#]|[-.][A-Za-z0-9_])`;
const scope = {
  control: "keyword.control.bp",
  statement: "keyword.other.bp",
  declaration: "storage.type.bp",
  constant: "constant.language.bp",
  function: "support.function.bp",
};
const grammar = {
  name: "Boolean program",
  scopeName: "source.bp",
  patterns: [
    { name: "comment.line.double-slash.bp", match: "//.*$" },
    { name: "comment.block.bp", begin: "/\\*", end: "\\*/" },
    { match: "(?<![A-Za-z0-9_$#])(void|bool(?:\\s*<\\s*\\d+\\s*>)?)\\s+([A-Za-z_$][A-Za-z0-9_$#.-]*)\\s*(?=\\()", captures: { 1: { name: scope.declaration }, 2: { name: "entity.name.function.bp" } } },
    { match: "^\\s*([A-Za-z0-9_$#]+)\\s*:(?!=)", captures: { 1: { name: "entity.name.label.bp" } } },
    ...Object.entries(groups).map(([group, words]) => ({ name: scope[group], match: word(words) })),
    { name: "constant.numeric.bp", match: "(?<![A-Za-z0-9_$#])\\d+" },
    { name: "keyword.operator.bp", match: ":=|<=>|=>|->|&&?|\\|\\|?|\\^|!=|<>|==?|!|~|'|<=|>=|<|>|\\+|-|\\*|\\?|\\.\\." },
    { name: "variable.other.bp", match: "[A-Za-z_$][A-Za-z0-9_$#]*" },
  ],
};
writeFileSync(join(here, "vscode/syntaxes/bp.tmLanguage.json"), JSON.stringify(grammar, null, 2) + "\n");

/** Replaces what stands between two marks. */
function between(file, text) {
  const path = join(here, file);
  const old = readFileSync(path, "utf8");
  const marked = /(.*BEGIN KEYWORDS.*\n)[^]*?(.*END KEYWORDS)/;
  if (!marked.test(old)) throw new Error(`${file} has no marks`);
  writeFileSync(path, old.replace(marked, (_, begin, end) => begin + text + end));
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
between("vim/syntax/bp.vim", Object.entries(groups).map(([group, words]) => `syn keyword bp${capital(group)} ${words.join(" ")}\n`).join(""));
between("emacs/bp-mode.el", Object.entries(groups).map(([group, words]) => `(defconst bp-${group}-words\n  '(${words.map((w) => `"${w}"`).join(" ")}))\n`).join(""));

// tree-sitter: `sync` is refused by the language and not in the grammar; truth values are one node.
const captures = { control: "keyword", statement: "keyword", declaration: "keyword.type", constant: "constant.builtin", function: "function.builtin" };
const node = (words) => `[${words.filter((w) => w !== "sync").map((w) => JSON.stringify(w)).join(" ")}]`;
between("tree-sitter/queries/highlights.scm", Object.entries(groups).map(([group, words]) => `${node(words)} @${captures[group]}\n`).join(""));
