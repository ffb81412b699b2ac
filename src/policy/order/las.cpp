// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least attained service in queues: a job starts in the first queue and moves to the next when its
/// GPUs x run time reach a limit. Order of submission within a queue.
///
/// Source   Gu et al., NSDI'19 (Tiresias), discretized 2D-LAS; one limit of 18,000 GPU-s as in Hu
///          et al., ASPLOS'23 (Lucid), whose simulator has two queues.
/// Differs  Jobs move at the instant they cross a limit, not at the next 60 s round, and never
///          return to an earlier queue; whole/tiresias.cpp has that.
#include <algorithm>
#include <cmath>

#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Las final : public Order {
 public:
  explicit Las(Values limits_gpu_s) : limits_ms_(std::move(limits_gpu_s)) {
    for (double& limit : limits_ms_) limit *= 1e3;
  }

  double rank(const Candidate& job) const override {
    return static_cast<double>(std::upper_bound(limits_ms_.begin(), limits_ms_.end(), served(job)) -
                               limits_ms_.begin());
  }
  double tie(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
  Duration jumps_after(const Candidate& job) const override {
    const auto next = std::upper_bound(limits_ms_.begin(), limits_ms_.end(), served(job));
    if (next == limits_ms_.end() || job.request.gpus == 0) return kNoDuration;
    return Duration{
        static_cast<Duration::rep>(std::ceil((*next - served(job)) / job.request.gpus))};
  }

 private:
  static double served(const Candidate& job) {
    return static_cast<double>(job.attained.count()) * job.request.gpus;
  }

  Values limits_ms_;
};

}  // namespace

void register_las(Registry& registry) {
  registry.orders.add(
      {.name = "las",
       .summary = "least attained service (GPU time) first, in queues",
       .source = "Gu et al. NSDI'19 §3",
       .parameters = {numbers("queues_gpu_s", "attained GPU time at which a job leaves each queue",
                              {18'000}, 0, 1e15)}},
      [](const Parameters& told) { return std::make_unique<Las>(told.numbers("queues_gpu_s")); });
}

}  // namespace almanac::policy::order
