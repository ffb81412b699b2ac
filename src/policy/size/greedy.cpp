// SPDX-License-Identifier: Apache-2.0

/// \file
/// All cores and memory that make a GPU job faster; the job waits for them.
///
/// Source   Mohan et al., OSDI'22 (Synergy), GREEDY. If cores are short it is worse than equal
///          shares, because GPUs without cores are idle.
#include "policy/registry.h"
#include "policy/size/chosen.h"

namespace almanac::policy::size {

void register_greedy(Registry& registry) {
  registry.sizes.add(
      {"greedy",
       "all cores and memory that speed the job up; it waits for them",
       "Mohan et al. OSDI'22",
       {.has = {Trait::reads_speeds, Trait::chooses_cores}}},
      [](const Parameters&) { return std::make_unique<ChosenSize>(ChosenSize::StartsWith::best); });
}

}  // namespace almanac::policy::size
