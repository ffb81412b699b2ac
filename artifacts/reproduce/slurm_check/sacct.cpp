// SPDX-License-Identifier: Apache-2.0

/// \file
/// sacct.txt: the priority that accounting has of each job.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reproduce/slurm_check.h"
#include "reproduce/slurm_priorities.h"

namespace almanac::reproduce {

void register_sacct(SlurmChecks& checks);

namespace sacct_check {
namespace {

/// Of a job in several partitions accounting has the priority in the one tried last, and 0 of a job
/// that was held.
bool tells_priority(const SlurmRun& run) {
  return run.start && run.partitions.size() == 1 && run.priority != 0;
}

/// Slurm 22.05 writes the priority when it first has the record: at submission, not at the start.
/// The tasks of an array become records when they start, but for the last one.
Time recorded_at(const SlurmRun& run) {
  return run.array() == run.id || run.array() == std::to_string(run.number) ? run.submit
                                                                            : *run.start;
}

void check(Bench& bench, const SlurmScenario& scenario) {
  if (scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  std::vector<const SlurmRun*> runs;
  for (const SlurmRun& run : scenario.runs) {
    if (tells_priority(run)) runs.push_back(&run);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto* a, const auto* b) { return recorded_at(*a) < recorded_at(*b); });
  PriorityReplay replay(bench, scenario);
  RowTally tally;
  for (const SlurmRun* run : runs) {
    // The record is sent within a second or so: a decay pass may come first.
    const Time at = recorded_at(*run);
    replay.advance(at + 999ms);
    const slurmctld::Score* const score = replay.score(run->number);
    if (score == nullptr) continue;
    const std::uint32_t first = score->priority;
    replay.advance(at + 1500ms);
    const bool is_right = first == run->priority;
    if (is_right != (replay.score(run->number)->priority == run->priority)) {
      tally.leave_undecided();
    } else {
      tally.count(is_right, fmt::format("job {}: {}, not {}", run->number, first, run->priority));
    }
  }
  tally.add_to(bench, scenario, "priorities first recorded, sacct",
               "a decay pass came right after the submission");
}

}  // namespace
}  // namespace sacct_check

void register_sacct(SlurmChecks& checks) { checks.add(sacct_check::check); }

}  // namespace almanac::reproduce
