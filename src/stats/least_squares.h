// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits the parameters of a curve within bounds by least squares.
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
  double sum = 0;  ///< Sum of squared errors.
};

/// Computes the error of each observation from parameters within their bounds.
using Errors = std::function<void(std::span<const double> parameters, std::span<double> errors)>;

/// Returns a local minimum near the start; to find a global one, call it with several starts. It
/// computes derivatives by differences, so the curve may have corners. Deterministic.
///
/// Source   Levenberg-Marquardt with Marquardt's scaling (Marquardt, SIAM 1963); a step that leaves
///          the bounds ends on them.
/// Cost     up to 100 iterations of parameters + 1 calls of `errors` and one linear system.
LeastSquares least_squares(std::span<const Parameter> parameters, std::size_t observations,
                           const Errors& errors);

}  // namespace almanac::stats
