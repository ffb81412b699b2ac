// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/scored_placement.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/instances.h"
#include "policy/kit/node_images.h"
#include "policy/kit/placer.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

using fragment::Choice;
using fragment::Mix;
using fragment::Request;

constexpr std::int32_t kNoFit = std::numeric_limits<std::int32_t>::min();

/// Most kinds to remember: in some logs hardly two jobs are equal.
constexpr std::size_t kMostKinds = 1024;

/// A request in a virtual cluster.
struct Kind {
  VcId vc{};
  Request request{};

  bool operator==(const Kind&) const = default;
};

struct HashKind {
  std::size_t operator()(const Kind& kind) const {
    std::uint64_t hash = index(kind.vc);
    const auto mix_in = [&](std::uint64_t value) {
      hash = (std::rotl(hash, 5) ^ value) * 0x9e3779b97f4a7c15ULL;
    };
    const Request& asked = kind.request;
    mix_in(static_cast<std::uint64_t>(asked.cpu_milli));
    mix_in(static_cast<std::uint64_t>(asked.memory_mib));
    mix_in(static_cast<std::uint64_t>(asked.gpus * fragment::kWhole + asked.gpu_milli));
    mix_in(asked.models);
    return hash;
  }
};

/// What it scores on the nodes of its virtual cluster.
struct Scores {
  std::size_t first = 0;               // node
  std::uint64_t looks = 0;             // NodeImages::looks() when they were worked out
  std::vector<std::int32_t> scores{};  // of each node from `first` on; kNoFit
};

