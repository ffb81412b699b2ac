// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that break a norm for the use of GPUs, by user.
///
/// Source   Job Defense Shield of Princeton University: which jobs each alert takes.
/// Differs  A GPU too strong: the number of cores does not matter there, and the GPU type must be
///          known. A time limit: the unused GPU-hours of each long limit count, not users' ratios.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "study/efficiency.h"
#include "study/norms.h"

namespace almanac::study {

enum class AlertKind : std::uint8_t {
  unused_gpus,      ///< Its GPUs never computed.
  low_gpu_use,      ///< They computed, for less than low_gpu_use of the time.
  many_cores,       ///< It holds many cores per GPU and does not use them.
  much_memory,      ///< It holds much memory per GPU and does not use it.
  strong_gpu,       ///< A smaller GPU would have been enough.
  long_time_limit,  ///< It took a small part of its time limit.
};
inline constexpr std::array kAlertKinds{AlertKind::unused_gpus, AlertKind::low_gpu_use,
                                        AlertKind::many_cores,  AlertKind::much_memory,
                                        AlertKind::strong_gpu,  AlertKind::long_time_limit};

/// "unused-gpus"
std::string_view to_string(AlertKind kind);
/// Returns the norm in words: "GPUs at 0 % use".
std::string norm_in_words(AlertKind kind, const Norms& norms);
/// Returns what a user can do about it: two sentences at most.
std::string_view remedy(AlertKind kind);
/// Returns what of a job breaks the norm: "48 cores/GPU, 5.0 % used".
std::string breach_in_words(AlertKind kind, const JobUse& job);

/// Returns the GPU-hours of a job that count for an alert: those held, or for long_time_limit those
/// reserved and not used.
double gpu_hours_of(AlertKind kind, const JobUse& job);

/// The jobs of a user that break a norm.
struct Alert {
  AlertKind kind{};
  std::string user{};
  std::vector<const JobUse*> jobs{};  ///< Most GPU-hours first.
  double gpu_hours = 0;  ///< Held by the jobs; for long_time_limit: reserved and not used.
};

/// Returns the alerts of at least `norms.gpu_hours` each, in order of kind, then by GPU-hours in
/// descending order. They point into `jobs`. A job breaks no norm whose values are unknown.
std::vector<Alert> find_alerts(const std::vector<JobUse>& jobs, const Norms& norms);

}  // namespace almanac::study
