// SPDX-License-Identifier: Apache-2.0

/// \file
/// Single problems of Gavel: the programs of `timeshare` on them, beside the best that there is.
#pragma once

#include <cstddef>
#include <map>

#include "reproduce/bench.h"
#include "reproduce/gavel_data.h"

namespace almanac::reproduce {

/// Adds a row for each number that is expected of a problem, for lists the one that differs most.
void compare_case(Bench& bench, const std::string& what, const timeshare::Problem& problem,
                  const Json& expected);

/// Rates by type in the order of `types`, "scale_factor", "priority", "steps_left", "age_s".
timeshare::Problem read_problem(const Json& gpus, const Json& jobs,
                                const std::vector<std::string>& types);

/// Of max-min fairness with pairs: jobs by model, all of one GPU.
void compare_packed_case(Bench& bench, const std::string& what, const Json& each,
                         const ModelSpeeds& speeds);

/// The least of rate / proportional rate with pairs allowed, jobs in `parts` parts.
struct Packed {
  double least = 0;
  double mean = 0;
};
Packed packed_level(const timeshare::Problem& problem, const std::vector<std::size_t>& kinds,
                    const ModelSpeeds& speeds, std::size_t parts);

/// The authors' unit tests by name: AlloX in steps, isolated shares, single problems.
void compare_named_test(Bench& bench, const std::string& name, const Json& test,
                        const std::vector<std::string>& types);

/// pop_N.csv: jobs alone by type, on a quarter as many GPUs of each type as there are jobs; beside
/// it pop_N_objectives.csv with columns parts and the objectives. Keeps the mean level by number of
/// jobs and of parts.
using PopLevels = std::map<std::size_t, std::map<std::size_t, double>>;
void compare_pop(Bench& bench, const File& file, const ModelSpeeds& speeds, PopLevels& levels);

/// Columns jobs, weights, variant ("POP-4"), mean_effective_throughput_ratio: the mean level in
/// parts beside that of the whole, of jobs that pop_N.csv tells. Run times hang on solvers and
/// machines.
void compare_pop_figure(Bench& bench, const File& file, const PopLevels& levels);

}  // namespace almanac::reproduce
