au BufRead,BufNewFile *.bp,*.nbp setfiletype bp
