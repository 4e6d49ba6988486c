; BEGIN KEYWORDS: from keywords.json, by node editors/generate.mjs
["begin" "end" "goto" "if" "then" "else" "elsif" "fi" "while" "do" "od" "for" "in" "return" "call" "atomic"] @keyword
["skip" "assume" "assert" "constrain" "start_thread" "end_thread" "atomic_begin" "atomic_end" "enforce" "abortif" "wait" "signal" "broadcast" "dead" "print"] @keyword
["decl" "void" "bool" "const" "enum" "dfs" "thread_local"] @keyword.type
["T" "F" "true" "false"] @constant.builtin
["schoose"] @function.builtin
; END KEYWORDS

(comment) @comment
(number) @number
(any) @constant.builtin
(function name: (identifier) @function)
(call function: (identifier) @function.call)
(parameter name: (identifier) @variable.parameter)
(label) @label
(type) @type
(constant name: (identifier) @constant)
(enumeration name: (identifier) @type)
(primed) @variable
(declared name: (identifier) @variable)
[":=" "<=>" "=>" "->" "&" "&&" "|" "||" "^" "=" "==" "!=" "<>" "<" "<=" ">" ">=" "+" "-" "!" "~" "'" ".."] @operator
[";" "," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
