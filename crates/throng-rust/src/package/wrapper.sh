#!/bin/sh
# Cargo calls this in place of rustc, which is the first argument. Of the crates that THRONG_CRATES
# lists, the compiler also writes LLVM IR, and how it was called is kept beside it. For the crate
# that tests ask questions with there is another text, THRONG_STUB, in which nothing is asked.
name= extra= out= test= before=
for word; do
  case "$before$word" in
    --crate-name*) name=$word ;;
    --out-dir*) out=$word ;;
    --test) test=yes ;;
    -Cextra-filename=*) extra=${word#extra-filename=} ;;
  esac
  case "$word" in --crate-name|--out-dir|-C) before=$word ;; *) before= ;; esac
done
if [ "$name" = throng ]; then
  for word; do
    shift
    case "$word" in */src/lib.rs|src/lib.rs) word=$THRONG_STUB ;; esac
    set -- "$@" "$word"
  done
  exec "$@" --emit=mir
fi
case " $THRONG_CRATES " in
  *" $name "*) ;;
  *) exec "$@" ;;
esac
kept=$out/$name$extra
for word; do printf '%s\0' "$word"; done > "$kept.words"
env -0 > "$kept.environment"
pwd > "$kept.folder"
IFS=,
for flag in $THRONG_FLAGS; do set -- "$@" "$flag"; done
if [ "$test" ]; then for flag in $THRONG_OWN; do set -- "$@" "$flag"; done; fi
exec "$@"
