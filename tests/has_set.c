/* SPDX-License-Identifier: Apache-2.0 */
/* Exit status 0 if this CPU can run the kernel set named by the argument, else 1.  Tests nothing
 * itself. */
#include "rope/rope.h"
#include <string.h>

int main(int argc, char **argv)
{
    for (rope_isa isa = ROPE_ISA_SCALAR; argc == 2 && isa <= ROPE_ISA_NEON; isa++)
        if (strcmp(argv[1], rope_isa_name(isa)) == 0)
            return !rope_isa_available(isa);
    return 1;
}
