// SPDX-License-Identifier: Apache-2.0
#include "fragment/fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace almanac::fragment {

Fill::Fill(std::span<const Node> nodes, std::span<const std::int32_t> ranks, const Mix& mix,
           const Rule& rule, std::uint64_t seed)
    : given_(nodes.size()),
      position_(nodes.size()),
      unusable_(nodes.size(), std::numeric_limits<double>::quiet_NaN()),
      last_change_(nodes.size(), 0),
      mix_(&mix),
      rule_(&rule),
      rng_(seed) {
  ALMANAC_CHECK(ranks.size() == nodes.size(), "{} ranks of {} nodes", ranks.size(), nodes.size());
  std::iota(given_.begin(), given_.end(), std::size_t{0});
  std::stable_sort(given_.begin(), given_.end(),
                   [&](std::size_t one, std::size_t other) { return ranks[one] < ranks[other]; });
  for (std::size_t at = 0; at < given_.size(); ++at) {
    position_[given_[at]] = at;
    nodes_.push_back(nodes[given_[at]]);
  }
}

std::optional<Fill::Place> Fill::place(const Request& request) {
  Scores& scores = scores_of(request);
  refresh(scores);
  const std::optional<std::size_t> at = best(scores);
  if (!at) return std::nullopt;
  Node& node = nodes_[*at];
  const Gpus gpus = rule_->draws() ? draw_gpus(node, request)
                                   : rule_->choose(node, request, unusable_at(*at)).gpus;
  take(node, request, gpus);
  unusable_[*at] = std::numeric_limits<double>::quiet_NaN();
  changes_.push_back(*at);
  last_change_[*at] = changes_.size();
  return Place{given_[*at], gpus};
}

double Fill::unusable() {
  double sum = 0;
  for (std::size_t node = 0; node < nodes_.size(); ++node) sum += unusable_at(position_[node]);
  return sum;
}

Fill::Scores& Fill::scores_of(const Request& request) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const Scores& scores) { return scores.request == request; });
  if (known != kinds_.end()) return *known;
  Scores& added = kinds_.emplace_back(Scores{.request = request, .seen = changes_.size()});
  added.scores.reserve(nodes_.size());
  for (std::size_t at = 0; at < nodes_.size(); ++at) added.scores.push_back(score(at, request));
  return added;
}

void Fill::refresh(Scores& scores) {
  for (; scores.seen < changes_.size(); ++scores.seen) {
    const std::size_t at = changes_[scores.seen];
    // What changed again later is looked at then.
    if (last_change_[at] != scores.seen + 1) continue;
    // Nothing ever becomes free.
    if (scores.scores[at] != kNoFit) scores.scores[at] = score(at, scores.request);
  }
}

std::int32_t Fill::score(std::size_t at, const Request& request) {
  const Node& node = nodes_[at];
  if (!fits(node, request)) return kNoFit;
  return rule_->choose(node, request, rule_->reads_unusable() ? unusable_at(at) : 0).score;
}

double Fill::unusable_at(std::size_t at) {
  if (std::isnan(unusable_[at])) unusable_[at] = mix_->unusable(nodes_[at]);
  return unusable_[at];
}

std::optional<std::size_t> Fill::best(const Scores& scores) {
  if (rule_->draws()) {
    std::vector<std::size_t> fitting;
    for (std::size_t at = 0; at < scores.scores.size(); ++at) {
      if (scores.scores[at] != kNoFit) fitting.push_back(at);
    }
    if (fitting.empty()) return std::nullopt;
    return fitting[rng_.below(fitting.size())];
  }
  std::int32_t largest = kNoFit;
  for (const std::int32_t score : scores.scores) largest = std::max(largest, score);
  if (largest == kNoFit) return std::nullopt;
  const auto first = std::find(scores.scores.begin(), scores.scores.end(), largest);
  return static_cast<std::size_t>(first - scores.scores.begin());
}

Gpus Fill::draw_gpus(const Node& node, const Request& request) {
  if (request.gpus != 1) return tightest(node, request);
  std::array<int, kMaxGpus> fitting{};
  std::size_t count = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    if (node.free_milli[static_cast<std::size_t>(gpu)] >= request.gpu_milli) fitting[count++] = gpu;
  }
  return Gpus{1} << fitting[rng_.below(count)];
}

}  // namespace almanac::fragment
