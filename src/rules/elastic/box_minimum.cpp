// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/box_minimum.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <nlopt.h>

#include "base/check.h"

namespace almanac::elastic {
namespace {

constexpr unsigned kSize = 7;
constexpr int kMostEvaluations = 1000;
constexpr unsigned kSteps = 10;       // remembered, to estimate the curvature
constexpr double kLeastGain = 1e-10;  // of a step, as a share of the value

/// The function as NLopt calls it, and the best place tried. A line search that fails at a kink
/// ends the search with an error; the best place counts all the same.
struct Search {
  const Function7& function;
  Minimum<7> best;

  static double evaluate(unsigned /*size*/, const double* at, double* gradient, void* data) {
    auto& search = *static_cast<Search*>(data);
    std::array<double, kSize> place{};
    std::array<double, kSize> slopes{};
    std::copy_n(at, kSize, place.begin());
    const double value = search.function(place, slopes);
    if (gradient != nullptr) std::copy_n(slopes.begin(), kSize, gradient);
    if (value < search.best.value) search.best = {.at = place, .value = value};
    return value;
  }
};

}  // namespace

Minimum<7> minimise(const Function7& function, const Box<7>& box, std::array<double, 7> start) {
  Search search{.function = function,
                .best = {.at = start, .value = std::numeric_limits<double>::infinity()}};
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> nlopt(
      nlopt_create(NLOPT_LD_LBFGS, kSize), &nlopt_destroy);
  nlopt_set_min_objective(nlopt.get(), &Search::evaluate, &search);
  nlopt_set_lower_bounds(nlopt.get(), box.lower.data());
  nlopt_set_upper_bounds(nlopt.get(), box.upper.data());
  nlopt_set_ftol_rel(nlopt.get(), kLeastGain);
  nlopt_set_maxeval(nlopt.get(), kMostEvaluations);
  nlopt_set_vector_storage(nlopt.get(), kSteps);
  double value = 0;
  const nlopt_result result = nlopt_optimize(nlopt.get(), start.data(), &value);
  ALMANAC_CHECK(result != NLOPT_INVALID_ARGS && result != NLOPT_OUT_OF_MEMORY, "NLopt: {}",
                nlopt_result_to_string(result));
  return search.best;
}

}  // namespace almanac::elastic