class ScoredPlacement final : public Placement {
 public:
  ScoredPlacement(std::unique_ptr<fragment::Rule> rule, const Host& host)
      : rule_(std::move(rule)),
        larger_(registry().placements.make("consolidate", host)),
        mix_(host.mix),
        learns_(rule_->reads_outlook() && mix_ == nullptr) {
    if (mix_ == nullptr) mix_ = std::make_shared<Mix>();
  }

  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.profile != slices::kNoProfile && rule_->reads_outlook()) {
      return place_instances(ledger, vc, demand, grants);
    }
    // The rules know no memory of GPUs.
    if (demand.profile != slices::kNoProfile || (demand.is_part() && demand.gpu_memory_mb > 0)) {
      return place_part(*larger_, ledger, vc, demand, rng, grants);
    }
    const bool is_plain = demand.tasks == 1 && demand.gpu_types == fragment::kAnyModel;
    if (demand.is_cpu_job() && !is_plain) {
      return larger_->place(ledger, vc, demand, rng, grants);
    }
    images_.look(ledger);
    if (kinds_.empty()) add_up_wanted(ledger);
    const Request request = request_of(demand);
    const std::size_t node = find(ledger, {vc, request}, rng);
    if (node == kNone) {
      return !demand.is_part() && larger_->place(ledger, vc, demand, rng, grants);
    }
    const NodeId id{static_cast<std::uint32_t>(node)};
    if (demand.is_part()) {
      const cluster::Grant grant{.node = id,
                                 .gpu_milli = demand.gpu_milli,
                                 .gpus = choose_gpu(node, request, rng),
                                 .cpu_milli = demand.cpu_milli,
                                 .memory_mb = demand.memory_mb};
      ledger.take(grant);
      grants.push_back(grant);
    } else {
      grants.push_back(ledger.take(id, demand.total()));
    }
    return true;
  }
  bool places_parts() const override { return true; }
  bool draws() const override { return rule_->draws(); }
  void expect(const cluster::Demand& demand) override {
    instances_.add(demand);
    if (!learns_ || demand.profile != slices::kNoProfile) return;
    seen_.add(pod_of(demand));
    // Here and not where it is asked: to ask where a job would go must change nothing.
    if (seen_.pods() >= next_mix_) renew_mix();
  }
  Footprint footprint(const cluster::Demand& demand, const cluster::Pool& pool) const override {
    return larger_->footprint(demand, pool);
  }
  bool keeps_together(const cluster::Demand& demand,
                      std::span<const cluster::Pool> pools) const override {
    return larger_->keeps_together(demand, pools);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Places the requested number of instances, one by one.
  bool place_instances(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                       std::vector<cluster::Grant>& grants) const {
    const std::size_t before = ledger.mark();
    const std::size_t had = grants.size();
    for (int placed = 0; placed < demand.gpus; ++placed) {
      if (place_instance(instances_, ledger, vc, demand, grants)) continue;
      ledger.undo(before);
      grants.resize(had);
      return false;
    }
    return true;
  }

  void renew_mix() {
    mix_ = std::make_shared<Mix>(seen_.mix());
    next_mix_ = seen_.pods() + seen_.pods() / 2 + 1;
    kinds_.clear();
    unusable_.clear();
  }

  /// The node for it; kNone = it fits on none.
  std::size_t find(const cluster::Ledger& ledger, const Kind& kind, Rng& rng) const {
    Scores& its = scores_of(ledger, kind);
    std::size_t best = kNone;
    std::int32_t largest = kNoFit;
    std::size_t fitting = 0;
    for (std::size_t at = 0; at < its.scores.size(); ++at) {
      std::int32_t& score = its.scores[at];
      const std::size_t node = its.first + at;
      if (images_.changed_at(node) > its.looks) score = score_on(node, kind.request);
      fitting += score == kNoFit ? 0 : 1;
      if (score <= largest) continue;
      largest = score;
      best = node;
    }
    its.looks = images_.looks();
    if (fitting == 0 || !rule_->draws()) return best;
    std::size_t drawn = rng.below(fitting);
    for (std::size_t at = 0;; ++at) {
      if (its.scores[at] != kNoFit && drawn-- == 0) return its.first + at;
    }
  }

  Scores& scores_of(const cluster::Ledger& ledger, const Kind& kind) const {
    if (const auto known = kinds_.find(kind); known != kinds_.end()) return known->second;
    if (kinds_.size() >= kMostKinds) kinds_.clear();
    Scores& added = kinds_[kind];
    std::size_t last = 0;
    added.first = images_.size();
    for (const cluster::Pool& pool : ledger.pools(kind.vc)) {
      if (pool.nodes.empty()) continue;
      added.first = std::min(added.first, index(pool.nodes.front()));
      last = std::max(last, index(pool.nodes.back()) + 1);
    }
    added.scores.resize(last - std::min(last, added.first));
    return added;
  }

  std::int32_t score_on(std::size_t node, const Request& request) const {
    if (!fragment::fits(images_[node], request)) return kNoFit;
    return choose(node, request).score;
  }
  Choice choose(std::size_t node, const Request& request) const {
    if (!rule_->reads_outlook()) return rule_->choose(images_[node], request, {*mix_});
    unusable_.resize(images_.size());
    Unusable& known = unusable_[node];
    if (known.looks <= images_.changed_at(node)) {
      known = {images_.looks() + 1, mix_->unusable(images_[node])};
    }
    const fragment::Models model = images_[node].model;
    const double wanted =
        model == 0 ? 0 : wanted_[static_cast<std::size_t>(std::countr_zero(model))];
    return rule_->choose(images_[node], request, {*mix_, known.milli, wanted});
  }

  /// How much each model is wanted by jobs that accept only some.
  void add_up_wanted(const cluster::Ledger& ledger) const {
    std::array<double, cluster::kMaxGpuTypes> gpus{};
    std::uint64_t models = 0;
    for (std::uint32_t node = 0; node < ledger.num_nodes(); ++node) {
      const cluster::Pool& pool = ledger.pool(NodeId{node});
      if (pool.gpus_per_node == 0) continue;
      gpus[static_cast<std::size_t>(std::countr_zero(pool.gpu_type))] += pool.gpus_per_node;
      models |= pool.gpu_type;
    }
    wanted_ = {};
    for (const Mix::Kind& kind : mix_->kinds()) {
      if (kind.request.gpus == 0 || (models & ~kind.request.models) == 0) continue;
      double those = 0;
      for (std::size_t model = 0; model < gpus.size(); ++model) {
        if ((kind.request.models >> model & 1) != 0) those += gpus[model];
      }
      for (std::size_t model = 0; model < gpus.size() && those > 0; ++model) {
        if ((kind.request.models >> model & 1) != 0) wanted_[model] += kind.frequency / those;
      }
    }
    const double most = *std::max_element(wanted_.begin(), wanted_.end());
    for (double& each : wanted_) each = most > 0 ? each / most : 0;
  }

  fragment::Gpus choose_gpu(std::size_t node, const Request& request, Rng& rng) const {
    if (!rule_->draws()) return choose(node, request).gpus;
    std::vector<int> fitting;
    for (int gpu = 0; gpu < images_[node].gpus; ++gpu) {
      const int free = images_[node].free_milli[static_cast<std::size_t>(gpu)];
      if (free >= request.gpu_milli) fitting.push_back(gpu);
    }
    return fragment::Gpus{1} << fitting[rng.below(fitting.size())];
  }

  /// What the mix says of a node, as of a look.
  struct Unusable {
    std::uint64_t looks = 0;  // one more than its number
    double milli = 0;
  };

  std::unique_ptr<fragment::Rule> rule_;
  std::unique_ptr<Placement> larger_;
  std::shared_ptr<const Mix> mix_;
  bool learns_;
  fragment::Tally seen_;  // where it learns
  InstanceMix instances_;
  std::int64_t next_mix_ = 1;  // as of so many pods
  mutable NodeImages images_;
  mutable std::unordered_map<Kind, Scores, HashKind> kinds_;
  mutable std::vector<Unusable> unusable_;
  mutable std::array<double, cluster::kMaxGpuTypes> wanted_{};  // of each type of GPU, 0 to 1
};

}  // namespace

std::unique_ptr<Placement> make_scored_placement(std::unique_ptr<fragment::Rule> rule,
                                                 const Host& host) {
  return std::make_unique<ScoredPlacement>(std::move(rule), host);
}

}  // namespace almanac::policy
