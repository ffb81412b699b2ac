// SPDX-License-Identifier: Apache-2.0
#include "policy/calendar.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace almanac::policy {
namespace {

/// A promise that began during a walk through the future.
struct Begun {
  Time end{};
  std::vector<cluster::Grant> grants;

  friend bool operator>(const Begun& a, const Begun& b) { return a.end > b.end; }
};

/// A running job is filed under its believed end.
Time end_of(const QueueEntry& running) {
  return Time{Duration{static_cast<Duration::rep>(running.key.rank)}};
}

Time later(Time from, Duration length) { return length >= kNever - from ? kNever : from + length; }

}  // namespace

bool Calendar::find_conflicts(std::span<const cluster::Grant> grants, Time from, Time until) {
  bool any = false;
  for (const cluster::Grant& grant : grants) {
    const auto here = on_node_.find(grant.node);
    if (here == on_node_.end()) continue;
    int slack = grant.count();
    for (const JobId job : here->second) {
      const Promise& promise = promises_.at(job);
      if (promise.start <= from || promise.start >= until) continue;
      for (const Piece& piece : promise.pieces) {
        if (piece.node == grant.node) slack = std::min(slack, std::max(0, piece.slack));
      }
    }
    if (slack == grant.count()) continue;
    hidden_.push_back({grant.node, 0, slack});
    any = true;
  }
  return any;
}

std::span<const cluster::Grant> Calendar::place(VcId vc, const cluster::Demand& demand, Time from,
                                                Time until) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  hidden_.clear();
  do {
    ledger.undo(before);
    for (const Piece& piece : hidden_) {
      ledger.take(piece.node, std::max(0, ledger.free_on(piece.node) - piece.slack));
    }
    const auto placed = desk_.place(vc, demand);
    grants_.assign(placed.begin(), placed.end());
  } while (find_conflicts(grants_, from, until));
  ledger.undo(before);
  for (const cluster::Grant& grant : grants_) ledger.take(grant);
  return grants_;
}

std::span<const cluster::Grant> Calendar::place_now(VcId vc, const cluster::Demand& demand,
                                                    Duration length) {
  return place(vc, demand, Time::min(), later(desk_.now(), length));
}

JobId Calendar::first_delayed(std::span<const cluster::Grant> grants, Time until) const {
  JobId first = kNoJob;
  for (const cluster::Grant& grant : grants) {
    const auto here = on_node_.find(grant.node);
    if (here == on_node_.end()) continue;
    for (const JobId job : here->second) {
      const Promise& promise = promises_.at(job);
      for (const Piece& piece : promise.pieces) {
        if (piece.node != grant.node || piece.slack >= grant.count()) continue;
        if (promise.start >= until) continue;
        if (first == kNoJob || promise.start < promises_.at(first).start) first = job;
      }
    }
  }
  return first;
}

const Calendar::Promise* Calendar::promise(const VcState& vc, JobId job) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  const cluster::Demand& demand = desk_.view().demand(desk_.view().progress(job).demand);
  const Duration length = std::max(Duration{1}, desk_.remaining(job));

  RankedQueue::Cursor running(vc.running);
  auto starting = by_start_.begin();
  std::priority_queue<Begun, std::vector<Begun>, std::greater<>> begun;
  for (Time at = desk_.now();;) {
    for (; running.get() != nullptr && end_of(*running.get()) <= at; running.advance()) {
      for (const cluster::Grant& grant : desk_.grants(running.get()->job)) ledger.give_back(grant);
    }
    for (; !begun.empty() && begun.top().end <= at; begun.pop()) {
      for (const cluster::Grant& grant : begun.top().grants) ledger.give_back(grant);
    }
    for (; starting != by_start_.end() && starting->first <= at; ++starting) {
      const Promise& promised = promises_.at(starting->second);
      Begun taken{.end = std::max(promised.end, at), .grants = {}};
      for (const Piece& piece : promised.pieces) {
        const int gpus = std::min(piece.gpus, ledger.free_on(piece.node));
        if (gpus > 0) taken.grants.push_back(ledger.take(piece.node, gpus));
      }
      begun.push(std::move(taken));
    }

    const bool may_fit = ledger.free_gpus(vc.vc) >= demand.gpus;
    const auto placed =
        may_fit ? place(vc.vc, demand, at, later(at, length)) : std::span<const cluster::Grant>{};
    if (!placed.empty()) {
      Promise made{.start = at, .end = later(at, length), .pieces = {}};
      for (const cluster::Grant& grant : placed) {
        made.pieces.push_back({grant.node, grant.count(), ledger.free_on(grant.node)});
      }
      ledger.undo(before);
      if (at == desk_.now()) {
        at_once_ = std::move(made);
        return &at_once_;
      }
      keep(job, std::move(made));
      return &promises_.at(job);
    }

    Time next = kNever;
    if (running.get() != nullptr) next = end_of(*running.get());
    if (!begun.empty()) next = std::min(next, begun.top().end);
    if (starting != by_start_.end()) next = std::min(next, starting->first);
    if (next == kNever) break;
    at = next;
  }
  ledger.undo(before);
  return nullptr;
}

