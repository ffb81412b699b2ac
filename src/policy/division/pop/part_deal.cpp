// SPDX-License-Identifier: Apache-2.0
#include "policy/division/pop/part_deal.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace almanac::policy {

bool PartDeal::add(JobId job, const View& view, const cluster::Ledger& ledger) {
  Dealt& own = jobs_[job];
  own = {.vc = view.progress(job).vc, .part = kNoPart, .count = most_parts(job, view, ledger)};
  Vc& vc = vcs_[index(own.vc)];
  ++vc.jobs[own.count];
  return own.count < vc.count;
}

bool PartDeal::remove(JobId job) {
  const auto own = jobs_.find(job);
  if (own == jobs_.end()) return false;
  Vc& vc = vcs_[index(own->second.vc)];
  const int count = own->second.count;
  jobs_.erase(own);
  const auto alike = vc.jobs.find(count);
  if (--alike->second > 0) return false;
  vc.jobs.erase(alike);
  return count == vc.count && vc.count < nodes_.counts().front();
}

/// Returns the largest number of parts of which one has room for the job. If even the whole has
/// none until nodes return, the job joins no part.
int PartDeal::most_parts(JobId job, const View& view, const cluster::Ledger& ledger) {
  for (const int count : nodes_.counts()) {
    if (!with_room(job, count, view, ledger).empty()) return count;
  }
  return nodes_.counts().front();
}

std::vector<int> PartDeal::with_room(JobId job, int count, const View& view,
                                     const cluster::Ledger& ledger) {
  const Progress& state = view.progress(job);
  std::vector<int> parts =
      nodes_.with_room(state.vc, state.demand, view.demand(state.demand), count, ledger);
  for (const Acceptable& each : view.acceptable(job)) {
    if (!parts.empty()) break;
    parts = nodes_.with_room(state.vc, each.demand, view.demand(each.demand), count, ledger);
  }
  return parts;
}

void PartDeal::deal(JobId job, const View& view, const cluster::Ledger& ledger) {
  Dealt& own = jobs_.at(job);
  Vc& vc = vcs_[index(own.vc)];
  std::vector<int> parts = with_room(job, vc.count, view, ledger);
  if (parts.empty()) parts.push_back(0);
  const auto size = static_cast<std::uint64_t>(parts.size());
  const std::uint64_t next =
      at_random_ ? view.rng.below(size) : static_cast<std::uint64_t>(vc.turn++) % size;
  own.part = parts[next];
}

void PartDeal::deal_anew(const View& view, const cluster::Ledger& ledger) {
  const std::vector<int>& counts = nodes_.counts();
  for (Vc& vc : vcs_) vc = {.count = counts.front(), .jobs = {}, .turn = vc.turn};
  for (auto& [job, own] : jobs_) {
    own.count = most_parts(job, view, ledger);
    while (lies_across(job, own.count, view)) {
      own.count = *std::upper_bound(counts.begin(), counts.end(), own.count, std::greater<>());
    }
    Vc& vc = vcs_[index(own.vc)];
    ++vc.jobs[own.count];
    vc.count = std::min(vc.count, own.count);
  }
  for (auto& [job, own] : jobs_) {
    own.part = kNoPart;
    if (view.progress(job).phase == Phase::running) {
      own.part = nodes_.part_of(view.grants(job).front().node, vcs_[index(own.vc)].count);
    } else if (view.held_until(job) <= view.now) {
      deal(job, view, ledger);
    }
  }
}

bool PartDeal::lies_across(JobId job, int count, const View& view) const {
  if (view.progress(job).phase != Phase::running) return false;
  const auto grants = view.grants(job);
  return std::any_of(grants.begin(), grants.end(), [&](const cluster::Grant& grant) {
    return nodes_.part_of(grant.node, count) != nodes_.part_of(grants.front().node, count);
  });
}

cluster::Ledger PartDeal::ledger_of(int part, const cluster::Ledger& ledger) const {
  cluster::Ledger own = ledger;
  own.commit();
  for (std::uint32_t at = 0; at < machines_.nodes.size(); ++at) {
    const int count = vcs_[index(machines_.nodes[at].vc)].count;
    if (nodes_.part_of(NodeId{at}, count) != part) own.set_drained(NodeId{at}, true);
  }
  return own;
}

std::vector<JobId> PartDeal::jobs() const {
  std::vector<JobId> made;
  for (const auto& [job, own] : jobs_) made.push_back(job);
  return made;
}

void PartDeal::line_up(std::span<const std::vector<JobId>> lines, std::vector<JobId>& line) const {
  struct Stand {
    VcId vc{};
    int place = 0;
    JobId job{};
  };
  std::vector<Stand> stands;
  for (const std::vector<JobId>& own : lines) {
    std::map<VcId, int> places;
    for (const JobId job : own) {
      const VcId vc = jobs_.at(job).vc;
      stands.push_back({vc, places[vc]++, job});
    }
  }
  for (const auto& [job, own] : jobs_) {
    if (own.part == kNoPart) stands.push_back({own.vc, std::numeric_limits<int>::max(), job});
  }
  std::stable_sort(stands.begin(), stands.end(), [](const Stand& a, const Stand& b) {
    return std::pair(a.vc, a.place) < std::pair(b.vc, b.place);
  });
  for (const Stand& each : stands) line.push_back(each.job);
}

}  // namespace almanac::policy
