" Boolean programs, the input of Throng.
if exists("b:current_syntax")
  finish
endif
syn case match
setlocal iskeyword=@,48-57,_,$,#

" BEGIN KEYWORDS (editors/generate.mjs)
syn keyword bpControl begin end goto if then else elsif fi while do od for in return call atomic
syn keyword bpStatement skip assume assert constrain start_thread end_thread atomic_begin atomic_end enforce abortif wait signal broadcast dead print sync
syn keyword bpDeclaration decl void bool const enum dfs thread_local
syn keyword bpConstant T F true false
syn keyword bpFunction schoose
" END KEYWORDS

syn match bpLabel /^\s*\k\+\s*:=\@!/
syn match bpNumber /\<\d\+\>/
syn match bpOperator /:=\|<=>\|=>\|->\|[&|^!~=<>?*+']/
syn match bpComment "//.*$"
syn region bpComment start="/\*" end="\*/"

hi def link bpControl Keyword
hi def link bpStatement Statement
hi def link bpDeclaration Type
hi def link bpConstant Constant
hi def link bpFunction Function
hi def link bpLabel Label
hi def link bpNumber Number
hi def link bpOperator Operator
hi def link bpComment Comment

let b:current_syntax = "bp"
