// SPDX-License-Identifier: Apache-2.0
#include "steer/placement_lever.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "slurm/host_list.h"
#include "steer/chosen_nodes.h"
#include "steer/mark.h"
#include "steer/order_lever.h"
#include "steer/scope.h"

namespace almanac::steer {
namespace {

using slurm::JobChange;
using slurm::JobNumber;

/// Released in vain so often, a job is left to Slurm; after the first time it may run anywhere.
constexpr int kTries = 3;

std::string in_vain() { return fmt::format("it was released {} times in vain", kTries); }

Action give_to_slurm(const JobChange& change, std::string why) {
  return {change, fmt::format("left to Slurm: {}", why)};
}

class PlacementLever final : public Lever {
 public:
  std::string_view name() const override { return "placement"; }

  std::optional<std::string> obstacle(const slurm::Site& site,
                                      const slurm::Abilities& can) const override {
    if (!site.is_operator) return "we have no operator's rights in this Slurm";
    if (!can.watches) {
      return "nobody would release the jobs it holds if Almanac died: only the gateway does that";
    }
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    at_ = scene.mirror.at();
    in_vain_.clear();
    look(scene.mirror);
    std::vector<Action> releases;
    std::vector<Action> holds;
    std::set<JobNumber> in_line;
    std::map<JobNumber, const Decision::Start*> starts;
    for (const Decision::Start& each : scene.decision.starts) starts.try_emplace(each.job, &each);
    for (const Decision::Line& line : scene.decision.lines) {
      for (const JobNumber number : line.jobs) {
        const slurm::Job* const job = scene.mirror.find(number);
        if (job == nullptr || !waits(*job)) continue;  // since the decision
        in_line.insert(number);
        if (const std::string why = leave(*job, scene); !why.empty()) {
          if (const auto change = without_mark(*job)) {
            releases.push_back(give_to_slurm(*change, why));
          }
          continue;
        }
        const auto start = starts.find(number);
        if (start != starts.end() && (job->held || !released_.contains(number))) {
          if (auto action = release(*job, *start->second, scene)) {
            releases.push_back(*std::move(action));
          }
        } else if (is_to_be_held(*job, start != starts.end(), scene.settings.placement)) {
          holds.push_back(hold(*job, start != starts.end()));
        }
      }
    }
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (!waits(job) || in_line.contains(number) || is_to_wait(job, scene.decision)) continue;
      if (const auto change = without_mark(job)) {
        releases.push_back(give_to_slurm(*change, "the policy does not see it"));
      }
    }
    std::move(holds.begin(), holds.end(), std::back_inserter(releases));
    return releases;
  }

  std::vector<Action> let_go(const Scene& scene) override {
    *this = PlacementLever();
    std::vector<Action> made;
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (!waits(job)) continue;
      if (const auto change = without_mark(job)) {
        made.push_back(give_to_slurm(*change, "placement is not on"));
      }
    }
    return made;
  }

  void hear(const Action& action, const Result<void>& result) override {
    const auto& change = std::get<JobChange>(action.change);
    const bool may_be = result || result.error().code == Code::unavailable;
    if (result && in_vain_.contains(change.job)) {
      // Somewhere else it may go, or not at all.
      anywhere_.insert(change.job);
      if (++tries_[change.job] >= kTries) left_.emplace(change.job, in_vain());
    }
    if (may_be && change.comment != "" && change.held != true) released_[change.job] = at_;
    if (result && change.held == true) released_.erase(change.job);
    const bool has_nodes = change.required_nodes && !change.required_nodes->empty();
    if (!may_be && has_nodes) anywhere_.insert(change.job);
  }

