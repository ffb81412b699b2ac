// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits the parameters of a curve: the least sum of squared errors, within bounds.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace almanac::stats {

struct Parameter {
  double start = 0;
  double least = 0;
  double most = 0;
};

struct LeastSquares {
  std::vector<double> parameters;
  double sum = 0;  ///< Of squared errors.
};

/// Fills `errors`, one an observation, from parameters within their bounds.
using Errors = std::function<void(std::span<const double> parameters, std::span<double> errors)>;

/// The valley below the start; where there may be several, start from several places. Derivatives
/// are differences, so the curve may have corners. Deterministic.
///
/// Source   Levenberg-Marquardt with Marquardt's scaling (Marquardt, SIAM 1963); a step that leaves
///          the bounds ends on them.
/// Cost     up to 100 rounds of parameters + 1 calls of `errors`, and a linear system a round.
LeastSquares least_squares(std::span<const Parameter> parameters, std::size_t observations,
                           const Errors& errors);

}  // namespace almanac::stats
