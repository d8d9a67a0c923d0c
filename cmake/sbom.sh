#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sbom.sh REUSE VERSION OUT [NAME VERSION LICENCE]...
# Bill of materials in SPDX form: every file with its licence, as `reuse spdx` finds them, the package, and the
# libraries NAME that it is linked with.  To be run in the source directory.
set -eu
reuse=$1 version=$2 out=$3
shift 3
trap 'rm -f "$out.new"' EXIT

# package NAME VERSION LICENCE COPYRIGHT
package()
{
    cat <<END

PackageName: $1
SPDXID: SPDXRef-Package-$1
PackageVersion: ${2:-NOASSERTION}
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: $3
PackageLicenseDeclared: $3
PackageCopyrightText: $4
END
}

{
    # Of 2.1, which reuse 1.1 writes, nothing has gone in 2.3 but the small letters.
    "$reuse" spdx | sed "s/^SPDXVersion: .*/SPDXVersion: SPDX-2.3/; s/^DocumentName: .*/DocumentName: librope-$version/
        s/^Creator: Person: Anonymous.*/Creator: Organization: The librope authors/
        /^Creator: Organization: Anonymous/d; s/^\\(Relationship: .*\\) describes /\\1 DESCRIBES /"
    package librope "$version" Apache-2.0 "<text>The librope authors</text>"
    echo "Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-Package-librope"
    while [ $# -gt 0 ]; do
        package "$1" "$2" "$3" NOASSERTION
        echo "Relationship: SPDXRef-Package-librope DEPENDS_ON SPDXRef-Package-$1"
        shift 3
    done
} >"$out.new"
grep -q '^FileName: ./include/rope/rope.h' "$out.new" # a pipe hides the failure of its first command
mv "$out.new" "$out"
