// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sets the weight of nodes in the manager's choice of nodes (node_weight.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "manager/link.h"
#include "steer/action/done.h"
#include "steer/scene.h"

namespace almanac::steer {

class WeightClaims;

struct WeightChange {
  using Claims = WeightClaims;
  std::vector<std::string> nodes{};
  std::uint32_t weight = 1;

  static constexpr std::size_t kAtOnce = 1;
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const WeightChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<WeightChange> read(const nlohmann::json& line);
};

/// The nodes themselves show what is in effect.
class WeightClaims {
 public:
  void take(const WeightChange& change, const Done& done);
  void forget_gone(const Mirror& mirror);
  std::vector<WeightChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, WeightChange>> standing(Time at) const;

 private:
  std::set<std::string> weighed_back_;  // since there was news
};

}  // namespace almanac::steer
