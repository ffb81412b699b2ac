// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast two jobs are on the same GPUs, beside how fast each is alone: what was measured of
/// pairs that are alike, of the same models and batches.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// The predicted speed of a job that holds `held` beside others, relative to that without them.
/// View::speeds must be there.
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
  /// Of jobs like these, whichever was the host; nothing = none was noted.
  std::optional<Speeds> measured(const View& view, JobId host, JobId guest) const;

 private:
  /// Jobs of one model and batch are alike; one without a model is like itself alone.
  using Kind = std::tuple<NameId, std::int32_t, JobId>;
  static Kind kind(const View& view, JobId job);

  std::map<std::pair<Kind, Kind>, Speeds> measured_;  // host, guest
};

}  // namespace almanac::policy
