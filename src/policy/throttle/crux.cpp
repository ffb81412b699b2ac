// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives the traffic of jobs priorities on shared links, so that GPUs compute most.
///
/// A job's priority is its GPU intensity, corrected by a comparison with the job that sends most
/// (rules/links/priorities.h). The jobs that links connect are put into `levels` levels, and links
/// carry the traffic of higher levels first. All is computed again whenever a job that sends comes
/// or goes.
///
/// Source   Cao et al., SIGCOMM'24 (Crux), section 4.
/// Differs  No paths are selected (section 4.1): the switches of a cluster file are a tree, so one
///          path connects two nodes. A job is compared with the reference job on the slowest of its
///          own links.
/// Cost     a comparison per job that sends when one comes, or for all if the job that sends most
///          changes; O(jobs^2 x levels) for the jobs that links connect
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/link_senders.h"
#include "policy/registry.h"
#include "rules/links/priorities.h"

namespace almanac::policy::throttle {
namespace {

class Crux final : public Throttle {
 public:
  explicit Crux(int levels) : levels_(levels) {}

  void started(JobId job, const Desk& desk) override {
    if (senders_.may_send(job, desk)) starting_.push_back(job);
  }
  void ended(JobId job, const Desk&) override {
    senders_.leave(job);
    if (corrections_.erase(job) > 0) has_left_ = true;
  }
  void follow(Desk& desk) override {
    if (starting_.empty() && !has_left_) return;
    has_left_ = false;
    for (const JobId job : starting_) senders_.enter(job, desk);
    starting_.clear();
    compare_with_largest();
    while (const auto group = senders_.next_changed()) assign(group->jobs, desk);
  }

 private:
  /// Gb/s that a job sends over a link on the mean, if no other job slows it.
  double traffic(const LinkSenders::Sender& sender) const {
    const links::Flow& flow = sender.flow;
    const double gbps = slowest(sender);
    return (flow.gbps > 0 ? flow.gbps : gbps) * flow.sends_ms / flow.period_ms;
  }
  double slowest(const LinkSenders::Sender& sender) const {
    double gbps = senders_.gbps(sender.links.front());
    for (const std::uint32_t link : sender.links) gbps = std::min(gbps, senders_.gbps(link));
    return gbps;
  }

  void compare_with_largest() {
    JobId largest = kNoJob;
    double most = -1;
    for (const auto& [job, sender] : senders_.all()) {
      if (sender.links.empty() || traffic(sender) <= most) continue;
      most = traffic(sender);
      largest = job;
    }
    if (largest != reference_) {
      reference_ = largest;
      corrections_.clear();
      senders_.touch_all();
    }
    for (const auto& [job, sender] : senders_.all()) {
      if (sender.links.empty() || corrections_.contains(job)) continue;
      corrections_[job] =
          job == reference_
              ? 1
              : links::correction(sender.flow, senders_.of(reference_).flow, slowest(sender));
    }
  }

  void assign(const std::vector<JobId>& jobs, Desk& desk) {
    struct Ranked {
      double priority;
      JobId job;
      double intensity;
    };
    std::vector<Ranked> ranked;
    for (const JobId job : jobs) {
      int gpus = 0;
      for (const cluster::Grant& grant : desk.grants(job)) gpus += grant.count();
      const double intensity = links::gpu_intensity(senders_.of(job).flow, gpus);
      ranked.push_back({corrections_.at(job) * intensity, job, intensity});
    }
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return std::tuple(-a.priority, a.job) < std::tuple(-b.priority, b.job);
    });
    links::Contention weights(ranked.size(), std::vector<double>(ranked.size(), 0));
    for (std::size_t a = 0; a < ranked.size(); ++a) {
      for (std::size_t b = a + 1; b < ranked.size(); ++b) {
        // A job that computes nothing still goes before those that it precedes.
        constexpr double kLeast = 1e-9;
        if (meet(ranked[a].job, ranked[b].job)) {
          weights[a][b] = std::max(ranked[a].intensity, kLeast);
        }
      }
    }
    const std::vector<int> levels = links::levels_of(weights, levels_);
    for (std::size_t at = 0; at < ranked.size(); ++at) {
      tell(ranked[at].job, levels_ - 1 - levels[at], desk);
    }
  }

  bool meet(JobId a, JobId b) const {
    const std::vector<std::uint32_t>& its = senders_.of(b).links;
    return std::any_of(
        senders_.of(a).links.begin(), senders_.of(a).links.end(),
        [&](std::uint32_t link) { return std::find(its.begin(), its.end(), link) != its.end(); });
  }

  static void tell(JobId job, int priority, Desk& desk) {
    Config config = desk.starts(job) ? Config{} : desk.view().config(job);
    if (config.link_priority == priority) return;
    config.link_priority = priority;
    const auto held = desk.grants(job);
    const std::vector<cluster::Grant> grants(held.begin(), held.end());
    desk.plan().set(job, {.grants = grants, .config = config});
  }

  int levels_;
  LinkSenders senders_;
  JobId reference_ = kNoJob;
  std::map<JobId, double> corrections_;
  std::vector<JobId> starting_;
  bool has_left_ = false;  // a job that sent, since the last comparison
};

}  // namespace

void register_crux(Registry& registry) {
  registry.throttles.add(
      {"crux",
       "on shared links the traffic of jobs goes first whose GPUs compute most for it",
       "Cao et al. SIGCOMM'24",
       {.has = {Trait::reads_speeds, Trait::paces_traffic},
        .bars = {Trait::remembers, Trait::shares_gpus, Trait::gives_cores, Trait::deals_out}},
       {whole_number("levels", "priorities that the switches offer", 8, 1, 64)}},
      [](const Parameters& told) { return std::make_unique<Crux>(told.whole("levels")); });
}

}  // namespace almanac::policy::throttle
