// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least attained service in two queues: a job starts in the first and moves to the second when its
/// GPUs x time run exceed a threshold. Within a queue, in order of submission.
///
/// Source   Gu et al., NSDI'19 (Tiresias), discretised 2D-LAS; threshold 18,000 GPU-s as in Hu et
///          al., ASPLOS'23 (Lucid), whose simulator has two queues too.
/// Differs  Jobs move at the instant they cross the threshold, not at the next 60 s round, and are
///          never promoted back.
#include <cmath>

#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Las final : public Order {
 public:
  explicit Las(double threshold_gpu_s) : threshold_ms_(threshold_gpu_s * 1e3) {}

  double rank(const Candidate& job) const override { return served(job) >= threshold_ms_ ? 1 : 0; }
  double tie(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
  Duration jumps_after(const Candidate& job) const override {
    const double left = threshold_ms_ - served(job);
    if (left <= 0 || job.request.gpus == 0) return kNoDuration;
    return Duration{static_cast<Duration::rep>(std::ceil(left / job.request.gpus))};
  }

 private:
  static double served(const Candidate& job) {
    return static_cast<double>(job.attained.count()) * job.request.gpus;
  }

  double threshold_ms_;
};

}  // namespace

void register_las(Registry& registry) {
  registry.orders.add(
      {"las",
       "least attained GPU time first, in two queues",
       "Gu et al. NSDI'19 §3",
       {},
       {number("threshold_gpu_s", "attained GPU time after which a job is in the second queue",
               18'000, 0, 1e15)}},
      [](const Parameters& told) { return std::make_unique<Las>(told.number("threshold_gpu_s")); });
}

}  // namespace almanac::policy::order
