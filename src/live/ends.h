// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job's record after it has ended, or when it is to begin again; and what is said of that.
#pragma once

#include <string>

#include "base/time.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::live {

bool has_ended(const store::Job& job);
store::Job ended(store::Job job, trace::JobState state, const std::string& reason, Time at);
/// Waits from `now` on as if it had never run; how earlier runs of it end is not asked any more.
store::Job begun_again(store::Job job, Time now);

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail = {});
store::Note note_of_end(const store::Job& job, Time now);

}  // namespace almanac::live
