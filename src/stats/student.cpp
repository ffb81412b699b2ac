// SPDX-License-Identifier: Apache-2.0
#include "stats/student.h"

#include <cmath>

#include "base/check.h"
#include "stats/normal.h"

namespace almanac::stats {

double student_two_tailed(double tails, double freedom) {
  ALMANAC_CHECK(tails > 0 && tails < 1 && freedom >= 1, "{} of {}", tails, freedom);
  constexpr double kPi = 3.141592653589793;
  const double n = freedom;
  if (n == 1) return std::cos(tails * kPi / 2) / std::sin(tails * kPi / 2);
  if (n == 2) return std::sqrt(2 / (tails * (2 - tails)) - 2);
  const double a = 1 / (n - 0.5);
  const double b = 48 / (a * a);
  double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  const double d = ((94.5 / (b + c) - 3) / b + 1) * std::sqrt(a * kPi / 2) * n;
  double y = std::pow(d * tails, 2 / n);
  if (y > 0.05 + a) {
    const double x = normal_quantile(tails / 2);
    y = x * x;
    if (n < 5) c += 0.3 * (n - 4.5) * (x + 0.6);
    c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = std::expm1(a * y * y);
  } else {
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) *
            (n + 1) / (n + 2) +
        1 / y;
  }
  return std::sqrt(n * y);
}

}  // namespace almanac::stats
