// SPDX-License-Identifier: Apache-2.0
#include "steer/action/fate_change.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/action/job_line.h"
#include "steer/guards.h"
#include "steer/scope.h"

namespace almanac::steer {

using manager::Fate;

void FateChange::begin(const Scene& scene) { meant = meant_in(scene.mirror, job); }

std::string FateChange::describe() const {
  return fmt::format("job {}: {}", job, manager::to_string(fate));
}

std::optional<std::string> FateChange::forbidden(const Scene& scene) const {
  if (auto why = forbidden_of(job, false, scene)) return why;
  if (fate == Fate::cancel) return "Almanac never cancels jobs";
  const bool stops = fate == Fate::requeue || fate == Fate::suspend;
  if (stops && !scene.mirror.find(job)->requeueable) return "it cannot be requeued";
  return std::nullopt;
}

bool FateChange::is_in_scope(const Scene& scene) const {
  const manager::Job* const found = scene.mirror.find(job);
  return found == nullptr || steer::is_in_scope(*found, scene.settings);
}

std::vector<Result<void>> FateChange::execute(std::span<const FateChange* const> changes,
                                              manager::Link& link) {
  std::vector<Result<void>> made;
  for (const FateChange* const each : changes) made.push_back(link.end(each->job, each->fate));
  return made;
}

void FateChange::record(nlohmann::json& into) const {
  record_job(job, meant, into);
  into["fate"] = manager::to_string(fate);
}

std::optional<FateChange> FateChange::read(const nlohmann::json& line) {
  if (!line.contains("fate")) return std::nullopt;
  // Fails as all that is read of JSON does where there is no such word.
  nlohmann::json places;
  for (const std::string_view each : manager::kFateWords) places[std::string(each)] = places.size();
  const auto [job, meant] = read_job(line);
  return FateChange{job, Fate{places.at(line.at("fate").get<std::string>()).get<std::uint8_t>()},
                    meant};
}

void FateClaims::take(const FateChange& change, const Done& done) {
  Standing& claim = jobs_.of(change.job, change.meant);
  if (change.fate == Fate::suspend) {
    claim.suspended = done.at;
  } else if (done.is_known) {
    claim.suspended = kNoTime;
  }
  if (done.is_known) claim.tried = done.at;
}

void FateClaims::refused(const FateChange& change, Time at) {
  jobs_.of(change.job, change.meant).tried = at;
}

void FateClaims::forget_gone(const Mirror& mirror) {
  jobs_.forget_gone(mirror, [](const manager::Job&) { return true; });
  for (auto& [number, claim] : jobs_) {
    const bool is_suspended = mirror.find(number)->state == manager::State::suspended;
    if (!is_suspended) claim.value.suspended = kNoTime;
  }
}

std::vector<FateChange> FateClaims::invert(const Mirror& mirror) const {
  std::vector<FateChange> made;
  for (const auto& [number, claim] : jobs_) {
    const manager::Job* const job = mirror.find(number);
    const bool is_ours = job != nullptr && suspended_at(*job) != kNoTime;
    if (is_ours && job->state == manager::State::suspended) {
      made.push_back({number, Fate::resume, claim.meant});
    }
  }
  return made;
}

std::vector<std::pair<Time, FateChange>> FateClaims::standing(Time /*at*/) const {
  std::vector<std::pair<Time, FateChange>> made;
  for (const auto& [job, claim] : jobs_) {
    const bool is_suspended = claim.value.suspended != kNoTime;
    made.push_back({is_suspended ? claim.value.suspended : claim.value.tried,
                    {job, is_suspended ? Fate::suspend : Fate::resume, claim.meant}});
  }
  return made;
}

Time FateClaims::suspended_at(const manager::Job& job) const {
  const Standing* const claim = jobs_.find(job);
  return claim == nullptr ? kNoTime : claim->suspended;
}

Time FateClaims::tried_at(const manager::Job& job) const {
  const Standing* const claim = jobs_.find(job);
  return claim == nullptr ? kNoTime : claim->tried;
}

}  // namespace almanac::steer
