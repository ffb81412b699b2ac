// SPDX-License-Identifier: Apache-2.0
#include "live/request.h"

#include "base/ids.h"

namespace almanac::live {

trace::Job to_record(const store::Job& job, trace::Trace& trace) {
  const store::Submission& asked = job.asked;
  Names& names = trace.names;
  trace::Job made{
      .id = trace::JobKey{static_cast<std::uint64_t>(job.number)}, .request = {}, .outcome = {}};
  trace::Request& request = made.request;
  request.submit = job.submit;
  request.time_limit = asked.time_limit;
  request.deadline = asked.deadline;
  request.worthless_at = asked.worthless_at;
  request.name = names.intern(asked.name);
  request.user = names.intern(asked.user);
  request.vc = names.intern(asked.vc);
  request.gpu_type = names.intern(asked.gpu_type);
  request.model = names.intern(asked.model);
  request.qos = names.intern(asked.qos);
  request.gpus = asked.gpus;
  request.max_gpus = asked.max_gpus;
  request.batch = asked.batch;
  request.steps = asked.steps;
  request.gpu_share = static_cast<float>(asked.gpu_share);
  if (asked.value) request.value = static_cast<float>(*asked.value);
  if (asked.cpus) request.cpus = static_cast<float>(*asked.cpus);
  if (asked.memory_gb) request.memory_gb = static_cast<float>(*asked.memory_gb);
  if (job.end == kNoTime) return made;
  made.outcome.run = job.attained;
  made.outcome.start = job.start;
  made.outcome.end = job.end;
  made.outcome.attempts = job.attempts;
  made.outcome.state = job.state;
  return made;
}

}  // namespace almanac::live
