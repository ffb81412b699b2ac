// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes that jobs should avoid if other nodes are possible: those that recently failed under a
/// job, and those that are announced to go down.
///
/// Source   Our own. Kokolis et al., HPCA'25, section on lemon nodes: few nodes fail job after job.
///          They judge a node by seven signals over 28 days; here one failure counts, for a week.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

class DoubtedNodes {
 public:
  /// How long a node is avoided after it went down under a job.
  static constexpr Duration kAfterFailure = 24h * 7;
  /// How long an announced node that is still up is expected to go down.
  static constexpr Duration kAfterNotice = 15min;

  /// Reads the node events of a decision. A node that goes down without a job, or as announced, is
  /// not avoided later. O(events), and for a node that goes down O(jobs that failed).
  void hear(std::span<const Event> events, const View& view) {
    // Events are in order of kind. Nearly every decision is about jobs or a timer only, and this is
    // all it costs.
    const bool is_timer = events.size() == 1 && events.back().kind == EventKind::timer;
    const bool names_none = events.empty() || is_timer || events.back().kind < EventKind::node_down;
    if (!names_none || !empty()) take_in(events, view);
  }

  bool empty() const { return failed_.empty() && announced_.empty(); }
  bool has(NodeId node) const { return failed_.contains(node) || announced_.contains(node); }
  bool has_any(std::span<const cluster::Grant> grants) const {
    return std::any_of(grants.begin(), grants.end(),
                       [&](const cluster::Grant& grant) { return has(grant.node); });
  }
  /// Places a job with `place`, which takes GPUs in `ledger` and appends them to `grants`, but
  /// avoids these nodes if the job fits elsewhere on at most as many nodes. Returns false if it
  /// fits nowhere. Calls `place` up to twice, once if no node is doubted.
  template <typename Place>
  bool avoid(cluster::Ledger& ledger, std::vector<cluster::Grant>& grants, Place&& place) const {
    if (empty()) return place();
    const auto had = static_cast<std::ptrdiff_t>(grants.size());
    const std::size_t before = ledger.mark();
    if (!place()) return false;
    const std::vector<cluster::Grant> usual(grants.begin() + had, grants.end());
    if (!has_any(usual)) return true;
    const auto undo = [&] {
      ledger.undo(before);
      grants.erase(grants.begin() + had, grants.end());
    };
    undo();
    const std::vector<cluster::Grant> hidden = take_free(ledger);
    const bool fits = place();
    if (fits && grants.size() <= static_cast<std::size_t>(had) + usual.size()) {
      for (const cluster::Grant& grant : hidden) ledger.give_back(grant);
      return true;
    }
    undo();
    for (const cluster::Grant& grant : usual) {
      ledger.take(grant);
      grants.push_back(grant);
    }
    return true;
  }

 private:
  /// Separate, so that the check above is inlined.
  [[gnu::noinline]] void take_in(std::span<const Event> events, const View& view) {
    expire(view.now);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (event->kind < EventKind::node_down) return;
      if (event->kind <= EventKind::node_notice) take_in(*event, events, view);
    }
  }
  /// Takes in `ledger` what is free on these nodes, and returns it.
  std::vector<cluster::Grant> take_free(cluster::Ledger& ledger) const {
    std::vector<cluster::Grant> taken;
    for (const auto* const each : {&failed_, &announced_}) {
      for (const auto& [node, until] : *each) {
        cluster::Amount free = ledger.room(node);
        if (free.cpu_milli == cluster::kUnbounded) free.cpu_milli = 0;
        if (free.memory_mb == cluster::kUnbounded) free.memory_mb = 0;
        if (!free.empty()) taken.push_back(ledger.take(node, free));
      }
    }
    return taken;
  }
  void expire(Time now) {
    for (auto* const each : {&failed_, &announced_}) {
      std::erase_if(*each, [&](const auto& doubt) { return doubt.second <= now; });
    }
  }
  void take_in(const Event& event, std::span<const Event> events, const View& view) {
    const NodeId node{event.subject};
    if (event.kind == EventKind::node_notice) {
      const Duration ahead{std::llround(1e3 * std::max(0.0, event.value))};
      announced_[node] = view.now + ahead + kAfterNotice;
    } else if (event.kind == EventKind::node_down) {
      const bool was_announced = announced_.erase(node) > 0;
      if (!was_announced && failed_a_job(node, events, view)) {
        failed_[node] = view.now + kAfterFailure;
      }
    }
  }
  static bool failed_a_job(NodeId node, std::span<const Event> events, const View& view) {
    return std::any_of(events.begin(), events.end(), [&](const Event& event) {
      if (event.kind != EventKind::job_failed) return false;
      const auto held = view.grants(JobId{event.subject});
      return std::any_of(held.begin(), held.end(),
                         [&](const cluster::Grant& grant) { return grant.node == node; });
    });
  }

  std::map<NodeId, Time> failed_;     // until when to avoid them
  std::map<NodeId, Time> announced_;  // the same
};

}  // namespace almanac::policy
