// SPDX-License-Identifier: Apache-2.0
#include "formulas/checkpoint.h"

#include <cmath>

namespace almanac::failure {

double mean_time_to_failure(double nodes, double faults_a_node) {
  return 1 / (nodes * faults_a_node);
}

double young_interval(const Failing& job) {
  return std::sqrt(2 * job.write * job.mean_time_to_failure);
}

double daly_first_order_interval(const Failing& job) { return young_interval(job) - job.write; }

double daly_interval(const Failing& job) {
  const double part = job.write / (2 * job.mean_time_to_failure);
  if (part >= 1) return job.mean_time_to_failure;
  return young_interval(job) * (1 + std::sqrt(part) / 3 + part / 9) - job.write;
}

double best_interval(const Failing& job) {
  // The derivative of the slowdown by x = interval / M has the sign of e^(x + w/M) (x - 1) + 1,
  // which grows with x and changes its sign between 0 and 1.
  const double write = job.write / job.mean_time_to_failure;
  double low = 0;
  double high = 1;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle * job.mean_time_to_failure;
    (std::exp(middle + write) * (middle - 1) + 1 < 0 ? low : high) = middle;
  }
}

double slowdown(const Failing& job, double interval, double restart) {
  const double mean = job.mean_time_to_failure;
  return mean / interval * std::exp(restart / mean) * std::expm1((interval + job.write) / mean);
}

double effective_time(const Failing& job, double interval, double restart) {
  return (1 - (restart + interval / 2) / job.mean_time_to_failure) / (1 + job.write / interval);
}

}  // namespace almanac::failure
