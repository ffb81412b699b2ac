// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "rules/elastic/deal_ahead.h"
#include "tick/free_nodes.h"
#include "tick/policies.h"

namespace almanac::elastic {
namespace {

constexpr int kGrowth = 8;                 // times the most GPUs seen, in one go
constexpr std::size_t kMostReports = 150;  // of an application; a fit costs some ms then
constexpr double kLeastPartLeft = 0.02;    // of its work, of a job that should have ended

/// What all jobs of an application have reported.
struct Lore {
  std::vector<Observation> seen{};
  StepModel model{};
  bool has_news = false;
  std::map<int, Gradient> gradients{};  ///< By finished epochs.

  int most_gpus() const {
    int most = 0;
    for (const Observation& each : seen) most = std::max(most, each.gpus);
    return most;
  }
  /// How much faster steps are on these GPUs than the model has them.
  double correction(int nodes, int gpus) const {
    double sum = 0;
    int count = 0;
    for (const Observation& each : seen) {
      if (each.nodes != nodes || each.gpus != gpus) continue;
      sum += std::log(model.step_s(nodes, gpus, each.atomic_batch) / each.time.step_s);
      ++count;
    }
    return count > 0 ? std::exp(sum / count) : 1;
  }
};

class Hasten final : public TickPolicy {
 public:
  std::optional<int> fixed_batch(const TickJob& job) const override {
    // As under Pollux, for its batch is not to be divided.
    if (job.application->name == "ncf") return job.application->max_batch;
    return std::nullopt;
  }
  bool learns() const override { return true; }

  std::vector<Shares> allocate(std::int64_t now_s, std::span<const std::size_t> candidates,
                               std::span<const TickState> jobs,
                               const TickOptions& options) override {
    learn(jobs);
    std::vector<AheadJob> ahead;
    for (const std::size_t job : candidates) ahead.push_back(look_at(now_s, jobs[job], options));
    const std::vector<int> gpus =
        deal_ahead(ahead, options.gpus(), {.restart_s = static_cast<double>(options.restart_s)});

    std::vector<Shares> given(candidates.size());
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return gpus[a] > gpus[b]; });
    FreeNodes free(options);
    for (const std::size_t at : order) {
      if (gpus[at] != ahead[at].present) continue;
      given[at] = jobs[candidates[at]].shares;
      free.take(given[at]);
    }
    for (const std::size_t at : order) {
      if (given[at].empty()) given[at] = free.take_tightest(gpus[at]);
    }
    return given;
  }

 private:
  void learn(std::span<const TickState> jobs) {
    read_.resize(jobs.size(), 0);
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const TickState& state = jobs[job];
      if (!state.model) continue;
      Lore& lore = lore_[state.job->application];
      if (!state.completed_s) lore.gradients[state.epochs] = state.gradient;
      for (; read_[job] < state.seen.size(); ++read_[job]) add(lore, state.seen[read_[job]]);
    }
    for (auto& [application, lore] : lore_) {
      if (!lore.has_news) continue;
      lore.model = fit_steps(lore.seen);
      lore.has_news = false;
    }
  }

  static void add(Lore& lore, const Observation& report) {
    const bool is_known =
        std::any_of(lore.seen.begin(), lore.seen.end(), [&](const Observation& each) {
          return each.nodes == report.nodes && each.gpus == report.gpus &&
                 each.atomic_batch == report.atomic_batch;
        });
    if (is_known || lore.seen.size() == kMostReports) return;
    lore.seen.push_back(report);
    lore.has_news = true;
  }

  AheadJob look_at(std::int64_t now_s, const TickState& state, const TickOptions& options) {
    const Application& application = *state.job->application;
    const Lore& lore = lore_[&application];
    int most = std::min({options.gpus(), application.max_batch / application.min_local_batch,
                         std::max(kGrowth * lore.most_gpus(), 1)});
    if (state.fixed_batch) most = 1;
    const double alone = goodput(state, lore, 1, 1);
    // How long it is to train is in its request.
    const double all = application.progress_after(application.completion_epoch + 1);
    AheadJob made{.work_s = std::max(all - state.progress, kLeastPartLeft * all) *
                            application.initial_batch / alone,
                  .age_s = static_cast<double>(now_s - state.job->submit_s),
                  .speeds = {0},
                  .present = count_gpus(state.shares)};
    const int per_node = options.gpus_per_node;
    for (int gpus = 1; gpus <= most; ++gpus) {
      const bool is_whole = gpus <= per_node || gpus % per_node == 0;
      const int nodes = (gpus + per_node - 1) / per_node;
      made.speeds.push_back(is_whole ? goodput(state, lore, nodes, gpus) / alone : 0);
    }
    if (made.present > 0) {
      made.present_speed =
          goodput(state, lore, static_cast<int>(state.shares.size()), made.present) / alone;
    }
    return made;
  }

  /// In samples of the initial batch a second; GPUs until an application has told anything.
  double goodput(const TickState& state, const Lore& lore, int nodes, int gpus) {
    if (lore.seen.empty()) return gpus;
    const Gradient gradient = state.model ? state.gradient : lore.gradients.begin()->second;
    const auto [found, is_new] =
        known_.try_emplace({&lore, lore.seen.size(), gradient.sqr, gradient.var, nodes, gpus}, 0.0);
    if (is_new) {
      const double value =
          best_goodput(lore.model, gradient, *state.job->application, nodes, gpus).value;
      found->second = value * lore.correction(nodes, gpus);
    }
    return found->second;
  }

  std::map<const Application*, Lore> lore_;
  std::vector<std::size_t> read_;  // reports of each job
  std::map<std::tuple<const Lore*, std::size_t, double, double, int, int>, double> known_;
};

}  // namespace

std::unique_ptr<TickPolicy> make_hasten() { return std::make_unique<Hasten>(); }

}  // namespace almanac::elastic
