#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_paths.sh SOURCE_DIRECTORY
# The files that documents, scripts' first lines and the public headers name exist.
set -eu
cd "$1"
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || {
    echo "skipped: no checkout of git, which knows the files of the project"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Links of Markdown, from the document's place; pages of the web are left out.
for document in $(git ls-files '*.md'); do
    grep -oE '\]\([^)#]+' "$document" | sed 's/^](//' | grep -v '^https*:' | while read -r link; do
        [ -e "$(dirname "$document")/$link" ] || echo "$document: $link"
    done
done >"$work/missing"

# Paths from the top: a directory of ours, and a name with an extension.  <name> and * stand for others.
git ls-files '*.md' 'include/*' .ci/run '*.sh' 'cmake/man/*' | while read -r document; do
    grep -oE '(^|[ (`"])(new/)?(bench|cmake|docs|include|kernels|src|tests)/[A-Za-z0-9_./-]+\.[a-z]+' "$document" |
        sed 's/^[^a-z]//; s|^new/||' | sort -u | while read -r path; do
            [ -e "$path" ] || echo "$document: $path"
        done
done >>"$work/missing"
cat "$work/missing"
[ ! -s "$work/missing" ]
