// SPDX-License-Identifier: Apache-2.0

/// \file
/// Another fate for a job that runs: only jobs that may be requeued are requeued or suspended, and
/// none is cancelled. A requeue cannot be taken back; what is suspended resumes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slurm/link.h"
#include "steer/action/done.h"
#include "steer/action/job_claims.h"
#include "steer/scene.h"

namespace almanac::steer {

class FateClaims;

struct FateChange {
  using Claims = FateClaims;
  slurm::JobNumber job{};
  slurm::Fate fate{};
  Meant meant{};

  static constexpr std::size_t kAtOnce = 1;
  /// Notes of which job.
  void begin(const Scene& scene);
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const FateChange* const> changes,
                                           slurm::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<FateChange> read(const nlohmann::json& line);
};

/// Which jobs we have suspended, and when each was last to change.
class FateClaims {
 public:
  void take(const FateChange& change, const Done& done);
  void refused(const FateChange& change, Time at);
  void forget_gone(const Mirror& mirror);
  std::vector<FateChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, FateChange>> standing(Time at) const;

  /// kNoTime = it is not suspended by us.
  Time suspended_at(const slurm::Job& job) const;
  /// When it was last given another fate, or Slurm refused that; kNoTime = never.
  Time tried_at(const slurm::Job& job) const;

 private:
  struct Standing {
    Time tried = kNoTime;
    Time suspended = kNoTime;
  };
  JobClaims<Standing> jobs_;
};

}  // namespace almanac::steer
