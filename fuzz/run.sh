#!/usr/bin/env bash
# Runs every fuzz target for SECONDS each (60 if not given), or only the named ones: run.sh [SECONDS [TARGET…]]
#
# Seeds are made from examples/ each time; what the fuzzer finds worth keeping stays in fuzz/corpus. What each target did is added to
# fuzz/artifacts/log. THRONG is the binary that makes the seeds (default: a debug build), BUILT a folder with targets that are built already.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then targets=(bp tts ntts prop spec pnml mcc command certify c llvm); fi

# Short inputs are tried far more often, and a reader shows its branches in few bytes.
most() {
    case $1 in
    certify) echo 2048 ;;
    pnml | mcc | command | c | llvm) echo 1024 ;;
    *) echo 512 ;;
    esac
}

seeds() {
    if [ -z "${THRONG:-}" ]; then (cd .. && cargo build --quiet -p throng-cli); fi
    local throng=${THRONG:-../target/debug/throng} scratch file name to
    scratch=$(mktemp -d)
    mkdir -p corpus/{bp,tts,ntts,prop,spec,pnml,mcc,command,certify,c,llvm}
    cp ../crates/throng-llvm/tests/modules/*.ll corpus/llvm
    # What the preprocessor leaves of the examples, without the headers.
    for file in ../examples/c/*.c; do grep -v '^#' "$file" >"corpus/c/$(basename "$file")"; done
    for file in ../examples/*.*; do
        name=$(basename "$file")
        cp "$file" "$scratch/$name"
        # What an example becomes in the other formats; what cannot be said there is refused.
        for to in bp tts ntts spec pnml; do
            "$throng" translate "$file" --timeout 5 --to $to -o "$scratch/$name-to.$to" >/dev/null 2>&1 || true
        done
    done
    for file in "$scratch"/*; do
        name=$(basename "$file")
        to=${name##*.}
        if [ "$to" = xml ]; then
            to=mcc
            sed -i 's|<place>[^<]*</place>|<place>p</place>|g' "$file" # as in the net that the target knows
        fi
        if [ -d "corpus/$to" ]; then cp "$file" "corpus/$to/$name"; fi
        case $to in bp | tts | ntts | spec | pnml) { printf %s "${to:0:1}"; cat "$file"; } >"corpus/command/$name" ;; esac
    done
    # Certificates: of the system that the target knows, and of inputs that stand before them.
    printf '2 3\n0 0 -> 1 1\n1 1 -> 0 2 0 ~> 1\n0 2 +> 0 0\n1|1,1\n' >"$scratch/known.tts"
    "$throng" check "$scratch/known.tts" --timeout 5 --certificate corpus/certify/known.json >/dev/null 2>&1 || true
    for file in ../examples/*.*; do
        name=$(basename "$file")
        to=${name##*.}
        if "$throng" check "$file" --timeout 5 --certificate "$scratch/certificate" >/dev/null 2>&1 || [ -f "$scratch/certificate" ]; then
            { printf %s "${to:0:1}"; grep -v '^ *\(//\|#\)' "$file"; printf '\n%%%%\n'; cat "$scratch/certificate"; } >"corpus/certify/$name"
        fi
        rm -f "$scratch/certificate"
    done
    # libFuzzer learns nothing from seeds that it has to cut.
    for to in corpus/*; do find "$to" -type f -size +"$(most "${to#corpus/}")"c -delete; done
    rm -rf "$scratch"
}

# The coverage that libFuzzer needs is there in stable compilers; only sanitizers are not, and this crate has no unsafe code.
built=${BUILT:-target/$(rustc -vV | sed -n 's/^host: //p')/release}
if [ -z "${BUILT:-}" ]; then cargo fuzz build --fuzz-dir . --sanitizer none; fi
ulimit -s 262144 # the command runs on a stack of this size, too
seeds
for target in "${targets[@]}"; do
    mkdir -p "artifacts/$target"
    echo "── $target"
    "$built/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -max_len="$(most "$target")" -dict=dictionaries/words -print_final_stats=1 2>&1 |
        grep -E '^(Done|stat::|#[0-9]+.*(INITED|DONE)|==|SUMMARY|ALARM|thread|artifact_prefix)|panicked|ERROR' |
        grep -v 'WARNING' | tee -a artifacts/log || true
done
if [ -n "$(find artifacts -mindepth 2 -type f)" ]; then
    echo "found:" && find artifacts -mindepth 2 -type f && exit 1
fi
