// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "rules/elastic/genetic_search.h"
#include "tick/goodput_book.h"
#include "tick/policies.h"

namespace almanac::elastic {
namespace {

constexpr int kMostGpus = 64;  // the published program's own limit
constexpr int kDelay_s = 30;

class Pollux final : public TickPolicy {
 public:
  explicit Pollux(PolluxOptions options) : options_(options), random_(options.seed) {}

  std::optional<int> fixed_batch(const TickJob& job) const override {
    // The published program gives this one its largest batch and a single GPU.
    if (job.application->name == "ncf") return job.application->max_batch;
    return std::nullopt;
  }
  bool learns() const override { return true; }

  std::vector<Shares> allocate(std::int64_t now_s, std::span<const std::size_t> candidates,
                               std::span<const TickState> jobs,
                               const TickOptions& options) override {
    std::vector<std::size_t> order(candidates.begin(), candidates.end());
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(jobs[a].attained_gpu_s, jobs[a].job->submit_s) <
             std::pair(jobs[b].attained_gpu_s, jobs[b].job->submit_s);
    });
    SearchProblem problem = state_problem(now_s, order, jobs, options);
    SearchResult found = search(problem, remembered(order, problem), random_);

    const auto nodes = static_cast<std::size_t>(options.nodes);
    const GpuMatrix& chosen = found.front[found.best];
    std::map<std::size_t, Shares> held;
    for (std::size_t row = 0; row < order.size(); ++row) {
      Shares& shares = held[order[row]];
      for (std::size_t node = 0; node < nodes; ++node) {
        const int gpus = chosen[row * nodes + node];
        if (gpus > 0) shares.push_back({.node = static_cast<int>(node), .gpus = gpus});
      }
    }
    last_front_ = std::move(found.front);
    last_order_ = std::move(order);
    std::vector<Shares> given;
    for (const std::size_t job : candidates) given.push_back(std::move(held[job]));
    return given;
  }

 private:
  SearchProblem state_problem(std::int64_t now_s, const std::vector<std::size_t>& order,
                              std::span<const TickState> jobs, const TickOptions& options) {
    const auto nodes = static_cast<std::size_t>(options.nodes);
    SearchProblem problem{.nodes = options.nodes,
                          .gpus_per_node = options.gpus_per_node,
                          .avoids_interference = options_.avoids_interference,
                          .present = GpuMatrix(order.size() * nodes, 0)};
    const int count = static_cast<int>(order.size());
    const int fair_gpus = (options.gpus() + count - 1) / count;
    std::vector<double> base;
    for (std::size_t row = 0; row < order.size(); ++row) {
      const TickState& state = jobs[order[row]];
      const auto age_s = static_cast<double>(now_s - state.job->submit_s);
      problem.jobs.push_back({.most_gpus = most_gpus(state),
                              .restart_factor = std::max(age_s - kDelay_s * state.restarts(), 0.0) /
                                                (age_s + kDelay_s)});
      for (const NodeShare& share : state.shares) {
        problem.present[row * nodes + static_cast<std::size_t>(share.node)] =
            static_cast<std::uint8_t>(share.gpus);
      }
      // Always of one node, also where the share is larger than a node.
      base.push_back(state.model ? book_.goodput(order[row], state, 1, fair_gpus) : fair_gpus);
    }
    problem.speedup = [this, order, jobs, base = std::move(base)](std::size_t row, int on,
                                                                  int gpus) {
      const TickState& state = jobs[order[row]];
      return (state.model ? book_.goodput(order[row], state, on, gpus) : gpus) / base[row];
    };
    return problem;
  }

  static int most_gpus(const TickState& state) {
    const Application& application = *state.job->application;
    if (application.name == "ncf") return 1;
    return std::min({std::max(2 * state.most_gpus_seen(), 1), kMostGpus,
                     application.max_batch / application.min_local_batch});
  }

  /// The last front on the jobs of now, or how things are.
  std::vector<GpuMatrix> remembered(const std::vector<std::size_t>& order,
                                    const SearchProblem& problem) const {
    if (last_front_.empty()) return {problem.present};
    const auto nodes = static_cast<std::size_t>(problem.nodes);
    std::map<std::size_t, std::size_t> last_row;
    for (std::size_t row = 0; row < last_order_.size(); ++row) last_row[last_order_[row]] = row;
    std::vector<GpuMatrix> made;
    for (const GpuMatrix& last : last_front_) {
      GpuMatrix& matrix = made.emplace_back(order.size() * nodes, std::uint8_t{0});
      for (std::size_t row = 0; row < order.size(); ++row) {
        const auto found = last_row.find(order[row]);
        if (found == last_row.end()) continue;
        std::copy_n(last.begin() + static_cast<std::ptrdiff_t>(found->second * nodes), nodes,
                    matrix.begin() + static_cast<std::ptrdiff_t>(row * nodes));
      }
    }
    return made;
  }

  PolluxOptions options_;
  Rng random_;
  GoodputBook book_;
  std::vector<GpuMatrix> last_front_;
  std::vector<std::size_t> last_order_;
};

}  // namespace

std::unique_ptr<TickPolicy> make_pollux(PolluxOptions options) {
  return std::make_unique<Pollux>(options);
}

}  // namespace almanac::elastic
