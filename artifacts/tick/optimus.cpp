// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "rules/elastic/marginal_gain.h"
#include "tick/free_nodes.h"
#include "tick/policies.h"

namespace almanac::elastic {
namespace {

class Optimus final : public TickPolicy {
 public:
  std::optional<int> fixed_batch(const TickJob& job) const override { return job.asked_batch; }
  bool learns() const override { return false; }

  std::vector<Shares> allocate(std::int64_t /*now_s*/, std::span<const std::size_t> candidates,
                               std::span<const TickState> jobs,
                               const TickOptions& options) override {
    std::vector<GainSeeker> seekers;
    for (const std::size_t at : candidates) seekers.push_back(seeker(jobs[at], options));
    const std::vector<int> gpus = deal_by_gain(seekers, options.gpus());

    std::vector<Shares> given(candidates.size());
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return gpus[a] < gpus[b]; });
    FreeNodes free(options);
    for (const std::size_t at : order) {
      const Shares& held = jobs[candidates[at]].shares;
      if (count_gpus(held) != gpus[at]) continue;
      given[at] = held;
      free.take(held);
    }
    for (const std::size_t at : order) {
      if (given[at].empty()) given[at] = free.take_emptiest(gpus[at]);
    }
    return given;
  }

 private:
  GainSeeker seeker(const TickState& state, const TickOptions& options) {
    const Application& application = *state.job->application;
    const int batch = *state.fixed_batch;
    double left = 1;
    if (state.epochs < application.completion_epoch) {
      left = application.iterations(batch, application.completion_epoch) -
             application.iterations(batch, state.epochs);
    }
    // The published program gives this one a single GPU, for its batch is not to be divided.
    const int most = application.name == "ncf" ? 1 : batch / application.min_local_batch;
    return {.steps_left = left,
            .most_gpus = most,
            .step_s = [this, &application, batch, per_node = options.gpus_per_node](int gpus) {
              return step_s(application, batch, gpus, per_node);
            }};
  }

  /// On full nodes and a remainder. Nothing = not measured.
  std::optional<double> step_s(const Application& application, int batch, int gpus, int per_node) {
    auto [known, is_new] = known_.try_emplace({&application, batch, gpus});
    if (!is_new) return known->second;
    const Split split = within_max_batch(
        application, gpus, split_batch(application, gpus, batch, OneGpu::always_accumulates));
    std::vector<int> ring(static_cast<std::size_t>(gpus / per_node), per_node);
    if (gpus % per_node > 0) ring.push_back(gpus % per_node);
    if (const auto time = application.steps.at(ring, split.atomic_batch)) {
      known->second = step_seconds(*time, split.accumulations);
    }
    return known->second;
  }

  std::map<std::tuple<const Application*, int, int>, std::optional<double>> known_;
};

}  // namespace

std::unique_ptr<TickPolicy> make_optimus() { return std::make_unique<Optimus>(); }

}  // namespace almanac::elastic
