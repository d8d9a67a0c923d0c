/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a config.json, in every profile.  Also replayed by tests/test_config_hostile.c.
 */
#include "use_config.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (rope_profile profile = ROPE_PROFILE_EXACT; profile <= ROPE_PROFILE_GGML; profile++) {
        char message[64];
        rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
        options.profile = profile;
        options.length = 100000;
        options.message = message;
        options.message_size = sizeof message;
        rope_config *config;
        const rope_status status = rope_config_parse((const char *)data, size, &options, &config);
        require((status == ROPE_OK) == (config != NULL));
        if (config != NULL)
            use(config);
        rope_config_destroy(config);
    }
    return 0;
}
