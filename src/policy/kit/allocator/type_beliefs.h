// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy believes of how fast jobs are on types of GPUs that they do not hold, where it
/// learns: from what jobs of the same user and name did on them (predict/type_speeds.h).
///
/// A job that has completed tells how long it would have taken on each type that it was on: by the
/// work that it did there in its time, where the host tells work (Telemetry::worked); where it does
/// not, by its time if it was on one type alone. Speeds are beside those on the type that most
/// nodes have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "policy/contract/contract.h"
#include "predict/type_speeds.h"

namespace almanac::policy {

class TypeBeliefs {
 public:
  /// Null = nothing is learned, and all types are as fast.
  explicit TypeBeliefs(std::shared_ptr<predict::TypeSpeeds> learned)
      : learned_(std::move(learned)) {}

  bool learns() const { return learned_ != nullptr; }
  /// A job is on GPUs of that type, one bit, from now on.
  void began(JobId job, std::uint64_t type, const View& view);
  /// It is there no longer; its grants may have gone.
  void left(JobId job, const View& view);
  /// It has ended, or will not come back: learns from it if it has completed.
  void gone(JobId job, const View& view);

  /// On GPUs of that type, one bit.
  double speed(JobId job, std::uint64_t type, const View& view) const;

 private:
  struct Spent {
    double time_s = 0;
    double work_s = 0;
  };
  struct Course {
    std::uint64_t type = 0;  // that it is on; 0 = none
    Time since{};
    std::optional<Duration> worked{};  // by then
    std::map<std::uint64_t, Spent> on;
  };

  std::shared_ptr<predict::TypeSpeeds> learned_;
  mutable std::string home_;  // type; found when it is first asked for
  std::unordered_map<JobId, Course> courses_;
};

}  // namespace almanac::policy
