// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the GPU type and number of GPUs of each job, so that goodputs are large and fair.
///
///   minimize    the sum of goodput^fairness over all chosen configurations, plus a price for each
///               job without GPUs
///   so that     each job has at most one configuration, and the GPUs of each type suffice
///
/// Source   Jayaram Subramanya et al., SOSP'23 (Sia), section 3.4, with the rounding of the
///          published program: 32-bit floats, costs in hundredths, none above 3,000.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace almanac::elastic {

/// A number of GPUs of one type.
struct TypedConfiguration {
  std::size_t type = 0;
  int gpus = 0;
};

struct TypedJob {
  /// Goodput in each configuration, relative to the smallest usable one; 0.0001 if it cannot use
  /// it.
  std::vector<double> goodputs{};
  double restart_factor = 1;  ///< Factor on the goodput of each configuration but the present one.
  std::optional<std::size_t> present{};
  bool is_frozen = false;  ///< Keeps its present configuration.
};

struct TypedTerms {
  double fairness = -0.5;
  double idle_price = 1.1;  ///< Price of a job without GPUs.
};

struct TypedChoice {
  std::vector<std::optional<std::size_t>> chosen{};  ///< Configuration of each job, if any.
  double objective = 0;
};

/// Returns the cost of a configuration in the objective.
float typed_cost(const TypedJob& job, std::size_t configuration, double fairness);

/// Returns the choice, or nothing if the frozen jobs alone need too many GPUs. Never chooses a
/// configuration that costs as much as no GPUs. Deterministic.
/// Cost     CBC, some ms for 50 jobs and 20 configurations
std::optional<TypedChoice> choose_types(std::span<const TypedConfiguration> configurations,
                                        std::span<const int> gpus_by_type,
                                        std::span<const TypedJob> jobs,
                                        const TypedTerms& terms = {});

}  // namespace almanac::elastic
