// Boolean programs for tree-sitter: docs/reference/programs.md, 2.1, 2.2 and 2.17. `tree-sitter generate` makes src/ of it.
// It accepts a little more than the language does: what tree-sitter is for needs the shape of a program, not its errors.

/// <reference types="tree-sitter-cli/dsl" />

const PREC = { conditional: 1, iff: 2, implies: 3, or: 4, xor: 5, and: 6, equal: 7, order: 8, sum: 9, product: 10, unary: 11 };

/** Words that begin a statement or a call, and are names where no such thing follows. */
const CONTEXTUAL = ["atomic", "wait", "signal", "broadcast", "dead", "print", "call", "for"];

const list = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "bp",
  word: ($) => $.identifier,
  extras: ($) => [/[\s\uFEFF]/, $.comment],
  supertypes: ($) => [$._statement, $._expression],
  inline: ($) => [$._simple, $._compound],

  rules: {
    program: ($) => repeat(choice($.constant, $.enumeration, seq($.declaration, ";"), $.function)),

    constant: ($) => seq("const", field("name", $.identifier), "=", $._expression, ";"),
    enumeration: ($) => seq("enum", field("name", $.identifier), "{", list($.identifier), "}", ";"),
    declaration: ($) => seq("decl", optional("thread_local"), list($.declared)),
    declared: ($) =>
      seq(
        field("name", $._name),
        optional(seq("[", $._expression, "]")),
        optional(seq(":", field("type", $._value_type))),
        optional(seq(":=", field("value", $._expression))),
      ),
    _value_type: ($) => choice("bool", $.range, alias($.identifier, $.type)),
    range: ($) => seq($._sum, "..", $._sum),
    // A bound is a sum: precedence alone decides where it ends.
    _sum: ($) => $._expression,

    function: ($) =>
      seq(
        optional("dfs"),
        field("result", choice("void", seq("bool", "<", $.number, ">"), list($._value_type))),
        field("name", $.identifier),
        "(",
        optional(list($.parameter)),
        ")",
        "begin",
        optional($.block),
        "end",
      ),
    parameter: ($) => seq(field("name", $.identifier), optional(seq(":", field("type", $._value_type)))),

    // `;` ends a statement, is a statement of its own, and may be left out behind one that is closed by a word.
    block: ($) => choice(seq(repeat1($._ended), optional($._labelled_simple)), $._labelled_simple),
    _ended: ($) => choice(";", seq($._labelled_simple, ";"), $._labelled_compound),
    _labelled_simple: ($) => choice($._simple, alias($._label_simple, $.labelled)),
    _label_simple: ($) => seq(field("label", $.label), ":", $._labelled_simple),
    _labelled_compound: ($) => choice($._compound, alias($._label_compound, $.labelled)),
    _label_compound: ($) => seq(field("label", $.label), ":", $._labelled_compound),
    label: ($) => choice($._name, $.number, "_"),

    _statement: ($) => choice($._simple, $._compound),
    _simple: ($) =>
      choice(
        $.bare,
        $.goto,
        $.condition,
        $.assignment,
        $.call,
        $.return,
        $.declaration,
        $.start_thread,
        $.synchronisation,
        $.dead,
        $.print,
      ),
    _compound: ($) => choice($.if, $.while, $.for, $.atomic, alias($._start_compound, $.start_thread)),

    bare: () => choice("skip", "end_thread", "atomic_begin", "atomic_end"),
    goto: ($) => seq("goto", list($.label)),
    condition: ($) => seq(choice("assume", "assert", "abortif", "enforce"), $._expression),
    assignment: ($) =>
      seq(list($._target), ":=", list($._expression), optional(seq("constrain", $._expression))),
    _target: ($) => choice($._name, $.element, "_"),
    call: ($) =>
      seq(
        optional(seq(list($._target), ":=")),
        optional("call"),
        field("function", $._name),
        "(",
        optional(list($._expression)),
        ")",
      ),
    return: ($) => seq("return", optional(list($._expression))),
    start_thread: ($) => seq("start_thread", choice($.label, $._simple)),
    _start_compound: ($) => seq("start_thread", $._compound),
    synchronisation: ($) =>
      prec(1, seq(choice("wait", "signal", "broadcast"), optional(seq("(", $.identifier, ")")))),
    dead: ($) => seq("dead", list($.identifier)),
    print: ($) => prec(1, seq("print", "(", list($._expression), ")")),

    if: ($) =>
      seq(
        "if",
        $._expression,
        "then",
        optional($.block),
        repeat(seq("elsif", $._expression, "then", optional($.block))),
        optional(seq("else", optional($.block))),
        "fi",
      ),
    while: ($) => seq("while", $._expression, "do", optional($.block), "od"),
    for: ($) => seq("for", field("name", $.identifier), "in", $.range, "do", optional($.block), "od"),
    atomic: ($) => seq("atomic", "{", optional($.block), "}"),

    _expression: ($) =>
      choice($.conditional, $.binary, $.unary, $.parenthesised, $.choice, $.element, $._name, $.primed, $.number, $.boolean, $.any),
    conditional: ($) => prec.right(PREC.conditional, seq($._expression, "?", $._expression, ":", $._expression)),
    binary: ($) => {
      const sign = (signs) => (signs.length === 1 ? signs[0] : choice(...signs));
      const left = (level, ...signs) => prec.left(level, seq($._expression, sign(signs), $._expression));
      return choice(
        left(PREC.iff, "<=>"),
        prec.right(PREC.implies, seq($._expression, choice("=>", "->"), $._expression)),
        left(PREC.or, "|", "||"),
        left(PREC.xor, "^"),
        left(PREC.and, "&", "&&"),
        left(PREC.equal, "=", "==", "!=", "<>"),
        left(PREC.order, "<", "<=", ">", ">="),
        left(PREC.sum, "+", "-"),
        left(PREC.product, "*"),
      );
    },
    unary: ($) => prec(PREC.unary, seq(choice("!", "~", "-"), $._expression)),
    parenthesised: ($) => seq("(", $._expression, ")"),
    choice: ($) => seq("schoose", "[", $._expression, ",", $._expression, "]"),
    element: ($) => seq(optional("'"), field("array", $._name), "[", $._expression, "]"),
    primed: ($) => seq("'", $._name),
    boolean: () => choice("T", "F", "true", "false"),
    any: () => choice("*", "?"),
    number: () => /\d+/,

    _name: ($) => choice($.identifier, $.braced, alias(choice(...CONTEXTUAL), $.identifier)),
    identifier: () => /[A-Za-z_$]([A-Za-z0-9_$#]|[-.][A-Za-z0-9_])*/,
    braced: () => /\{[!-|~]+\}/,
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*([^*]|\*+[^*/])*\*+\//)),
  },
});
