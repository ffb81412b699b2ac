// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `power`: keeps as many nodes on as the capacity of the policy says (ces_venus,
/// follow_load, standby), by the manager's own power saving.
///
/// The manager itself powers up the nodes of a job that it starts. The lever powers nodes down as
/// policy/kit/pipeline/node_keeper.h does, and up when the capacity wants more. It ignores nodes
/// that somebody else has powered down. What the capacity has learned is lost when the service
/// ends.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/registry.h"
#include "policy/slots.h"
#include "steer/claims.h"
#include "steer/lever_registry.h"
#include "steer/node_commands.h"
#include "steer/node_weight.h"
#include "steer/reservations.h"
#include "steer/scope.h"

namespace almanac::steer::lever {
namespace {

using manager::Power;
using policy::kCapacityPeriod;
using NodeNames = std::set<std::string>;

constexpr const char* kGivenBack = "power is not on";
/// So long the manager may take to show what a node weighs.
constexpr Duration kShows = 10s;

std::string in_words(const Action& action) {
  if (const auto* const weighed = std::get_if<WeightChange>(&action.change)) {
    return fmt::format("{} (weight {})", fmt::join(weighed->nodes, ","), weighed->weight);
  }
  return fmt::format("{} (asleep)", fmt::join(std::get<PowerChange>(action.change).nodes, ","));
}

bool is_on(const manager::Node& node) {
  return node.power == Power::on || node.power == Power::powering_up;
}

/// What there is to power, at one look.
struct Nodes {
  policy::NodeUse use{};
  std::vector<NodeNames> idle{};    ///< That may sleep, by virtual cluster.
  std::vector<NodeNames> asleep{};  ///< By us, the same.
  std::vector<int> spare{};         ///< On, or nearly so, and without a job; the same.
};

class PowerLever final : public Lever {
 public:
  std::optional<std::string> obstacle(const manager::Site& site,
                                      const manager::Abilities& can) const override {
    if (site.is_operator == false) return "Almanac has no operator rights on this Slurm cluster";
    if (!can.power) return "this connection to Slurm cannot power nodes up or down";
    if (!site.facts.power_obstacle.empty()) return site.facts.power_obstacle;
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    take_capacity(scene.policy);
    notice(scene);
    std::vector<Action> made = weigh(scene, true);
    if (capacity_ == nullptr) return made;
    const Nodes nodes = look(scene);
    most_used_ = std::max(most_used_, nodes.use.used);
    const Time now = scene.mirror.at();
    if (asked_ == kNoTime || now - asked_ >= kCapacityPeriod) {
      if (asked_ != kNoTime) ask(nodes, scene.settings.power);
      asked_ = Time{now.time_since_epoch() / kCapacityPeriod * kCapacityPeriod};
    }
    add_wakes(made, nodes, scene);
    add_sleeps(made, nodes, scene);
    return made;
  }

  std::vector<Action> let_go(const Scene& scene) override {
    capacity_.reset();
    capacity_name_.clear();
    to_sleep_.clear();
    to_wake_.clear();
    notice(scene);
    std::vector<Action> made = weigh(scene, false);
    const std::vector<std::string> off =
        commands_.due(scene.claims->of<PowerChange>().asleep(scene.mirror), true);
    if (!off.empty()) made.push_back({PowerChange{off, true}, kGivenBack});
    left_.clear();
    if (scene.can.power) return made;
    for (const Action& each : made) left_ += (left_.empty() ? "" : "; ") + in_words(each);
    return {};
  }

  void hear(const Change& made, const Outcome& outcome) override {
    if (const auto* const weighed = std::get_if<WeightChange>(&made)) {
      for (const std::string& each : weighed->nodes) weighed_[each] = commands_.now();
      return;
    }
    const auto& change = std::get<PowerChange>(made);
    commands_.given(change.nodes, change.on);
    if (!outcome || !change.on) return;
    for (std::size_t at = 0; at < change.nodes.size(); ++at) woken_.push_back(commands_.now());
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> made = commands_.warnings();
    if (is_idle_) {
      made.push_back(
          fmt::format("lever power: policy {} keeps every node on; choose another capacity, as in "
                      "{}+ces_venus",
                      policy_, policy_));
    }
    return made;
  }

  std::vector<std::string> left() const override {
    if (left_.empty()) return {};
    return {fmt::format(
        "lever power: this connection to Slurm cannot restore {}: stop the service, then run "
        "almanac slurm undo --way commands; or use scontrol reconfigure (weights) and scontrol "
        "update NodeName=... State=POWER_UP",
        left_)};
  }

