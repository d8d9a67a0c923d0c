/* SPDX-License-Identifier: Apache-2.0 */
/* rope_config.h as test_header.c does rope.h: compiled only, and nothing else included. */
#include "rope/rope_config.h"

int main(void);
int main(void)
{
    const rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
    const rope_query_scale scale = ROPE_QUERY_SCALE_INIT;
    const rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    const rope_gguf_pair pair = ROPE_GGUF_PAIR_INIT;
    return !(entry.struct_size == sizeof entry && scale.struct_size == sizeof scale &&
             options.struct_size == sizeof options && pair.struct_size == sizeof pair);
}
