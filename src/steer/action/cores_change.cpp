// SPDX-License-Identifier: Apache-2.0
#include "steer/action/cores_change.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/action/job_line.h"
#include "steer/guards.h"
#include "steer/scope.h"

namespace almanac::steer {

void CoresChange::begin(const Scene& scene) { meant = meant_in(scene.mirror, job); }

std::string CoresChange::describe() const {
  std::string what;
  for (const auto& [node, count] : cores) {
    what += fmt::format("{}{:g} cores on {}", what.empty() ? "at most " : ", ", count, node);
  }
  return fmt::format("job {}: {}", job, what.empty() ? "all cores that Slurm allocated" : what);
}

std::optional<std::string> CoresChange::forbidden(const Scene& scene) const {
  // What is given back may belong to any job.
  if (cores.empty()) return std::nullopt;
  if (auto why = forbidden_of(job, false, scene)) return why;
  constexpr double kLeastCores = 1;
  for (const auto& [node, count] : cores) {
    double allocated = 0;
    for (const manager::Held& held : scene.mirror.find(job)->holds) {
      allocated += held.node == node ? held.cpus : 0;
    }
    if (count < kLeastCores) return "a job keeps at least one core on each node";
    if (count >= allocated) return fmt::format("Slurm allocated {:g} cores on {}", allocated, node);
  }
  return std::nullopt;
}

bool CoresChange::is_in_scope(const Scene& scene) const {
  const manager::Job* const found = scene.mirror.find(job);
  return cores.empty() || found == nullptr || steer::is_in_scope(*found, scene.settings);
}

std::vector<Result<void>> CoresChange::execute(std::span<const CoresChange* const> changes,
                                               manager::Link& /*link*/) {
  return std::vector<Result<void>>(changes.size());
}

void CoresChange::record(nlohmann::json& into) const {
  record_job(job, meant, into);
  into["cores"] = cores;
}

std::optional<CoresChange> CoresChange::read(const nlohmann::json& line) {
  if (!line.contains("cores")) return std::nullopt;
  const auto [job, meant] = read_job(line);
  return CoresChange{job, line.at("cores").get<Cores>(), meant};
}

void CoresClaims::take(const CoresChange& change, const Done& /*done*/) {
  if (change.cores.empty()) return jobs_.erase(change.job);
  jobs_.of(change.job, change.meant) = change.cores;
}

void CoresClaims::forget_gone(const Mirror& mirror) { jobs_.forget_gone(mirror, holds_nodes); }

std::vector<CoresChange> CoresClaims::invert(const Mirror& /*mirror*/) const {
  std::vector<CoresChange> made;
  for (const auto& [job, claim] : jobs_) made.push_back({job, {}, claim.meant});
  return made;
}

std::vector<std::pair<Time, CoresChange>> CoresClaims::standing(Time at) const {
  std::vector<std::pair<Time, CoresChange>> made;
  for (const auto& [job, claim] : jobs_) {
    made.push_back({at, {job, claim.value, claim.meant}});
  }
  return made;
}

}  // namespace almanac::steer
