// SPDX-License-Identifier: Apache-2.0

/// \file
/// Numbers that make Slurm order jobs as a line does, with as few changes as possible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "manager/link.h"

namespace almanac::steer {

/// A range that includes both ends.
struct Window {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};

/// The usual distance of neighbors: large enough for many jobs to come between two.
std::int64_t usual_step(const Window& window);

/// Returns new numbers for jobs with `present` ones, in the order of the line, each lower than the
/// previous one. As many as possible keep theirs: those in the longest ordered part of the line
/// that leaves room for the others, which get numbers in the middle between their neighbors'. If
/// the window has fewer numbers than the line has jobs, the jobs at the end share the lowest. O(n
/// log n).
std::vector<std::int64_t> renumber(std::span<const std::int64_t> present, const Window& window);

/// Whether Slurm orders jobs by their site factors; otherwise by their priorities: priority/basic
/// ignores site factors.
bool uses_site_factor(const manager::Site& site, const manager::Abilities& can);

}  // namespace almanac::steer
