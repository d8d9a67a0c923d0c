/* SPDX-License-Identifier: Apache-2.0 */
/* rope_shift: the rotation of cached keys, under its own name.  Computes nothing itself. */
#include "check.h"

rope_status rope_shift(const rope_plan *plan, const rope_job *given)
{
    if (given == NULL)
        return ROPE_ERR_NULL;
    rope_job room;
    const rope_job *read = rope_descriptor(given, &room, sizeof room, ROPE_JOB_SIZE_0_1);
    if (read == NULL) /* refused there, with its message */
        return rope_rotate(plan, given);
    rope_job job = *read;
    if (job.direction != ROPE_FORWARD && job.direction != ROPE_SHIFT)
        return rope_fail((struct rope_message){job.message, job.message_size}, ROPE_ERR_VALUE,
                         "job.direction: %d: must be ROPE_SHIFT, or 0, with rope_shift",
                         (int)job.direction);
    job.struct_size = sizeof job;
    job.direction = ROPE_SHIFT;
    return rope_rotate(plan, &job);
}
