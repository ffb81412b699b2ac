// SPDX-License-Identifier: Apache-2.0
#include "steer/policies.h"

#include <utility>

#include <fmt/format.h>

#include "policy/registry.h"
#include "service/policies.h"

namespace almanac::steer {
namespace {

using policy::Trait;

/// What keeps a policy from deciding for a managed cluster; "" = nothing.
std::string obstacle(const policy::Composition& composition) {
  const policy::TraitSet does = policy::registry().traits(composition);
  if (does.has(Trait::remembers)) {
    return "reserves GPUs for later leases, which needs memory from one decision to the next";
  }
  if (does.has(Trait::splits_nodes)) {
    return "keeps each job in one part of the nodes, which needs memory from one decision to the "
           "next";
  }
  if (does.has(Trait::chooses_gpus) || does.has(Trait::resizes_jobs)) {
    return "chooses the number of GPUs of a job, which Slurm fixes at submission";
  }
  if (does.has(Trait::reads_signals)) {
    return "decides by prices or carbon, and a live service gets no such signals";
  }
  if (does.has(Trait::ends_trials)) {
    return "ends trials by the metrics that they report, which Slurm does not collect";
  }
  if (does.has(Trait::chooses_cores) && !does.has(Trait::gives_cores)) {
    return "chooses the number of cores a job starts with, which Slurm fixes at submission";
  }
  return "";
}

policy::Composition undivided(policy::Composition composition) {
  composition.division = policy::Composition().division;
  return composition;
}

}  // namespace

Result<Chosen> compose(const std::string& text) {
  auto made = policy::registry().compose(text);
  if (!made) return tl::unexpected(made.error());
  service::take_no_ranges(*made);
  if (const std::string why = obstacle(*made); !why.empty()) {
    const bool only_splits =
        made->division != policy::Composition().division && obstacle(undivided(*made)).empty();
    return fail(Code::unsupported, fmt::format("policy {} {}", text, why), {},
                only_splits
                    ? fmt::format("without +{} the policy can decide for Slurm, over all nodes",
                                  made->division.name)
                    : "almanac, qssf, sjf, las, gittins, easy and fifo can decide for Slurm");
  }
  Chosen chosen{.composition = std::move(*made)};
  chosen.capacity = std::exchange(chosen.composition.capacity, "all");
  chosen.slimming.composition = {.name = chosen.composition.name,
                                 .estimate = "",
                                 .size = std::exchange(chosen.composition.size, "asked"),
                                 .throttle = std::exchange(chosen.composition.throttle, "none")};
  service::take_no_truth(chosen.composition);
  const policy::TraitSet does = policy::registry().traits(chosen.composition);
  chosen.only_moves = does.has(Trait::moves_jobs) && !does.has(Trait::stops_jobs);
  return chosen;
}

}  // namespace almanac::steer