 private:
  void take_capacity(const Chosen& policy) {
    policy_ = policy.composition.name;
    if (capacity_name_ != policy.capacity.name) {
      capacity_name_ = policy.capacity.name;
      capacity_ = policy::registry().capacities.make(policy.capacity);
      asked_ = kNoTime;
      most_used_ = 0;
    }
    is_idle_ = capacity_ == nullptr;
  }

  /// What is not on weighs more (node_weight.h); without `steers` nothing does.
  std::vector<Action> weigh(const Scene& scene, bool steers) const {
    std::map<std::uint32_t, std::vector<std::string>> becomes;
    for (const auto& [name, node] : scene.mirror.nodes()) {
      const std::uint32_t usual = usual_weight(node);
      const bool may_weigh = steers && usual < kTooHeavy && is_in_scope(node, scene.settings);
      const std::uint32_t wanted = may_weigh ? usual | burden(node) : usual;
      const auto told = weighed_.find(name);
      const bool is_told = told != weighed_.end() && scene.mirror.at() - told->second < kShows;
      if (wanted != node.weight && !is_told) becomes[wanted].push_back(name);
    }
    std::vector<Action> made;
    for (auto& [weight, nodes] : becomes) {
      const char* const why = !steers            ? kGivenBack
                              : weight >= kBoots ? "jobs should start on nodes that are on"
                                                 : "they are on";
      made.push_back({WeightChange{std::move(nodes), weight}, why});
    }
    return made;
  }

  /// Returns the weight added to the node's own.
  static std::uint32_t burden(const manager::Node& node) {
    if (node.power == Power::on || node.power == Power::to_power_down) return 0;
    return node.power == Power::powering_up ? kBoots : kSleeps;
  }

  /// Virtual clusters where jobs wait keep their idle nodes, and so do jobs that are to start.
  static NodeNames needed(const Scene& scene) {
    NodeNames made;
    const World& world = *scene.decision.world;
    for (const Decision::Start& start : scene.decision.starts) {
      for (const cluster::Grant& grant : start.held) {
        made.insert(world.cluster.nodes[index(grant.node)].name);
      }
    }
    for (const auto& [name, id] : world.nodes) {
      const VcId vc = world.cluster.nodes[index(id)].vc;
      if (!scene.decision.lines[index(vc)].jobs.empty()) made.insert(name);
    }
    return made;
  }

  Nodes look(const Scene& scene) const {
    const World& world = *scene.decision.world;
    const Duration back = scene.site.facts.power_cycle;
    const NodeNames needed_ones = needed(scene);
    NodeNames held;
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (!holds_nodes(job)) continue;
      for (const manager::Held& each : job.holds) held.insert(each.node);
    }
    Nodes made{.use = {.now = scene.mirror.at()}};
    for (auto* const of : {&made.idle, &made.asleep}) of->resize(world.cluster.vcs.size());
    made.spare.resize(world.cluster.vcs.size());
    NodeNames ours;
    for (std::string& each : scene.claims->of<PowerChange>().asleep(scene.mirror))
      ours.insert(std::move(each));
    for (const auto& [name, node] : scene.mirror.nodes()) {
      const NodeId id = world.node(name);
      if (id == kNoNode || node.drained || node.reserved) continue;
      if (!is_in_scope(node, scene.settings)) continue;
      const bool works = node.busy || held.contains(name);
      const bool on = is_on(node);
      ++made.use.total;
      made.use.on += on ? 1 : 0;
      made.use.used += works ? 1 : 0;
      const std::size_t vc = index(world.cluster.nodes[index(id)].vc);
      made.spare[vc] += on && !works ? 1 : 0;
      const bool may_sleep = node.power == Power::on && !works && !needed_ones.contains(name) &&
                             !is_due(name, scene.mirror, back);
      if (may_sleep) made.idle[vc].insert(name);
      if (ours.contains(name)) made.asleep[vc].insert(name);
    }
    return made;
  }

  /// What has become of commands, and whether the manager woke nodes for a job.
  void notice(const Scene& scene) {
    commands_.look(scene.mirror, scene.site.facts.power_cycle);
    bool woke = false;
    for (const auto& [name, node] : scene.mirror.nodes()) {
      const auto before = power_.find(name);
      const bool was_off = before != power_.end() && before->second == Power::off;
      woke = woke || (was_off && is_on(node) && !to_wake_.contains(name));
      power_[name] = node.power;
    }
    if (!woke || capacity_ == nullptr) return;
    capacity_->woken();
    spare_ += capacity_->spare();
  }

