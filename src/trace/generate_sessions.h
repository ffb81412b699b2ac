// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fills one cell of the plan (a virtual cluster and a size) with sessions of jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate.h"
#include "trace/generate_asks.h"
#include "trace/generate_plan.h"
#include "trace/generate_rhythm.h"
#include "trace/generate_users.h"
#include "trace/job.h"
#include "trace/workload.h"

namespace almanac::trace {

/// A version of a recipe, shared by all the jobs that run it.
struct MadeRecipe {
  std::uint32_t user = 0;  ///< Position in Users::users.
  std::uint32_t vc = 0;
  std::uint32_t size = 0;  ///< Position in Plan::sizes.
  NameId name = kNoName;
  Asks asks{};
  std::uint32_t limit_s = 0;  ///< Time limit; 0 for none.
};

/// A job before it is written out: what sorting needs, and no more.
struct MadeJob {
  std::int64_t second = 0;  ///< Submission, since the start of the period.
  std::uint32_t recipe = 0;
  std::uint32_t run_s = 0;
  std::uint32_t sequence = 0;  ///< Position in MadeJobs::jobs as they were made.
  JobState state = JobState::completed;
};

struct MadeJobs {
  std::vector<MadeJob> jobs;
  std::vector<MadeRecipe> recipes;
  PossibleRuns possible;  ///< By MadeJob::sequence; empty unless Setting::with_possible_runs.
};

/// Settings shared by all cells.
struct Setting {
  const Workload& workload;
  const Plan& plan;
  const Users& users;
  const Calendar& calendar;
  const AsksLottery& asks;
  std::uint64_t seed;
  bool with_possible_runs = false;
};

/// Appends the jobs of `cell`. Depends on nothing but its arguments, not on what `made` holds.
void make_sessions(const Setting& setting, const PlanCell& cell, Names& names, MadeJobs& made);

}  // namespace almanac::trace
