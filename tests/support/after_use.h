// SPDX-License-Identifier: Apache-2.0

/// \file
/// A log in which owners come with a past.
#pragma once

#include <string>

#include "trace/trace.h"

namespace almanac {

/// A cluster of 8 GPUs. `user` had all of them for four weeks. After a pause of eight days, ann and
/// eve compete for a week: each morning a job of bob's holds all GPUs for an hour, behind which a
/// job of ann's of ten hours and twenty of eve's of a minute wait for all GPUs.
inline trace::Trace log_after_use_of(const std::string& user, const std::string& vc = {}) {
  trace::Trace log;
  const auto add = [&](Time submit, Duration run, const std::string& owner) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = submit;
    job.request.gpus = 8;
    job.request.user = log.names.intern(owner);
    job.request.name = log.names.intern("train");
    if (!vc.empty()) job.request.vc = log.names.intern(vc);
    job.outcome.start = submit;
    job.outcome.end = submit + run;
    job.outcome.run = run;
    job.outcome.state = trace::JobState::completed;
  };
  for (int day = 0; day < 28; ++day) add(Time{24h * day}, 23h, user);
  for (int day = 36; day < 43; ++day) {
    const Time morning{24h * day};
    add(morning, 1h, "bob");
    add(morning + 1min, 10h, "ann");
    for (int each = 0; each < 20; ++each) add(morning + 2min + each * 1s, 1min, "eve");
  }
  return log;
}

}  // namespace almanac
