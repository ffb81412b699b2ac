// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy's estimates of job speeds on GPU types that the jobs do not hold, learned from jobs of
/// the same user and name on these types (predict/type_speeds.h).
///
/// A completed job shows how long it would have taken on each type that it used: by the work it did
/// there, if the host reports work (Telemetry::worked); otherwise by its run time, if it used only
/// one type. Speeds are relative to the type of the largest number of nodes.
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
  /// Null learns nothing; all types are then equally fast.
  explicit TypeBeliefs(std::shared_ptr<predict::TypeSpeeds> learned)
      : learned_(std::move(learned)) {}

  bool learns() const { return learned_ != nullptr; }
  /// Records that a job is on GPUs of that type, one bit, from now on.
  void began(JobId job, std::uint64_t type, const View& view);
  /// Records that it left them; its grants may be gone.
  void left(JobId job, const View& view);
  /// Records that a job has ended or will not return; learns from it if it has completed.
  void gone(JobId job, const View& view);

  /// Returns the speed on GPUs of that type, one bit.
  double speed(JobId job, std::uint64_t type, const View& view) const;

 private:
  struct Spent {
    double time_s = 0;
    double work_s = 0;
  };
  struct Course {
    std::uint64_t type = 0;  // current type; 0 for none
    Time since{};
    std::optional<Duration> worked{};  // work done until then
    std::map<std::uint64_t, Spent> on;
  };

  std::shared_ptr<predict::TypeSpeeds> learned_;
  mutable std::string home_;  // reference type; found on first use
  std::unordered_map<JobId, Course> courses_;
};

}  // namespace almanac::policy
