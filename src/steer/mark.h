// SPDX-License-Identifier: Apache-2.0

/// \file
/// By what a job is known that Almanac, and nobody else, holds back until it is to start: a mark in
/// the administrator's comment. It stays when the job is released, and its nodes are then ours too.
/// Slurm keeps it, so that it is known whatever becomes of Almanac and its files.
#pragma once

#include <optional>
#include <string_view>

#include "slurm/link.h"

namespace almanac::steer {

/// The plugin job_submit/almanac marks the jobs that it holds with the same words.
inline constexpr std::string_view kMark = "placed by almanac";

inline bool is_marked(const slurm::Job& job) { return job.comment == kMark; }

/// Not its user, nor an administrator since: a hold of theirs has Slurm's word for that.
inline bool is_held_by_us(const slurm::Job& job) {
  return job.held && is_marked(job) && job.reason != "JobHeldUser";
}

/// What leaves a waiting job to Slurm as if it had never been marked; nothing where it is not.
inline std::optional<slurm::JobChange> without_mark(const slurm::Job& job) {
  if (!is_marked(job)) return std::nullopt;
  slurm::JobChange made{.job = job.number};
  if (is_held_by_us(job)) made.held = false;
  if (!job.required_nodes.empty()) made.required_nodes = "";
  made.comment = "";
  return made;
}

}  // namespace almanac::steer
