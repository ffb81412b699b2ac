// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fields of a submission. Private to this room.
#pragma once

#include "serve/fields.h"
#include "store/job.h"

namespace almanac::serve {

/// What all users are told of a job.
template <typename Fields, typename Submission>
void list_public(Fields& fields, Submission& of) {
  fields.field("name", of.name);
  fields.sparse("vc", of.vc);
  fields.sparse("qos", of.qos);
  fields.sparse("model", of.model);
  fields.sparse("group", of.group);
  fields.sparse("parameters", of.parameters);
  fields.sparse("smaller_is_better", of.smaller_is_better);
  fields.field("gpus", of.gpus);
  fields.sparse("max_gpus", of.max_gpus);
  fields.sparse("min_gpus", of.min_gpus);
  fields.field("gpu_share", of.gpu_share);
  fields.sparse("gpu_type", of.gpu_type);
  fields.sparse("gpu_profile", of.gpu_profile);
  fields.sparse("gpu_memory_gb", of.gpu_memory_gb);
  fields.sparse("cpus", of.cpus);
  fields.sparse("memory_gb", of.memory_gb);
  fields.sparse("io_mbs", of.io_mbs);
  fields.sparse("time_limit_s", of.time_limit);
  fields.sparse("deadline_s", of.deadline);
  fields.sparse("worthless_at_s", of.worthless_at);
  fields.sparse("value", of.value);
  fields.sparse("batch", of.batch);
  fields.sparse("steps", of.steps);
  fields.field("argv", of.argv);
  fields.field("directory", of.directory);
  fields.sparse("out", of.out);
  fields.sparse("err", of.err);
  fields.field("grace_s", of.grace);
  fields.sparse("warn_signal", of.warn_signal);
  fields.sparse("warn_before_s", of.warn_before);
  fields.sparse("warn_shell", of.warn_shell);
  fields.sparse("pty", of.pty);
  fields.sparse("endless", of.endless);
  fields.sparse("not_before_s", of.not_before);
  fields.sparse("after", of.after);
  fields.sparse("after_ok", of.after_ok);
  fields.sparse("after_not_ok", of.after_not_ok);
  fields.sparse("after_start", of.after_start);
  fields.sparse("after_one", of.after_one);
  fields.sparse("singleton", of.singleton);
  fields.sparse("requeue", of.requeue);
  fields.sparse("kept", of.kept);
  fields.sparse("retries", of.retries);
}

/// What only the service that runs it needs to know.
template <typename Fields, typename Submission>
void list_private(Fields& fields, Submission& of) {
  fields.sparse("script", of.script);
  fields.sparse("environment", of.environment);
  fields.sparse("hold", of.hold);
  fields.sparse("key", of.key);
  fields.sparse("umask", of.umask);
  fields.sparse("resource_limits", of.resource_limits);
  fields.sparse("indices", of.indices);
  fields.sparse("at_once", of.at_once);
}

}  // namespace almanac::serve