 private:
  /// Forgets who does not wait any more, and notices whom somebody else has released.
  void look(const Mirror& mirror) {
    const auto is_gone = [&](JobNumber number) {
      const slurm::Job* const job = mirror.find(number);
      return job == nullptr || !waits(*job);
    };
    for (const JobNumber number : held_) {
      const slurm::Job* const job = mirror.find(number);
      const bool is_free = job != nullptr && waits(*job) && !job->held && is_marked(*job);
      if (is_free && !released_.contains(number)) {
        left_.emplace(number, "somebody else has released it");
      }
    }
    std::erase_if(released_, [&](const auto& each) { return is_gone(each.first); });
    std::erase_if(tries_, [&](const auto& each) { return is_gone(each.first); });
    std::erase_if(left_, [&](const auto& each) { return is_gone(each.first); });
    std::erase_if(anywhere_, is_gone);
    held_.clear();
    for (const auto& [number, job] : mirror.jobs()) {
      if (waits(job) && is_held_by_us(job)) held_.insert(number);
    }
  }

  /// Why a job is none of ours; "" = it is.
  std::string leave(const slurm::Job& job, const Scene& scene) const {
    if (const auto found = left_.find(job.number); found != left_.end()) return found->second;
    if (!is_in_scope(job, scene.settings)) return "it is not of the canary";
    if (!job.comment.empty() && !is_marked(job)) return "an administrator has written a comment";
    if (!job.required_nodes.empty() && (!is_marked(job) || job.held)) return "it asks for nodes";
    if (is_aged(job, scene.mirror, scene.settings.order.age_cap)) return "it has waited too long";
    return "";
  }

  /// Whether a job that is held and not in a line is to stay so: its time has not come.
  static bool is_to_wait(const slurm::Job& job, const Decision& decision) {
    if (decision.never.contains(job.number)) return false;
    const auto aside = decision.aside.find(job.number);
    if (aside == decision.aside.end()) return job.submit >= decision.at;  // it came since
    return job.held && (aside->second == Aside::depends || aside->second == Aside::begins_later);
  }

  /// Nothing where Slurm may start it as it is.
  std::optional<Action> release(const slurm::Job& job, const Decision::Start& start,
                                const Scene& scene) {
    JobChange change{.job = job.number};
    if (job.held) change.held = false;
    if (!is_marked(job)) change.comment = std::string(kMark);
    const std::string& policy = scene.policy.composition.name;
    const bool may_choose = !anywhere_.contains(job.number) && job.tasks.empty();
    const auto nodes = may_choose ? chosen_nodes(job, start, scene) : std::nullopt;
    if (nodes) {
      change.required_nodes = slurm::join_hosts(*nodes);
    } else if (!job.required_nodes.empty()) {
      change.required_nodes = "";
    }
    if (change == JobChange{.job = job.number}) {
      released_.emplace(job.number, at_);
      return std::nullopt;
    }
    if (!nodes) return Action{change, fmt::format("starts where Slurm likes under {}", policy)};
    return Action{change, fmt::format("starts on {} under {}", *change.required_nodes, policy)};
  }

  /// Of a job that Slurm may start.
  bool is_to_be_held(const slurm::Job& job, bool starts, const PlacementSettings& settings) {
    if (job.held) return false;
    const auto released = released_.find(job.number);
    if (released == released_.end()) return !starts;
    if (!job.tasks.empty()) return !starts;
    return at_ - released->second >= settings.patience;
  }

  Action hold(const slurm::Job& job, bool starts) {
    JobChange change{.job = job.number, .held = true};
    if (!is_marked(job)) change.comment = std::string(kMark);
    if (!job.required_nodes.empty()) change.required_nodes = "";
    if (!starts || !released_.contains(job.number)) return {change, "not yet to start"};
    in_vain_.insert(job.number);
    const auto tries = tries_.find(job.number);
    const bool is_last = tries != tries_.end() && tries->second + 1 >= kTries;
    if (is_last && is_marked(job)) return give_to_slurm(*without_mark(job), in_vain());
    return {change, "was not started, is taken back"};
  }

  Time at_{};
  std::set<JobNumber> held_;  // by us, as Slurm told last
  std::map<JobNumber, Time> released_;
  std::set<JobNumber> in_vain_;     // released, and now to be taken back, at last look
  std::map<JobNumber, int> tries_;  // that were in vain
  std::set<JobNumber> anywhere_;    // that no nodes are chosen for any more
  std::map<JobNumber, std::string> left_;
};

}  // namespace

std::unique_ptr<Lever> make_placement_lever() { return std::make_unique<PlacementLever>(); }

}  // namespace almanac::steer
