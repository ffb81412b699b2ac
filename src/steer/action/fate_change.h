// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requeues, suspends or resumes a running job. Only jobs that may be requeued are requeued or
/// suspended, and none is cancelled. A requeue cannot be undone; a suspended job resumes.
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
#include "steer/action/job_claims.h"
#include "steer/scene.h"

namespace almanac::steer {

class FateClaims;

struct FateChange {
  using Claims = FateClaims;
  manager::JobNumber job{};
  manager::Fate fate{};
  Meant meant{};

  static constexpr std::size_t kAtOnce = 1;
  /// Records the job.
  void begin(const Scene& scene);
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const FateChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<FateChange> read(const nlohmann::json& line);
};

/// The jobs that we have suspended, and the time of the last change of each.
class FateClaims {
 public:
  void take(const FateChange& change, const Done& done);
  void refused(const FateChange& change, Time at);
  void forget_gone(const Mirror& mirror);
  std::vector<FateChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, FateChange>> standing(Time at) const;

  /// Returns kNoTime if we have not suspended it.
  Time suspended_at(const manager::Job& job) const;
  /// Returns when its fate was last changed, or the manager refused that; kNoTime for never.
  Time tried_at(const manager::Job& job) const;

 private:
  struct Standing {
    Time tried = kNoTime;
    Time suspended = kNoTime;
  };
  JobClaims<Standing> jobs_;
};

}  // namespace almanac::steer
