#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_dashboard.sh tools|browser SOURCE_DIRECTORY: runs test_dashboard.py; skipped without Python.
command -v python3 >/dev/null || {
    echo "skipped: no python3"
    exit 77
}
exec python3 -B "$2/tests/test_dashboard.py" "$2" "$1"
