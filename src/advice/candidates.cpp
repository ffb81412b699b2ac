// SPDX-License-Identifier: Apache-2.0
#include "advice/candidates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "experiment/experiment.h"
#include "policy/registry.h"
#include "service/policies.h"

namespace almanac::advice {
namespace {

using policy::Trait;

/// What of it Slurm does not do; "" = nothing.
std::string beyond_slurm(const policy::Composition& composition) {
  static constexpr std::pair<Trait, const char*> kBeyond[] = {
      {Trait::leases, "leases, which stop and restart jobs each time"},
      {Trait::chooses_gpus, "jobs with more or fewer GPUs than requested"},
      {Trait::resizes_jobs, "jobs with more or fewer GPUs than requested"},
      {Trait::chooses_cores, "other cores and memory than requested"},
      {Trait::gives_cores, "throttling of jobs when memory bandwidth runs out"},
      {Trait::shares_gpus, "profiles of jobs that share GPUs"},
      {Trait::parts_cluster, "parts of the cluster reserved for kinds of jobs"},
      {Trait::splits_nodes, "parts of the nodes with a queue each"},
      // A job that Slurm requeues begins again from nothing, and a simulation would let it go on.
      {Trait::stops_jobs, "jobs that resume where they were stopped"}};
  const policy::TraitSet does = policy::registry().traits(composition);
  for (const auto& [trait, what] : kBeyond) {
    if (does.has(trait)) return what;
  }
  return {};
}

/// Named as what runs: with predicted run times where the policy would use true ones.
Result<policy::Composition> named_as_it_runs(const std::string& name) {
  return service::compose(service::stand_in(name).value_or(name));
}

policy::Composition composed(const std::string& name) {
  auto made = named_as_it_runs(name);
  ALMANAC_CHECK(made, "{}", to_string(made.error()));
  return std::move(*made);
}

}  // namespace

policy::Composition stock() { return composed("easy+limit"); }

std::vector<policy::Composition> candidates() {
  std::vector<policy::Composition> made;
  for (const policy::Composition& known : policy::registry().policies()) {
    if (!service::compose(known.name) || !beyond_slurm(known).empty()) continue;
    made.push_back(composed(known.name));
    if (known.pass == "strict" && known.order != "fifo") {
      made.push_back(composed(known.name + "+easy:1"));
    }
  }
  return made;
}

Result<std::vector<policy::Composition>> candidates(const std::string& names) {
  if (names == "all") return candidates();
  std::vector<policy::Composition> made;
  for (const std::string& name : experiment::parse_policies(names)) {
    auto one = named_as_it_runs(name);
    if (!one) return tl::unexpected(one.error());
    if (const std::string why = beyond_slurm(*one); !why.empty()) {
      return fail(Code::unsupported,
                  fmt::format("policy {} requires {}, which Slurm does not offer", name, why), {},
                  "use almanac simulate");
    }
    made.push_back(std::move(*one));
  }
  if (made.empty()) return fail(Code::usage, "no policy is named", {}, "almanac policy list");
  return made;
}

}  // namespace almanac::advice
