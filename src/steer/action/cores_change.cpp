// SPDX-License-Identifier: Apache-2.0
#include "steer/action/cores_change.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/guards.h"
#include "steer/scope.h"

namespace almanac::steer {

std::string CoresChange::describe() const {
  std::string what;
  for (const auto& [node, count] : cores) {
    what += fmt::format("{}{:g} cores on {}", what.empty() ? "at most " : ", ", count, node);
  }
  return fmt::format("job {}: {}", static_cast<std::uint32_t>(job),
                     what.empty() ? "all cores that Slurm gave" : what);
}

std::optional<std::string> CoresChange::forbidden(const Scene& scene) const {
  // What is given back may belong to any job.
  if (cores.empty()) return std::nullopt;
  if (auto why = forbidden_of(job, false, scene)) return why;
  constexpr double kLeastCores = 1;
  for (const auto& [node, count] : cores) {
    double slurms = 0;
    for (const slurm::Held& held : scene.mirror.find(job)->holds) {
      slurms += held.node == node ? held.cpus : 0;
    }
    if (count < kLeastCores) return "a job keeps a core on each node";
    if (count >= slurms) return fmt::format("Slurm gave it {:g} cores on {}", slurms, node);
  }
  return std::nullopt;
}

bool CoresChange::is_in_scope(const Scene& scene) const {
  const slurm::Job* const found = scene.mirror.find(job);
  return cores.empty() || found == nullptr || steer::is_in_scope(*found, scene.settings);
}

std::vector<Result<void>> CoresChange::execute(std::span<const CoresChange* const> changes,
                                               slurm::Link& /*link*/) {
  return std::vector<Result<void>>(changes.size());
}

void CoresChange::record(nlohmann::json& into) const {
  into["job"] = static_cast<std::uint32_t>(job);
  into["cores"] = cores;
}

std::optional<CoresChange> CoresChange::read(const nlohmann::json& line) {
  if (!line.contains("cores")) return std::nullopt;
  return CoresChange{slurm::JobNumber{line.at("job").get<std::uint32_t>()},
                     line.at("cores").get<Cores>()};
}

void CoresClaims::take(const CoresChange& change, const Done& /*done*/) {
  jobs_.erase(change.job);
  if (!change.cores.empty()) jobs_.emplace(change.job, change.cores);
}

void CoresClaims::forget_gone(const Mirror& mirror) {
  std::erase_if(jobs_, [&](const auto& each) {
    const slurm::Job* const job = mirror.find(each.first);
    return job == nullptr || !holds_nodes(*job);
  });
}

std::vector<CoresChange> CoresClaims::invert(const Mirror& /*mirror*/) const {
  std::vector<CoresChange> made;
  for (const auto& [job, cores] : jobs_) made.push_back({job, {}});
  return made;
}

std::vector<std::pair<Time, CoresChange>> CoresClaims::standing(Time at) const {
  std::vector<std::pair<Time, CoresChange>> made;
  for (const auto& [job, cores] : jobs_) made.push_back({at, {job, cores}});
  return made;
}

}  // namespace almanac::steer
