// SPDX-License-Identifier: Apache-2.0
#include "trace/job.h"

#include <array>
#include <limits>
#include <utility>

namespace almanac::trace {
namespace {

// Out of memory and out of time are how a job failed; a boot that failed is the node's.
constexpr std::array<std::pair<std::string_view, JobState>, 39> kWords{{
    {"", JobState::unknown},
    {"COMPLETED", JobState::completed},
    {"CD", JobState::completed},
    {"CANCELLED", JobState::cancelled},
    {"CA", JobState::cancelled},
    {"FAILED", JobState::failed},
    {"F", JobState::failed},
    {"TIMEOUT", JobState::timeout},
    {"TO", JobState::timeout},
    {"NODE_FAIL", JobState::node_fail},
    {"NF", JobState::node_fail},
    {"PREEMPTED", JobState::preempted},
    {"PR", JobState::preempted},
    {"RUNNING", JobState::running},
    {"R", JobState::running},
    {"PENDING", JobState::pending},
    {"PD", JobState::pending},
    {"OUT_OF_MEMORY", JobState::failed},
    {"OOM", JobState::failed},
    {"BOOT_FAIL", JobState::node_fail},
    {"BF", JobState::node_fail},
    {"DEADLINE", JobState::timeout},
    {"DL", JobState::timeout},
    {"SUSPENDED", JobState::running},
    {"S", JobState::running},
    {"COMPLETING", JobState::running},
    {"CG", JobState::running},
    {"CONFIGURING", JobState::pending},
    {"CF", JobState::pending},
    {"REQUEUED", JobState::pending},
    {"RQ", JobState::pending},
    {"REVOKED", JobState::cancelled},
    {"RV", JobState::cancelled},
    {"Pass", JobState::completed},
    {"Killed", JobState::cancelled},
    {"Failed", JobState::failed},
    {"Succeeded", JobState::completed},
    {"Running", JobState::running},
    {"Pending", JobState::pending},
}};

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Request::Request()
    : value(kMissing),
      restart_s(kMissing),
      checkpoint_s(kMissing),
      cpus(kMissing),
      memory_gb(kMissing),
      data_gb(kMissing),
      gpu_memory_gb(kMissing) {}

Outcome::Outcome()
    : reference_cpus(kMissing),
      reference_memory_gb(kMissing),
      bandwidth_gbs(kMissing),
      step_s(kMissing),
      network_s(kMissing),
      network_gbps(kMissing),
      read_gbs(kMissing) {}

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::unknown:
      return "";
    case JobState::pending:
      return "PENDING";
    case JobState::running:
      return "RUNNING";
    case JobState::completed:
      return "COMPLETED";
    case JobState::failed:
      return "FAILED";
    case JobState::cancelled:
      return "CANCELLED";
    case JobState::timeout:
      return "TIMEOUT";
    case JobState::node_fail:
      return "NODE_FAIL";
    case JobState::preempted:
      return "PREEMPTED";
  }
  return "";
}

std::optional<JobState> parse_state(std::string_view word) {
  if (word.starts_with("CANCELLED ")) word = "CANCELLED";  // "CANCELLED by 1001"
  if (word.ends_with('+')) word.remove_suffix(1);          // cut to a narrow column
  for (const auto& [known, state] : kWords) {
    if (known == word) return state;
  }
  return std::nullopt;
}

std::string_view to_string(Requeue requeue) {
  switch (requeue) {
    case Requeue::unsaid:
      return "";
    case Requeue::yes:
      return "yes";
    case Requeue::no:
      return "no";
  }
  return "";
}

std::optional<Requeue> parse_requeue(std::string_view word) {
  if (word == "yes") return Requeue::yes;
  if (word == "no") return Requeue::no;
  return std::nullopt;
}

}  // namespace almanac::trace
