// SPDX-License-Identifier: Apache-2.0
#include "fragment/rule.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace almanac::fragment {
namespace {

/// The largest node of the published cluster, by which scores are scaled whatever the node.
constexpr double kCpuMilli = 128'000;
constexpr double kGpuMilli = 8'000;

class Random final : public Rule {
  Choice choose(const Node&, const Request&, double) const override { return {}; }
  bool draws() const override { return true; }
};

/// The least alignment of what is left with what is asked: large nodes are kept.
class DotProduct final : public Rule {
  Choice choose(const Node& node, const Request& request, double) const override {
    const double cores = static_cast<double>(node.cpu_milli) / kCpuMilli *
                         (static_cast<double>(request.cpu_milli) / kCpuMilli);
    const double gpus = node.total_free() / kGpuMilli * (request.total_milli() / kGpuMilli);
    return {static_cast<std::int32_t>(100 * (1 - (cores + gpus) / 2)), tightest(node, request)};
  }
};

/// Pods of as many GPUs beside each other.
class Clustering final : public Rule {
  Choice choose(const Node& node, const Request& request, double) const override {
    if (request.gpus == 0) return {};
    const auto of = static_cast<std::size_t>(request.shares() ? 0 : request.gpus);
    int classes = 0;
    for (const std::int16_t pods : node.held) classes += pods > 0 ? 1 : 0;
    int score = static_cast<int>(std::floor(25 * (kGpuMilli - node.total_free()) / kGpuMilli));
    if (node.held[of] > 0) {
      score += classes == 1 ? 75 : 50;
    } else if (classes == 0) {
      score += 25;
    }
    return {score, tightest(node, request)};
  }
};

/// GPUs that are open already before free ones, free ones of nodes in use before idle nodes.
class Packing final : public Rule {
  Choice choose(const Node& node, const Request& request, double) const override {
    if (request.gpus == 0) return {};
    const Gpus gpus = tightest(node, request);
    const int free = node.wholly_free();
    if (free == node.gpus) return {std::max(33 - free, free), gpus};
    int opened = 0;
    int left = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      if ((gpus >> gpu & 1U) == 0) continue;
      const int milli = node.free_milli[static_cast<std::size_t>(gpu)];
      opened += milli == kWhole ? 1 : 0;
      left += milli * 100 / kWhole;
    }
    return {opened > 0 ? std::max(50 - opened, 33) : std::max(100 - left / 10, 50), gpus};
  }
};

/// The node with the least left.
class BestFit final : public Rule {
  Choice choose(const Node& node, const Request& request, double) const override {
    const double cores = static_cast<double>(node.cpu_milli - request.cpu_milli) / kCpuMilli;
    const double gpus = (node.total_free() - request.total_milli()) / kGpuMilli;
    return {static_cast<std::int32_t>(100 * (1 - (0.5 * cores + 0.5 * gpus))),
            tightest(node, request)};
  }
};

/// Where fragments grow least. `Exact` compares the growth itself; the published program compares
/// whole percents of its sigmoid, and is the better for it.
template <bool Exact>
class Gradient final : public Rule {
 public:
  explicit Gradient(const Mix& mix) : mix_(&mix) {}

 private:
  bool reads_unusable() const override { return true; }
  Choice choose(const Node& node, const Request& request, double unusable) const override {
    if (!request.shares()) {
      const Gpus gpus = tightest(node, request);
      return {score(node, request, gpus, unusable), gpus};
    }
    Choice best{-1, 0};
    std::array<std::int16_t, kMaxGpus> seen{};  // GPUs with as much left are alike
    std::size_t distinct = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const std::int16_t milli = node.free_milli[static_cast<std::size_t>(gpu)];
      const auto end = seen.begin() + static_cast<std::ptrdiff_t>(distinct);
      if (milli < request.gpu_milli || std::find(seen.begin(), end, milli) != end) continue;
      seen[distinct++] = milli;
      const Choice choice{score(node, request, Gpus{1} << gpu, unusable), Gpus{1} << gpu};
      if (choice.score > best.score) best = choice;
    }
    return best;
  }
  std::int32_t score(const Node& node, const Request& request, Gpus gpus, double before) const {
    Node after = node;
    take(after, request, gpus);
    const double less = before - mix_->unusable(after);
    if constexpr (Exact) return static_cast<std::int32_t>(std::lround(1e9 + 1e4 * less));
    return static_cast<std::int32_t>(100 / (1 + std::exp(-less / kWhole)));
  }

  const Mix* mix_;
};

template <typename Kind>
std::unique_ptr<Rule> plain(const Mix&) {
  return std::make_unique<Kind>();
}
template <bool Exact>
std::unique_ptr<Rule> gradient(const Mix& mix) {
  return std::make_unique<Gradient<Exact>>(mix);
}

constexpr std::array kRules{
    RuleEntry{"Random", "a node drawn from those that fit, a GPU likewise", plain<Random>},
    RuleEntry{"DotProd", "least alignment of what is left with what is asked", plain<DotProduct>},
    RuleEntry{"GpuClustering", "beside pods of as many GPUs", plain<Clustering>},
    RuleEntry{"GpuPacking", "open GPUs first, idle nodes last", plain<Packing>},
    RuleEntry{"BestFit", "the node with the least left", plain<BestFit>},
    RuleEntry{"FGD", "where fragments grow least, in whole percents", gradient<false>},
    RuleEntry{"fgd_exact", "where fragments grow least, not rounded", gradient<true>},
};

}  // namespace

std::span<const RuleEntry> rules() { return kRules; }

const RuleEntry* find_rule(std::string_view name) {
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const RuleEntry& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace almanac::fragment
