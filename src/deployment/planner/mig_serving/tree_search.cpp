// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/mig_serving/tree_search.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace almanac::deployment::planner {
namespace {

constexpr std::size_t kEdges = 10;   // of a node
constexpr std::size_t kDrawnOf = 3;  // candidates for a GPU of a random plan

/// What services lack after the GPUs on the way here.
struct SearchNode {
  Lacking lacking{};
  std::vector<ServedGpu> edges{};
  std::vector<std::size_t> children{};  ///< The first edges have been tried.
  double visits = 0, worth = 0;
};

class TreeSearch {
 public:
  TreeSearch(const MigCase& asked, const std::vector<ServedGpu>& kept, std::size_t below, Rng& rng)
      : asked_(asked), kept_(kept.size()), below_(below), rng_(rng) {
    nodes_.push_back(node(asked.lacking(kept)));
    least_ = kept_ + asked.least_gpus(nodes_.front().lacking);
  }

  std::optional<std::vector<ServedGpu>> run(int tries) {
    for (int each = 0; each < tries && least_ < below_; ++each) play();
    return std::move(best_);
  }

 private:
  SearchNode node(Lacking lacking) const {
    SearchNode made{.lacking = std::move(lacking)};
    if (MigCase::is_done(made.lacking)) return made;
    if (auto last = asked_.last_gpu(made.lacking)) {
      made.edges.push_back(*std::move(last));  // no other edge is better
    } else {
      made.edges = asked_.best_gpus(made.lacking, kEdges);
    }
    return made;
  }

  void play() {
    std::vector<std::size_t> path{0};
    std::vector<ServedGpu> plan;
    while (!nodes_[path.back()].edges.empty()) {
      const std::size_t at = path.back();
      const std::size_t tried = nodes_[at].children.size();
      const bool is_new = tried < nodes_[at].edges.size();
      const std::size_t edge = is_new ? tried : most_promising(nodes_[at]);
      plan.push_back(nodes_[at].edges[edge]);
      if (is_new) {
        Lacking left = nodes_[at].lacking;
        asked_.give(plan.back(), left);
        nodes_[at].children.push_back(nodes_.size());
        nodes_.push_back(node(std::move(left)));
      }
      path.push_back(nodes_[at].children[edge]);
      if (is_new) break;
    }
    complete(nodes_[path.back()].lacking, plan);
    const std::size_t gpus = kept_ + plan.size();
    const double worth = static_cast<double>(least_) / static_cast<double>(gpus);
    for (const std::size_t each : path) {
      ++nodes_[each].visits;
      nodes_[each].worth += worth;
    }
    if (gpus < below_) {
      below_ = gpus;
      best_ = std::move(plan);
    }
  }

  /// By the upper confidence bound of its worth.
  std::size_t most_promising(const SearchNode& from) const {
    constexpr double kExplore = 0.2;
    std::size_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t each = 0; each < from.children.size(); ++each) {
      const SearchNode& child = nodes_[from.children[each]];
      const double bound =
          child.worth / child.visits + kExplore * std::sqrt(std::log(from.visits) / child.visits);
      if (bound > most) {
        most = bound;
        best = each;
      }
    }
    return best;
  }

  /// Adds random GPUs until no service lacks anything.
  void complete(Lacking lacking, std::vector<ServedGpu>& plan) {
    while (!MigCase::is_done(lacking)) {
      auto next = asked_.last_gpu(lacking);
      if (!next) {
        auto drawn = asked_.best_gpus(lacking, kDrawnOf);
        next = std::move(drawn[rng_.below(drawn.size())]);
      }
      asked_.give(*next, lacking);
      plan.push_back(*std::move(next));
    }
  }

  const MigCase& asked_;
  std::size_t kept_, below_, least_ = 0;
  Rng& rng_;
  std::vector<SearchNode> nodes_;
  std::optional<std::vector<ServedGpu>> best_;
};

}  // namespace

std::optional<std::vector<ServedGpu>> tree_search(const MigCase& asked,
                                                  const std::vector<ServedGpu>& kept,
                                                  std::size_t below, int tries, Rng& rng) {
  return TreeSearch(asked, kept, below, rng).run(tries);
}

}  // namespace almanac::deployment::planner
