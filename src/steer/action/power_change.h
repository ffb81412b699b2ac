// SPDX-License-Identifier: Apache-2.0

/// \file
/// Powers nodes on or off. A node is not powered off if it has a job, or a reservation that is
/// active or due before the node could be back. Undo powers nodes on.
#pragma once

#include <cstddef>
#include <map>
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

class PowerClaims;

struct PowerChange {
  using Claims = PowerClaims;
  std::vector<std::string> nodes{};
  bool on = true;

  static constexpr std::size_t kAtOnce = 1;
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const PowerChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<PowerChange> read(const nlohmann::json& line);
};

/// The nodes that we have powered off.
class PowerClaims {
 public:
  void take(const PowerChange& change, const Done& done);
  void forget_gone(const Mirror& mirror);
  std::vector<PowerChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, PowerChange>> standing(Time at) const;

  /// Returns those that are not on yet.
  std::vector<std::string> asleep(const Mirror& mirror) const;

 private:
  struct Sleep {
    Time off{};         // when it was requested
    Time on = kNoTime;  // the same, last
  };
  std::map<std::string, Sleep> nodes_;
};

}  // namespace almanac::steer
