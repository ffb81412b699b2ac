// SPDX-License-Identifier: Apache-2.0
#include "advice/candidates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "experiment/experiment.h"
#include "policy/recommended.h"
#include "policy/registry.h"
#include "service/policies.h"

namespace almanac::advice {
namespace {

using policy::Trait;

constexpr const char* kSlurm = "slurm";
constexpr const char* kWithoutLimits = "easy+limit";

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
      {Trait::reads_queues, "the queues of Kueue"},
      {Trait::reads_signals, "signals of prices or carbon"},
      // Slurm restarts a requeued job from the beginning. A simulation would resume it.
      {Trait::stops_jobs, "jobs that resume where they were stopped"}};
  const policy::TraitSet does = policy::registry().traits(composition);
  for (const auto& [trait, what] : kBeyond) {
    if (does.has(trait)) return what;
  }
  return {};
}

/// Returns what Slurm would run: with predicted run times where the policy would use true ones,
/// and named so.
Result<policy::Composition> compose(const std::string& name) {
  auto made = service::compose(service::stand_in(name).value_or(name));
  if (made) service::take_no_ranges(*made);
  return made;
}

}  // namespace

policy::Composition slurm_today(const trace::Trace& log, bool has_site) {
  const bool has_limits = std::any_of(log.jobs.begin(), log.jobs.end(), [](const trace::Job& job) {
    return job.request.time_limit != kNoDuration;
  });
  return compose(has_site || has_limits ? kSlurm : kWithoutLimits).value();
}

std::optional<policy::Composition> slurm_later(const policy::Composition& today, Duration by) {
  if (today.name != kSlurm) return std::nullopt;
  return compose(fmt::format("{}:phase_s={}", kSlurm, by.count() / 1000)).value();
}

bool is_slurm(const policy::Composition& composition) {
  return policy::registry().traits(composition).has(Trait::reads_site) ||
         composition.name == kWithoutLimits;
}

bool is_kueue(const policy::Composition& composition) {
  return policy::registry().traits(composition).has(Trait::reads_queues);
}

std::vector<policy::Composition> candidates() {
  std::vector<policy::Composition> made;
  for (const policy::Composition& known : policy::registry().policies()) {
    const auto one = compose(known.name);
    if (!one || is_slurm(*one) || is_kueue(*one) || !beyond_slurm(*one).empty()) continue;
    made.push_back(*one);
    const bool blocks = policy::registry().traits(*one).has(Trait::keeps_line);
    if (blocks && known.order != policy::Composition().order) {
      made.push_back(compose(known.name + "+easy:1").value());
    }
  }
  std::stable_partition(made.begin(), made.end(), [](const policy::Composition& each) {
    return policy::is_recommended(each.name);
  });
  return made;
}

Result<std::vector<policy::Composition>> candidates(const std::string& names) {
  if (names == "all") return candidates();
  std::vector<policy::Composition> made;
  for (const std::string& name : experiment::parse_policies(names)) {
    auto one = compose(name);
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
