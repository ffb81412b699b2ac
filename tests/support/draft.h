// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random small cases for RapidCheck, which shrink, and print as scenarios when they fail.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <rapidcheck.h>

#include "support/play.h"

namespace almanac {

struct DraftJob {
  std::int64_t wait = 0;  ///< Seconds since the job before it was submitted; often 0.
  int vc = 0;
  int gpus = 1;
  bool on_cpus = false;    ///< A CPU job, of as many tasks as it would have GPUs.
  int cores = 0;           ///< Quarters of a core that a GPU or a task asks; 0 = it does not say.
  int memory = 0;          ///< Quarters of a GB likewise.
  int quarters = 4;        ///< Of the GPU, if it is one that it asks.
  std::int64_t run = 1;    ///< Seconds.
  std::int64_t spare = 0;  ///< Its time limit, seconds beyond its run time; negative: too short.
};

struct DraftVc {
  int nodes = 1;
  int gpus = 1;    ///< Of each node.
  int cores = 0;   ///< Of each node; 0 = not said.
  int memory = 0;  ///< GB of each node; 0 = not said.
};

/// What a case is made from. Values that make no sense in it (a VC that is not there, more GPUs
/// than there are) are folded into the range, so that any shrunk draft is a case too.
struct Draft {
  std::vector<DraftVc> vcs{};
  std::vector<DraftJob> jobs{};
};

/// What a draft may contain.
struct DraftLimits {
  int vcs = 3;
  int nodes = 5;
  int gpus = 8;
  std::int64_t shortest_run = 0;
  bool one_node_jobs = false;  ///< No job spans nodes.
  bool exact = true;           ///< Time limits are the run times.
  bool cores = false;          ///< Nodes have cores and memory, and there are CPU jobs; some jobs
                               ///< ask more than there ever is.
  bool parts = false;          ///< Many jobs ask a part of a GPU.
};

rc::Gen<Draft> drafts(DraftLimits limits = {});

/// The case of a draft. Restarts cost what they cost by default.
Case to_case(const Draft& draft, const DraftLimits& limits = {});

/// As a scenario, ready to be pasted into a file.
std::ostream& operator<<(std::ostream& out, const Draft& draft);

/// "A 0s..10s at 0:3": the runs of each job, one line a job; for comparisons.
std::string runs_text(const Case& input, const std::vector<Run>& runs);

}  // namespace almanac
