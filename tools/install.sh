#!/bin/sh
# Installs the program `throng` from a release archive, after comparing its checksum.
#
#   sh install.sh ARCHIVE [FOLDER]      ARCHIVE: a path or an https address; FOLDER: default ~/.local/bin
#
# ARCHIVE.sha256 must be beside it.
set -eu
archive=${1:?usage: install.sh ARCHIVE [FOLDER]}
folder=${2:-$HOME/.local/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$archive")
case $archive in
  https://*) for f in "$archive" "$archive.sha256"; do curl --proto '=https' --tlsv1.2 -fsSL "$f" -o "$work/$(basename "$f")"; done ;;
  *) cp "$archive" "$archive.sha256" "$work/" ;;
esac
(cd "$work" && if command -v sha256sum >/dev/null; then sha256sum -c "$name.sha256" >/dev/null; else shasum -a 256 -c "$name.sha256" >/dev/null; fi) ||
  { echo "install: the checksum is wrong" >&2; exit 1; }
tar -C "$work" -xzf "$work/$name"
mkdir -p "$folder"
install -m 755 "$work/${name%.tar.gz}/throng" "$folder/throng"
"$folder/throng" --version
case :$PATH: in *:"$folder":*) ;; *) echo "install: $folder is not on your PATH" >&2 ;; esac
