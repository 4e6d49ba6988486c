;;; bp-mode.el --- Boolean programs, the input of Throng  -*- lexical-binding: t; -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "26.1"))

;;; Commentary:

;; Highlighting, comments, and the language server `throng lsp' for eglot.

;;; Code:

;; BEGIN KEYWORDS (editors/generate.mjs)
(defconst bp-control-words
  '("begin" "end" "goto" "if" "then" "else" "elsif" "fi" "while" "do" "od" "for" "in" "return" "call" "atomic"))
(defconst bp-statement-words
  '("skip" "assume" "assert" "constrain" "start_thread" "end_thread" "atomic_begin" "atomic_end" "enforce" "abortif" "wait" "signal" "broadcast" "dead" "print" "sync"))
(defconst bp-declaration-words
  '("decl" "void" "bool" "const" "enum" "dfs" "thread_local"))
(defconst bp-constant-words
  '("T" "F" "true" "false"))
(defconst bp-function-words
  '("schoose"))
;; END KEYWORDS

(defvar bp-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?$ "_" table)
    (modify-syntax-entry ?# "_" table)
    (modify-syntax-entry ?' "." table)
    table)
  "Syntax table of `bp-mode'.")

(defconst bp-font-lock-keywords
  `((,(regexp-opt bp-control-words 'symbols) . font-lock-keyword-face)
    (,(regexp-opt bp-statement-words 'symbols) . font-lock-keyword-face)
    (,(regexp-opt bp-declaration-words 'symbols) . font-lock-type-face)
    (,(regexp-opt bp-constant-words 'symbols) . font-lock-constant-face)
    (,(regexp-opt bp-function-words 'symbols) . font-lock-builtin-face)
    ("^\\s-*\\(\\(?:\\sw\\|\\s_\\)+\\)\\s-*:[^=]" 1 font-lock-constant-face))
  "Highlighting of `bp-mode'.")

;;;###autoload
(define-derived-mode bp-mode prog-mode "Boolean program"
  "Major mode for Boolean programs."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local font-lock-defaults '(bp-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.n?bp\\'" . bp-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(bp-mode . ("throng" "lsp"))))

(provide 'bp-mode)
;;; bp-mode.el ends here
