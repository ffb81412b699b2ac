// SPDX-License-Identifier: Apache-2.0
#include "steer/action/word_change.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/action/job_line.h"
#include "steer/guards.h"
#include "steer/scope.h"

namespace almanac::steer {

std::string WordChange::describe() const { return fmt::format("job {}: notify {}", job, user); }

std::optional<std::string> WordChange::forbidden(const Scene& scene) const {
  return forbidden_of(job, false, scene);
}

bool WordChange::is_in_scope(const Scene& scene) const {
  const manager::Job* const found = scene.mirror.find(job);
  return found == nullptr || steer::is_in_scope(*found, scene.settings);
}

std::vector<Result<void>> WordChange::execute(std::span<const WordChange* const> changes,
                                              manager::Link& /*link*/) {
  return std::vector<Result<void>>(changes.size());
}

void WordChange::record(nlohmann::json& into) const {
  into["job"] = static_cast<std::uint32_t>(job);
  into["user"] = user;
  into["word"] = text;
}

std::optional<WordChange> WordChange::read(const nlohmann::json& line) {
  if (!line.contains("word")) return std::nullopt;
  return WordChange{manager::JobNumber{whole<std::uint32_t>(line.at("job"))},
                    line.at("user").get<std::string>(), line.at("word").get<std::string>()};
}

}  // namespace almanac::steer
