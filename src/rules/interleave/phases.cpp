// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/phases.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::interleave {
namespace {

struct Use {
  double rollout = 0;
  double training = 0;
  double longest = 0;  // iteration of a job
};

/// What one iteration of each job takes of both groups of GPUs.
Use use_of(std::span<const Phases> jobs) {
  ALMANAC_CHECK(!jobs.empty(), "no jobs");
  Use use;
  for (const Phases& job : jobs) {
    const double switching = jobs.size() > 1 ? job.switching : 0;
    use.rollout += job.rollout + switching;
    use.training += job.training + switching;
    use.longest = std::max(use.longest, job.sum() + 2 * switching);
  }
  return use;
}

double period_of(const Use& use) { return std::max({use.rollout, use.training, use.longest}); }

}  // namespace

double round_robin_period(std::span<const Phases> jobs) { return period_of(use_of(jobs)); }

double part_in_idle_phases(const Phases& guest, std::span<const Phases> hosts) {
  const Use use = use_of(hosts);
  const double period = period_of(use);
  double iterations = period / guest.sum();  // of the guest in a period
  if (guest.rollout > 0) iterations = std::min(iterations, (period - use.rollout) / guest.rollout);
  if (guest.training > 0) {
    iterations = std::min(iterations, (period - use.training) / guest.training);
  }
  return std::max(0.0, iterations) * guest.sum() / period;
}

}  // namespace almanac::interleave
