// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sends a message to the user of a running job. It changes nothing at the manager and cannot be
/// undone; the lever that wants it delivers it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "manager/link.h"
#include "steer/action/done.h"
#include "steer/scene.h"

namespace almanac::steer {

class WordClaims;

struct WordChange {
  using Claims = WordClaims;
  manager::JobNumber job{};
  std::string user{};
  std::string text{};

  static constexpr std::size_t kAtOnce = 1;
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const WordChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<WordChange> read(const nlohmann::json& line);
};

/// A message has no lasting effect.
class WordClaims {
 public:
  void take(const WordChange&, const Done&) {}
  void forget_gone(const Mirror&) {}
  std::vector<WordChange> invert(const Mirror&) const { return {}; }
  std::vector<std::pair<Time, WordChange>> standing(Time) const { return {}; }
};

}  // namespace almanac::steer
