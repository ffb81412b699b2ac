// SPDX-License-Identifier: Apache-2.0
#include "machine/holding.h"

#include <cstdint>
#include <set>
#include <utility>

#include "machine/instances.h"

namespace almanac::machine {

using cluster::Grant;
using store::JobNumber;

std::vector<const Entry*> holders_of(const State& state) {
  std::set<JobNumber> numbers = state.processes;
  numbers.insert(state.deeds.start.begin(), state.deeds.start.end());
  std::vector<const Entry*> made;
  for (const JobNumber number : numbers) {
    const Entry* const entry = state.book.find(number);
    const bool holds =
        entry != nullptr && (entry->job.state == trace::JobState::running || entry->makes_room);
    if (holds) made.push_back(entry);
  }
  return made;
}

std::vector<Grant> not_released(const State& state, const Entry& entry) {
  std::vector<Grant> made;
  for (const JobNumber number : state.processes) {
    const Entry& other = *state.book.find(number);
    if (&other == &entry || (!other.makes_room && !other.moves)) continue;
    for (const Grant& theirs : other.of_runs->leaves) {
      for (const Grant& ours : entry.job.held_gpus) {
        const bool whole =
            ours.gpu_milli == cluster::kWholeGpu || theirs.gpu_milli == cluster::kWholeGpu;
        const bool shares = ours.node == theirs.node && (ours.gpus & theirs.gpus) != 0;
        if (shares && (whole || overlap(ours, theirs, state.config.machine))) {
          made.push_back(theirs);
        }
      }
    }
  }
  return made;
}

std::vector<Grant> without(std::vector<Grant> held, const std::vector<Grant>& others) {
  for (Grant& grant : held) {
    for (const Grant& other : others) {
      if (other.node == grant.node) grant.gpus &= ~other.gpus;
    }
  }
  std::erase_if(held, [](const Grant& grant) { return grant.gpus == 0; });
  return held;
}

std::vector<Grant> whole_machine(const Machine& machine) {
  std::vector<Grant> made;
  for (std::uint32_t at = 0; at < machine.cluster.nodes.size(); ++at) {
    made.push_back({.node = NodeId{at}, .gpus = ~cluster::GpuMask{0}});
  }
  return made;
}

}  // namespace almanac::machine
