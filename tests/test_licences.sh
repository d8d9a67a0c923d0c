#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_licences.sh SOURCE_DIRECTORY
# Every source file says its licence in its first lines, and where reuse is installed the whole tree keeps its
# rules: .reuse/dep5 speaks for files that cannot.
set -eu
cd "$1"
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || {
    echo "skipped: no checkout of git, which knows the files of the project"
    exit 77
}
tag=SPDX-License-Identifier
files=$(git ls-files | grep -E '\.(c|h|cpp|js|css|py|sh|awk|cmake|map|[1-9])$|CMakeLists\.txt$|^\.ci/run$')
[ "$(echo "$files" | wc -l)" -gt 100 ] || {
    echo "the sources were not found"
    exit 1
}
status=0
for file in $files; do
    [ -e "$file" ] || continue # deleted, not committed yet
    head -n 2 "$file" | grep -q "$tag: Apache-2\.0" || {
        echo "$file: its first lines do not say its licence"
        status=1
    }
done
if command -v reuse >/dev/null; then
    reuse lint >/dev/null || {
        reuse lint
        status=1
    }
else
    echo "no reuse: its rules were not checked"
fi
exit $status
