/* SPDX-License-Identifier: Apache-2.0 */
/* What every accepted configuration must be, wherever it came from: whole. */
#ifndef ROPE_FUZZ_USE_CONFIG_H
#define ROPE_FUZZ_USE_CONFIG_H

#include "rope/rope_config.h"

#include <stdlib.h>

/* In every build. */
static void require(int condition)
{
    if (!condition)
        abort();
}

static void use(const rope_config *config)
{
    const size_t count = rope_config_entry_count(config);
    for (size_t i = 0; i < count; i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        require(rope_config_get_entry(config, i, &entry) == ROPE_OK && entry.spec != NULL);
        rope_spec spec = *entry.spec;
        spec.angle = ROPE_ANGLE_F32; /* no tables */
        rope_plan *plan;
        const rope_status status = rope_plan_create(&spec, &plan);
        require(status == ROPE_OK || status == ROPE_ERR_MEMORY);
        rope_plan_destroy(plan);
        require(rope_config_find(config, entry.tower, entry.layer_type) >= 0);
    }
    const size_t layers = rope_config_layer_count(config);
    for (size_t i = 0; i < layers; i++) {
        const int32_t entry = rope_config_layer(config, i);
        require(entry == ROPE_LAYER_NO_ROTATION || entry == ROPE_LAYER_UNKNOWN ||
                (entry >= 0 && (size_t)entry < count));
    }
    size_t warnings = 0;
    while (rope_config_warning(config, warnings) != NULL)
        warnings++;
    require(warnings <= 64);
}

#endif
