// SPDX-License-Identifier: Apache-2.0

/// \file
/// On GPUs of which type, and on how many, jobs run, so that their goodputs are large and fair.
///
///   minimise  the sum of goodput^fairness of what is chosen, and a price for each job without GPUs
///   so that   each job has one configuration at most, and the GPUs of each type suffice
///
/// Source   Jayaram Subramanya et al., SOSP'23 (Sia), section 3.4, with the roundings of the
///          published program: 32-bit floats, costs in hundredths, none above 3,000.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace almanac::elastic {

/// GPUs of one type that a job may be given.
struct TypedConfiguration {
  std::size_t type = 0;
  int gpus = 0;
};

struct TypedJob {
  /// Of each configuration, beside the least that the job could use; 0.0001 = it cannot use it.
  std::vector<double> goodputs{};
  double restart_factor = 1;  ///< What remains of each goodput but that of the present
                              ///< configuration.
  std::optional<std::size_t> present{};
  bool is_frozen = false;  ///< Keeps its present configuration.
};

struct TypedTerms {
  double fairness = -0.5;
  double idle_price = 1.1;  ///< Of a job without GPUs.
};

struct TypedChoice {
  std::vector<std::optional<std::size_t>> chosen{};  ///< A configuration of each job.
  double objective = 0;
};

/// What a configuration costs in the objective.
float typed_cost(const TypedJob& job, std::size_t configuration, double fairness);

/// Nothing where the frozen jobs alone are too many. Configurations that cost as much as none are
/// not chosen. Cost: CBC, some ms for 50 jobs and 20 configurations; always with the same answer.
std::optional<TypedChoice> choose_types(std::span<const TypedConfiguration> configurations,
                                        std::span<const int> gpus_by_type,
                                        std::span<const TypedJob> jobs,
                                        const TypedTerms& terms = {});

}  // namespace almanac::elastic
