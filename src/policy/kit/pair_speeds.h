// SPDX-License-Identifier: Apache-2.0

/// \file
/// Speeds of two jobs on the same GPUs, relative to alone, as measured for equal pairs: pairs with
/// the same models and batches.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns the predicted speed of a job that holds `held`, next to others, relative to alone.
/// Requires View::speeds.
double relative_speed(const View& view, JobId job, std::span<const cluster::Grant> held,
                      std::span<const JobId> beside);

class PairSpeeds {
 public:
  struct Speeds {
    double host = 1;
    double guest = 1;

    double least() const { return std::min(host, guest); }
    double sum() const { return host + guest; }
  };

  void note(const View& view, JobId host, JobId guest, const Speeds& speeds);
  /// Returns the speeds of an equal pair, whichever job was the host; nothing if none was recorded.
  std::optional<Speeds> measured(const View& view, JobId host, JobId guest) const;

 private:
  /// Jobs of one model and batch are equal; a job without a model only equals itself.
  using Kind = std::tuple<NameId, std::int32_t, JobId>;
  static Kind kind(const View& view, JobId job);

  std::map<std::pair<Kind, Kind>, Speeds> measured_;  // host, guest
};

}  // namespace almanac::policy
