/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has nothing but the installed package.  Valid C and C++; -DWITH_CONFIG also takes its plan
 * from librope-config. */
#include <rope/rope.h>
#include <stdio.h>
#ifdef WITH_CONFIG
#include <rope/rope_config.h>
#include <string.h>
#endif

static rope_status make_plan(rope_plan **plan)
{
#ifdef WITH_CONFIG
    const char *const text = "{\"model_type\": \"llama\", \"hidden_size\": 8,"
                             " \"num_attention_heads\": 2, \"num_hidden_layers\": 1,"
                             " \"rope_theta\": 10000.0}";
    rope_config *config;
    rope_status status = rope_config_parse(text, strlen(text), NULL, &config);
    if (status == ROPE_OK) {
        status = rope_config_create_plans(config, plan, 1, NULL, 0);
        rope_config_destroy(config);
    }
    return status;
#else
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = 4;
    return rope_plan_create(&spec, plan);
#endif
}

int main(void)
{
    /* At position 1 pair 0 turns by one radian: (1, 0) becomes (cos 1, sin 1), here rounded to f32. */
    float head[4] = {1.0f, 0.0f, 0.0f, 0.0f};
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_tensor q = ROPE_TENSOR_INIT;
    rope_job job = ROPE_JOB_INIT;
    rope_plan *plan = NULL;
    positions.start = 1;
    q.dtype = ROPE_F32;
    q.heads = 1;
    q.src = head;
    q.dst = head;
    job.tokens = 1;
    job.q = &q;
    job.positions = &positions;
    rope_status status = make_plan(&plan);
    if (status == ROPE_OK)
        status = rope_rotate(plan, &job);
    rope_plan_destroy(plan);
    printf("%s %s: %s, %.9g %.9g\n", rope_version_string(), rope_isa_name(rope_active_isa()),
           rope_status_string(status), (double)head[0], (double)head[2]);
    return !(status == ROPE_OK && head[0] == 0.540302277f && head[2] == 0.841470957f &&
             rope_version() / 10000 == ROPE_VERSION_MAJOR);
}