  void ask(const Nodes& nodes, const PowerSettings& settings) {
    policy::NodeUse use = nodes.use;
    use.used = std::exchange(most_used_, nodes.use.used);
    wanted_ =
        std::clamp(capacity_->nodes_on(use), std::min(settings.minimum_on, use.total), use.total);
    to_sleep_.clear();
    to_wake_.clear();
    std::vector<NodeNames> idle = nodes.idle;
    for (int count = use.on - wanted_; count > 0; --count) {
      const auto most =
          std::max_element(idle.begin(), idle.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
      if (most == idle.end() || most->empty()) break;
      to_sleep_.insert(*most->rbegin());
      most->erase(std::prev(most->end()));
    }
    wake(nodes, wanted_ - use.on);
  }

  /// Each where the fewest are idle.
  void wake(const Nodes& nodes, int count) {
    std::vector<NodeNames> asleep = nodes.asleep;
    std::vector<int> spare = nodes.spare;
    for (; count > 0; --count) {
      std::size_t least = asleep.size();
      for (std::size_t vc = 0; vc < asleep.size(); ++vc) {
        for (const std::string& each : to_wake_) asleep[vc].erase(each);
        if (asleep[vc].empty()) continue;
        if (least == asleep.size() || spare[vc] < spare[least]) least = vc;
      }
      if (least == asleep.size()) return;
      to_wake_.insert(*asleep[least].begin());
      ++spare[least];
    }
  }

  void add_wakes(std::vector<Action>& made, const Nodes& nodes, const Scene& scene) {
    wake(nodes, std::exchange(spare_, 0));
    for (const NodeNames& each : nodes.asleep) {
      for (const std::string& name : each) {
        if (is_due(name, scene.mirror, scene.site.facts.power_cycle)) to_wake_.insert(name);
      }
    }
    std::erase_if(to_wake_, [&](const std::string& name) {
      const auto found = scene.mirror.nodes().find(name);
      return found == scene.mirror.nodes().end() || is_on(found->second);
    });
    const Time now = scene.mirror.at();
    std::erase_if(woken_, [&](Time at) { return at <= now - 1min; });
    const auto most = scene.settings.power.wakes_per_minute - static_cast<int>(woken_.size());
    std::vector<std::string> names = commands_.due({to_wake_.begin(), to_wake_.end()}, true);
    names.resize(std::min(names.size(), static_cast<std::size_t>(std::max(0, most))));
    if (names.empty()) return;
    made.push_back({PowerChange{std::move(names), true},
                    fmt::format("{1} keeps {0} nodes on", wanted_, capacity_name_)});
  }

  void add_sleeps(std::vector<Action>& made, const Nodes& nodes, const Scene& scene) {
    NodeNames idle;
    for (const NodeNames& each : nodes.idle) idle.insert(each.begin(), each.end());
    std::erase_if(to_sleep_, [&](const std::string& name) {
      const auto found = scene.mirror.nodes().find(name);
      return found == scene.mirror.nodes().end() || found->second.power != Power::on;
    });
    std::vector<std::string> names;
    for (const std::string& each : to_sleep_) {
      if (idle.contains(each)) names.push_back(each);
    }
    names = commands_.due(names, false);
    const int most = nodes.use.on - wanted_;
    names.resize(std::min(names.size(), static_cast<std::size_t>(std::max(0, most))));
    if (names.empty()) return;
    made.push_back({PowerChange{std::move(names), false},
                    fmt::format("{1} keeps {0} nodes on", wanted_, capacity_name_)});
  }

  std::string left_;  // that this way cannot give back, in words
  std::string policy_;
  std::string capacity_name_;
  std::unique_ptr<policy::Capacity> capacity_;
  bool is_idle_ = false;
  Time asked_ = kNoTime;
  int most_used_ = 0;  // nodes, since it was asked
  int wanted_ = 0;     // that are to be on, when it was asked last
  int spare_ = 0;      // to be woken in addition to those that the manager woke
  NodeNames to_sleep_;
  NodeNames to_wake_;
  NodeCommands commands_;
  std::deque<Time> woken_;  // by us, within the last minute
  std::map<std::string, Power> power_;
  std::map<std::string, Time> weighed_;  // when that was told last
};

}  // namespace

void register_power(LeverRegistry& registry) {
  registry.add({.name = "power", .priority = 70, .make = [](const LeverParts&) {
                  return std::make_unique<PowerLever>();
                }});
}

}  // namespace almanac::steer::lever
