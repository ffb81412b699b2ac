// SPDX-License-Identifier: Apache-2.0

/// \file
/// Samples a second of one GPU, by the samples it is given at a step.
///
///   saturating      a b / (b + c)      a is reached with endless batches, half of it at b = c
///   quadratic       k0 + k1 b + k2 b^2
///   quadratic_log   the same of log2 b
///   table           as measured; straight lines of log2 b between, constant beyond the last,
///                   in proportion below the first
///
/// Source   GENIE (Chen et al., TPDS'20) 5.1.2, Eq 7: the quadratic.
/// Differs  The default is `saturating`: the paper's own points are off by 13 and 19 % from the
///          quadratic and by 4 and 7 % from this (docs/guide/qos.md). A step then takes c/a + b/a
///          seconds: a constant for each step plus a time for each sample.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace almanac::perf {

struct Saturating {
  double a = 1;
  double c = 0;
};

struct Quadratic {
  std::array<double, 3> k{};
};

struct QuadraticLog {
  std::array<double, 3> k{};
};

/// Requires: at least one batch, rising, and as many rates above 0.
struct RateTable {
  std::vector<double> batches;
  std::vector<double> rates;
};

class BatchCurve {
 public:
  using Form = std::variant<Saturating, Quadratic, QuadraticLog, RateTable>;

  BatchCurve() = default;
  template <typename One>
  requires std::is_constructible_v<Form, One> BatchCurve(One form)
      : form_(std::move(form)) {}  // NOLINT: it is one

  /// Above 0 for every batch above 0, even where a parabola is not.
  double operator()(double batch) const;
  const Form& form() const { return form_; }

 private:
  Form form_ = Saturating{};
};

/// "saturating", "quadratic", "quadratic_log", "table": the names of the forms, in their order.
inline constexpr std::array<std::string_view, 4> kCurveForms{"saturating", "quadratic",
                                                             "quadratic_log", "table"};

}  // namespace almanac::perf
