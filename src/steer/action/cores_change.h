// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits a running job to fewer cores than the manager allocated, through the agents on its nodes,
/// to at least one core on each. Undo gives all cores back.
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
#include "steer/job_use.h"
#include "steer/scene.h"

namespace almanac::steer {

class CoresClaims;

struct CoresChange {
  using Claims = CoresClaims;
  manager::JobNumber job{};
  /// By node where the job is limited; empty for all that the manager allocated.
  Cores cores{};
  Meant meant{};

  static constexpr std::size_t kAtOnce = 1;
  /// Records the job.
  void begin(const Scene& scene);
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  /// Agents receive all limits in effect again and again, so a limit is in effect from here on.
  static std::vector<Result<void>> execute(std::span<const CoresChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<CoresChange> read(const nlohmann::json& line);
};

/// The jobs that we limit to fewer cores.
class CoresClaims {
 public:
  void take(const CoresChange& change, const Done& done);
  void forget_gone(const Mirror& mirror);
  std::vector<CoresChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, CoresChange>> standing(Time at) const;

  const JobClaims<Cores>& jobs() const { return jobs_; }

 private:
  JobClaims<Cores> jobs_;
};

}  // namespace almanac::steer
