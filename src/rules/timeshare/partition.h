// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a program on parts of the jobs and GPUs.
///
/// Source   Narayanan et al., SOSP'21 (POP), section 3. Job i goes to part i mod k. Each part has 1
///          / k of the GPUs of each type, rounded down; the rest stay idle, as in the published
///          program.
#pragma once

#include <utility>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Returns the problem of each part.
std::vector<Problem> split(const Problem& problem, std::size_t parts);

/// Applies `solve` (problem to fractions) to each part and merges the results. Cost: parts x solve.
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
