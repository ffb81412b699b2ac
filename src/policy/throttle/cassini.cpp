// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places jobs so that jobs on a shared link send at different times, and shifts their steps
/// accordingly.
///
/// A job that starts on several nodes has up to ten candidate places: that of the placement, and
/// then those that the placement chooses without the nodes of the last candidate whose links are
/// crowded. It gets the place whose links have the best mean score, the first of equals. Then all
/// jobs that are connected by links are shifted, link by link; each keeps the shift from an earlier
/// link. If links and jobs form a loop, as two jobs do that share two links, each job is shifted so
/// that all of its links lose least together. The shifts are consistent if no link loses more than
/// with the best shifts for that link alone; otherwise these jobs are not shifted.
///
/// Source   Rajasekaran et al., NSDI'24 (Cassini), sections 3 and 4: affinity graph, score of a
///          placement, propagation of shifts.
/// Differs  A place whose graph has a loop is scored with all others instead of discarded, and
///          shifted if the shifts around the loop are consistent. The best shift of a link is
///          searched at the moments at which transfers meet, not at angles of 5 degrees
///          (rules/links/contention.h). Drift of iterations is not simulated.
/// Cost     O(links of the job) shifts per place; none for jobs that send nothing
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/link_senders.h"
#include "policy/registry.h"

namespace almanac::policy::throttle {
namespace {

constexpr int kPlaces = 10;
// Most jobs connected in loops that are shifted. For more, shifts that suit all are very unlikely
// and costly to look for.
constexpr std::size_t kMostInLoops = 32;

using Grants = std::vector<cluster::Grant>;
using Shifts = std::map<JobId, std::optional<double>>;  // nothing = it drifts

class Cassini final : public Throttle {
 public:
  void started(JobId job, const Desk& desk) override {
    if (senders_.may_send(job, desk)) starting_.push_back(job);
  }
  void ended(JobId job, const Desk&) override { senders_.leave(job); }
  void follow(Desk& desk) override {
    for (const JobId job : starting_) {
      if (desk.starts(job)) choose_place(job, desk);
      senders_.enter(job, desk);
    }
    starting_.clear();
    while (const auto group = senders_.next_changed()) shift_all(*group, desk);
  }

 private:
  /// Returns the scores of the links of a job with `flow` if it held `grants`, by link.
  std::map<std::uint32_t, double> scores(const links::Flow& flow, const Grants& grants) const {
    std::map<std::uint32_t, double> made;
    for (const std::uint32_t link : senders_.map().links(grants)) {
      std::vector<links::Flow> flows{flow};
      for (const JobId job : senders_.on(link)) flows.push_back(senders_.of(job).flow);
      const double gbps = senders_.gbps(link);
      const auto shifts = links::best_shifts(flows, gbps);
      for (std::size_t at = 0; at < flows.size(); ++at) flows[at].shift_ms = shifts[at];
      double sum = 0;
      for (const double stretch : links::stretches(flows, gbps)) sum += 2 - stretch;
      made[link] = sum / static_cast<double>(flows.size());
    }
    return made;
  }
  static double mean(const std::map<std::uint32_t, double>& scores) {
    double sum = 0;
    for (const auto& [link, score] : scores) sum += score;
    return scores.empty() ? 1 : sum / static_cast<double>(scores.size());
  }

  void choose_place(JobId job, Desk& desk) {
    if (desk.placement().draws()) return;
    cluster::Ledger& ledger = desk.ledger();
    const auto held = desk.grants(job);
    const Grants first(held.begin(), held.end());
    Grants best = first;
    Grants place = first;
    double highest = -1e300;
    std::set<NodeId> avoided;
    for (int number = 0; number < kPlaces; ++number) {
      const auto flow = desk.view().speeds->flow(job, place);
      const auto found = flow ? scores(*flow, place) : std::map<std::uint32_t, double>{};
      if (mean(found) > highest + 1e-9) {
        highest = mean(found);
        best = place;
      }
      if (highest >= 1 - 1e-9 || !avoid(place, found, avoided)) break;
      place = place_without(avoided, job, first, desk);
      if (place.empty()) break;
    }
    if (best == first) return;
    for (const cluster::Grant& grant : first) ledger.give_back(grant);
    for (const cluster::Grant& grant : best) ledger.take(grant);
    desk.plan().set(job, {.grants = best});
  }

  /// Adds the nodes that send over crowded links. Returns whether any of them are new.
  bool avoid(const Grants& place, const std::map<std::uint32_t, double>& scores,
             std::set<NodeId>& avoided) const {
    const std::size_t before = avoided.size();
    for (const auto& [link, score] : scores) {
      if (score >= 1 - 1e-9) continue;
      for (const cluster::Grant& grant : place) {
        if (senders_.map().is_above(link, grant.node)) avoided.insert(grant.node);
      }
    }
    return avoided.size() > before;
  }

