// SPDX-License-Identifier: Apache-2.0
#include "steer/action/fate_change.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/guards.h"
#include "steer/scope.h"

namespace almanac::steer {

using slurm::Fate;

std::string FateChange::describe() const {
  return fmt::format("job {}: {}", static_cast<std::uint32_t>(job), slurm::to_string(fate));
}

std::optional<std::string> FateChange::forbidden(const Scene& scene) const {
  if (auto why = forbidden_of(job, false, scene)) return why;
  if (fate == Fate::cancel) return "no lever cancels jobs";
  const bool stops = fate == Fate::requeue || fate == Fate::suspend;
  if (stops && !scene.mirror.find(job)->requeueable) return "it may not be requeued";
  return std::nullopt;
}

bool FateChange::is_in_scope(const Scene& scene) const {
  const slurm::Job* const found = scene.mirror.find(job);
  return found == nullptr || steer::is_in_scope(*found, scene.settings);
}

std::vector<Result<void>> FateChange::execute(std::span<const FateChange* const> changes,
                                              slurm::Link& link) {
  std::vector<Result<void>> made;
  for (const FateChange* const each : changes) made.push_back(link.end(each->job, each->fate));
  return made;
}

void FateChange::record(nlohmann::json& into) const {
  into["job"] = static_cast<std::uint32_t>(job);
  into["fate"] = slurm::to_string(fate);
}

std::optional<FateChange> FateChange::read(const nlohmann::json& line) {
  if (!line.contains("fate")) return std::nullopt;
  // Fails as all that is read of JSON does where there is no such word.
  nlohmann::json places;
  for (const std::string_view each : slurm::kFateWords) places[std::string(each)] = places.size();
  return FateChange{slurm::JobNumber{line.at("job").get<std::uint32_t>()},
                    Fate{places.at(line.at("fate").get<std::string>()).get<std::uint8_t>()}};
}

void FateClaims::take(const FateChange& change, const Done& done) {
  if (change.fate == Fate::suspend) {
    suspended_[change.job] = done.at;
  } else if (done.is_known) {
    suspended_.erase(change.job);
  }
}

void FateClaims::forget_gone(const Mirror& mirror) {
  std::erase_if(suspended_, [&](const auto& each) {
    const slurm::Job* const job = mirror.find(each.first);
    return job == nullptr || job->state != slurm::State::suspended;
  });
}

std::vector<FateChange> FateClaims::invert(const Mirror& mirror) const {
  std::vector<FateChange> made;
  for (const auto& [job, since] : suspended_) {
    const slurm::Job* const found = mirror.find(job);
    if (found != nullptr && found->state == slurm::State::suspended) {
      made.push_back({job, Fate::resume});
    }
  }
  return made;
}

std::vector<std::pair<Time, FateChange>> FateClaims::standing(Time /*at*/) const {
  std::vector<std::pair<Time, FateChange>> made;
  for (const auto& [job, since] : suspended_) made.push_back({since, {job, Fate::suspend}});
  return made;
}

Time FateClaims::suspended_at(slurm::JobNumber job) const {
  const auto found = suspended_.find(job);
  return found == suspended_.end() ? kNoTime : found->second;
}

}  // namespace almanac::steer
