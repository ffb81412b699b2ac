// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/partition.h"

#include <cmath>

namespace almanac::timeshare {

std::vector<Problem> split(const Problem& problem, std::size_t parts) {
  std::vector<Problem> pieces(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    for (const double gpus : problem.gpus) {
      pieces[part].gpus.push_back(std::floor(gpus / static_cast<double>(parts)));
    }
  }
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    pieces[job % parts].jobs.push_back(problem.jobs[job]);
  }
  return pieces;
}

}  // namespace almanac::timeshare