void Calendar::lower_slack(NodeId node, int gpus, Time from, Time until) {
  const auto here = on_node_.find(node);
  if (here == on_node_.end()) return;
  for (const JobId job : here->second) {
    Promise& promise = promises_.at(job);
    if (promise.start < from || promise.start >= until) continue;
    for (Piece& piece : promise.pieces) {
      if (piece.node == node) piece.slack -= gpus;
    }
  }
}

void Calendar::occupy(std::span<const cluster::Grant> grants, Time from, Time until, int sign) {
  for (const cluster::Grant& grant : grants) {
    lower_slack(grant.node, sign * grant.count(), from, until);
  }
}

std::span<const cluster::Grant> Calendar::take(const Promise& promise) {
  cluster::Ledger& ledger = desk_.ledger();
  grants_.clear();
  for (const Piece& piece : promise.pieces) {
    if (ledger.free_on(piece.node) < piece.gpus) return {};
  }
  for (const Piece& piece : promise.pieces) grants_.push_back(ledger.take(piece.node, piece.gpus));
  return grants_;
}

void Calendar::keep(JobId job, Promise promise) {
  for (const Piece& piece : promise.pieces) {
    lower_slack(piece.node, piece.gpus, promise.start, promise.end);
  }
  for (const Piece& piece : promise.pieces) on_node_[piece.node].push_back(job);
  by_start_.emplace(promise.start, job);
  promises_.emplace(job, std::move(promise));
}

void Calendar::remove(JobId job) {
  const auto found = promises_.find(job);
  for (const Piece& piece : found->second.pieces) {
    std::vector<JobId>& here = on_node_.at(piece.node);
    here.erase(std::find(here.begin(), here.end(), job));
    if (here.empty()) on_node_.erase(piece.node);
  }
  auto [first, last] = by_start_.equal_range(found->second.start);
  by_start_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == job; }));
  promises_.erase(found);
}

void Calendar::fulfil(JobId job) { remove(job); }

void Calendar::forget(JobId job) {
  const Promise promise = promises_.at(job);
  remove(job);
  for (const Piece& piece : promise.pieces) {
    lower_slack(piece.node, -piece.gpus, promise.start, promise.end);
  }
}

void Calendar::clear() {
  promises_.clear();
  by_start_.clear();
  on_node_.clear();
}

std::vector<JobId> Calendar::due(Time now) const {
  std::vector<JobId> jobs;
  for (auto each = by_start_.begin(); each != by_start_.end() && each->first <= now; ++each) {
    jobs.push_back(each->second);
  }
  return jobs;
}

std::vector<JobId> Calendar::broken() const {
  std::vector<JobId> jobs;
  for (const auto& [start, job] : by_start_) {
    for (const Piece& piece : promises_.at(job).pieces) {
      if (piece.slack < 0) {
        jobs.push_back(job);
        break;
      }
    }
  }
  return jobs;
}

}  // namespace almanac::policy
