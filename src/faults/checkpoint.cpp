// SPDX-License-Identifier: Apache-2.0
#include "faults/checkpoint.h"

#include <cmath>

namespace almanac::faults {

double young_interval(double write, double mttf) { return std::sqrt(2 * write * mttf); }

double daly_interval(double write, double mttf) {
  if (write >= 2 * mttf) return mttf;
  const double part = write / (2 * mttf);
  return young_interval(write, mttf) * (1 + std::sqrt(part) / 3 + part / 9) - write;
}

double best_interval(double write, double mttf) {
  // The derivative of slowdown() vanishes where x = 1 - exp(-x - write / mttf), x = every / mttf.
  // The right side is concave with a slope below 1 there, so Newton's method converges from Daly's.
  double x = daly_interval(write, mttf) / mttf;
  for (int round = 0; round < 100; ++round) {
    const double lost = -std::expm1(-x - write / mttf);
    const double step = (x - lost) / lost;
    x -= step;
    if (std::abs(step) <= 1e-12 * x) break;
  }
  return x * mttf;
}

double slowdown(double every, double write, double restart, double mttf) {
  return mttf / every * std::exp(restart / mttf) * std::expm1((every + write) / mttf);
}

double first_order_loss(double every, double write, double restart, double mttf) {
  return write / every + (every / 2 + restart) / mttf;
}

}  // namespace almanac::faults
