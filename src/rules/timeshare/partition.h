// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any program over part of the jobs and part of the GPUs at a time.
///
/// Source   Narayanan et al., SOSP'21 (POP), section 3. Job i goes to part i mod k, and each part
///          has 1 / k of each type, whole GPUs: the others lie idle, as in the published program.
#pragma once

#include <utility>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// The problem of each of `parts` parts.
std::vector<Problem> split(const Problem& problem, std::size_t parts);

/// `solve` (problem to fractions) on each part, put together again. Cost: parts x solve.
template <typename Solve>
Fractions by_parts(const Problem& problem, std::size_t parts, Solve&& solve) {
  Fractions fractions(problem.jobs.size());
  const std::vector<Problem> pieces = split(problem, parts);
  for (std::size_t part = 0; part < parts; ++part) {
    Fractions piece = solve(pieces[part]);
    for (std::size_t at = 0; at < piece.size(); ++at) {
      fractions[at * parts + part] = std::move(piece[at]);
    }
  }
  return fractions;
}

}  // namespace almanac::timeshare