  static Grants place_without(const std::set<NodeId>& avoided, JobId job, const Grants& first,
                              Desk& desk) {
    cluster::Ledger& ledger = desk.ledger();
    const std::size_t before = ledger.mark();
    for (const cluster::Grant& grant : first) ledger.give_back(grant);
    for (const NodeId node : avoided) {
      const cluster::GpuMask free = ledger.free_mask(node);
      if (free != 0) ledger.take({.node = node, .gpus = free});
    }
    Grants made;
    desk.place(ledger, desk.view().progress(job).vc, desk.demand(job), desk.view().rng, made);
    ledger.undo(before);
    return made;
  }

  void shift_all(const LinkSenders::Group& group, Desk& desk) {
    const auto& [jobs, shared, is_tree] = group;
    Shifts shifts;
    if (!is_tree) {
      shifts = shift_around(jobs, shared);
    } else if (jobs.size() > 1) {
      for (const std::uint32_t each : shared) shift_on(each, shifts);
    }
    for (const JobId job : jobs) {
      const auto found = shifts.find(job);
      tell(job, found == shifts.end() ? std::nullopt : found->second, desk);
    }
  }

  void shift_on(std::uint32_t link, Shifts& shifts) {
    const auto made = links::best_shifts(flows_on(link, shifts), senders_.gbps(link));
    for (std::size_t at = 0; at < made.size(); ++at) shifts[senders_.on(link)[at]] = made[at];
  }

  /// Returns what jobs send over a link, with the shifts that they have.
  std::vector<links::Flow> flows_on(std::uint32_t link, const Shifts& shifts) const {
    std::vector<links::Flow> flows;
    for (const JobId job : senders_.on(link)) {
      flows.push_back(senders_.of(job).flow);
      if (const auto found = shifts.find(job); found != shifts.end()) {
        flows.back().shift_ms = found->second;
      }
    }
    return flows;
  }

  /// Returns shifts for `jobs`, which the links `shared` connect in loops, or nothing if they do
  /// not suit each link as well as the best shifts for it alone.
  Shifts shift_around(const std::vector<JobId>& jobs, const std::vector<std::uint32_t>& shared) {
    if (jobs.size() > kMostInLoops) return {};
    Shifts shifts;
    for (int round = 0; round < 2; ++round) {  // the second knows all that the first has found
      for (const JobId job : jobs) {
        std::vector<links::SharedLink> over;
        for (const std::uint32_t link : senders_.of(job).links) {
          const std::vector<JobId>& others = senders_.on(link);
          if (others.size() < 2) continue;
          links::SharedLink each{.capacity_gbps = senders_.gbps(link)};
          each.flows = flows_on(link, shifts);
          const auto place = std::find(others.begin(), others.end(), job);
          std::swap(each.flows.front(),
                    each.flows[static_cast<std::size_t>(place - others.begin())]);
          over.push_back(std::move(each));
        }
        shifts[job] = links::best_common_shift(std::move(over));
        if (!shifts[job]) return {};
      }
    }
    const bool suits_all = std::all_of(shared.begin(), shared.end(), [&](std::uint32_t link) {
      std::vector<links::Flow> alone = flows_on(link, {});
      const auto best = links::best_shifts(alone, senders_.gbps(link));
      for (std::size_t at = 0; at < alone.size(); ++at) alone[at].shift_ms = best[at];
      return links::lost(flows_on(link, shifts), senders_.gbps(link)) <=
             links::lost(alone, senders_.gbps(link)) + 1e-9;
    });
    return suits_all ? shifts : Shifts{};
  }

  static void tell(JobId job, std::optional<double> shift, Desk& desk) {
    const Config before = desk.starts(job) ? Config{} : desk.view().config(job);
    Config config = before;
    config.sending = shift ? Sending::shifted : Sending::at_once;
    config.shift_ms = static_cast<float>(shift.value_or(0));
    if (config == before) return;
    const auto held = desk.grants(job);
    const Grants grants(held.begin(), held.end());
    desk.plan().set(job, {.grants = grants, .config = config});
  }

  LinkSenders senders_;
  std::vector<JobId> starting_;
};

}  // namespace

void register_cassini(Registry& registry) {
  registry.throttles.add(
      {"cassini",
       "places and shifts jobs on shared links so that they send at different times",
       "Rajasekaran et al. NSDI'24",
       {.has = {Trait::reads_speeds, Trait::paces_traffic},
        .bars = {Trait::reserves, Trait::remembers, Trait::shares_gpus, Trait::gives_cores,
                 Trait::deals_out}}},
      [](const Parameters&) { return std::make_unique<Cassini>(); });
}

}  // namespace almanac::policy::throttle
