// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/calendar.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/check.h"
#include "policy/kit/kinds.h"

namespace almanac::policy {
namespace {

using cluster::Amount;

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

/// Takes the part of a GPU that is promised of a node; no GPU = it has none left.
cluster::Grant take_part(cluster::Ledger& ledger, const Calendar::Piece& piece) {
  const cluster::Grant found = ledger.find_part(piece.node, {.gpus = 1,
                                                             .cpu_milli = piece.amount.cpu_milli,
                                                             .memory_mb = piece.amount.memory_mb,
                                                             .gpu_milli = piece.gpu_milli,
                                                             .gpu_memory_mb = piece.gpu_memory_mb,
                                                             .profile = piece.profile});
  if (found.gpus != 0) ledger.take(found);
  return found;
}

Time later(Time from, Duration length) { return length >= kNever - from ? kNever : from + length; }

}  // namespace

Amount Calendar::slack(NodeId node, Time from, Time until) const {
  Amount slack{cluster::kUnbounded, cluster::kUnbounded, cluster::kUnbounded};
  for (const Claim& claim : claims(node)) {
    if (claim.start <= from || claim.start >= until) continue;
    slack = least(slack, most({}, claim.slack));
  }
  return slack;
}

bool Calendar::find_conflicts(std::span<const cluster::Grant> grants, Time from, Time until) {
  conflicts_.clear();
  for (const cluster::Grant& grant : grants) {
    const Amount left = slack(grant.node, from, until);
    if (!left.covers(grant.amount())) conflicts_.push_back({grant.node, {}, left});
  }
  return !conflicts_.empty();
}

bool Calendar::has_room_beside(VcId vc, const cluster::Demand& demand, Time from,
                               Time until) const {
  if (demand.is_cpu_job() || demand.is_part() || desk_.placement().draws()) return true;
  const cluster::Ledger& ledger = desk_.ledger();
  const cluster::Demand enough = desk_.least(demand);
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand)) continue;
    const Placement::Footprint print = desk_.placement().footprint(demand, pool);
    // Nodes of another kind may give what these lack.
    if (print.nodes > 1 && spans_kinds(ledger.pools(vc), demand)) return true;
    const Amount wanted = enough.of(print.units);
    int missing = print.nodes;
    for (int free = pool.tightest(wanted.gpus); free > 0; free = pool.tightest(free + 1)) {
      const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(free)];
      for (std::uint32_t member = nodes.first(); member != cluster::NodeSet::kNone;
           member = nodes.next(member)) {
        const NodeId node = pool.nodes[member];
        if (!ledger.room(node).covers(wanted) || !slack(node, from, until).covers(wanted)) continue;
        if (--missing == 0) return true;
      }
    }
  }
  return false;
}

std::span<const cluster::Grant> Calendar::place(VcId vc, const cluster::Demand& demand, Time from,
                                                Time until) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  std::span<const cluster::Grant> placed = desk_.place(vc, demand);
  if (empty() || !find_conflicts(placed, from, until)) return placed;
  ledger.undo(before);
  if (!has_room_beside(vc, demand, from, until)) return {};
  std::size_t hidden = before;
  do {
    ledger.undo(hidden);
    for (const Piece& piece : conflicts_) {
      const Amount room = ledger.room(piece.node);
      ledger.take(piece.node, room - least(room, piece.slack));
      if (piece.slack.gpus == 0) ledger.take_open(piece.node);
    }
    hidden = ledger.mark();
    placed = desk_.place(vc, demand);
  } while (find_conflicts(placed, from, until));
  grants_.assign(placed.begin(), placed.end());
  ledger.undo(before);
  for (const cluster::Grant& grant : grants_) ledger.take(grant);
  return grants_;
}

std::span<const cluster::Grant> Calendar::place_now(VcId vc, const cluster::Demand& demand,
                                                    Duration length) {
  return place(vc, demand, Time::min(), later(desk_.now(), length));
}

int Calendar::free_beside_first(VcId vc) const {
  const cluster::Ledger& ledger = desk_.ledger();
  int room = ledger.free_gpus(vc);
  for (const Piece& piece : promises_[by_start_.front().slot].pieces) {
    const std::vector<Claim>& here = claims(piece.node);
    const auto own = std::find_if(here.begin(), here.end(),
                                  [&](const Claim& claim) { return claim.job == first(); });
    room -= std::max(0, ledger.free_on(piece.node) - std::max(0, own->slack.gpus));
  }
  return room;
}

JobId Calendar::first_delayed(std::span<const cluster::Grant> grants, Time until, JobId own) const {
  const Promise* const let_go = own != kNoJob && holds(own) ? &at(own) : nullptr;
  const auto slack = [&](NodeId node, const Claim& claim) {
    Amount made = claim.slack;
    if (let_go == nullptr || claim.start < let_go->start || claim.start >= let_go->end) return made;
    for (const Piece& piece : let_go->pieces) {
      if (piece.node == node) made += piece.amount;
    }
    return made;
  };
  JobId first = kNoJob;
  Time start = until;
  for (const cluster::Grant& grant : grants) {
    for (const Claim& claim : claims(grant.node)) {
      if (claim.job == own || claim.start >= start) continue;
      if (slack(grant.node, claim).covers(grant.amount())) continue;
      first = claim.job;
      start = claim.start;
    }
  }
  return first;
}

const Calendar::Promise* Calendar::promise(const VcState& vc, JobId job,
                                           const std::function<bool(JobId)>& gives_way) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  const cluster::Demand& demand = desk_.demand(job);
  const Duration length = std::max(Duration{1}, desk_.remaining(job));

  const auto give_back = [&](JobId running_job) {
    for (const cluster::Grant& grant : desk_.grants(running_job)) ledger.give_back(grant);
  };
  const auto is_gone = [&](JobId running_job) { return gives_way && gives_way(running_job); };
  if (gives_way) {
    for (RankedQueue::Cursor each(vc.running); each.get() != nullptr; each.advance()) {
      if (gives_way(each.get()->job)) give_back(each.get()->job);
    }
  }
  RankedQueue::Cursor running(vc.running);
  auto starting = by_start_.begin();
  std::priority_queue<Begun, std::vector<Begun>, std::greater<>> begun;
  for (Time at = desk_.now();;) {
    for (; running.get() != nullptr && end_of(*running.get()) <= at; running.advance()) {
      if (!is_gone(running.get()->job)) give_back(running.get()->job);
    }
    for (; !begun.empty() && begun.top().end <= at; begun.pop()) {
      for (const cluster::Grant& grant : begun.top().grants) ledger.give_back(grant);
    }
    for (; starting != by_start_.end() && starting->at <= at; ++starting) {
      const Promise& promised = promises_[starting->slot];
      Begun taken{.end = std::max(promised.end, at), .grants = {}};
      for (const Piece& piece : promised.pieces) {
        if (piece.gpu_milli < cluster::kWholeGpu) {
          const cluster::Grant part = take_part(ledger, piece);
          if (part.gpus != 0) taken.grants.push_back(part);
          continue;
        }
        const Amount amount = least(piece.amount, ledger.room(piece.node));
        if (!amount.empty()) taken.grants.push_back(ledger.take(piece.node, amount));
      }
      begun.push(std::move(taken));
    }

    const bool may_fit = ledger.free_gpus(vc.vc, demand) >= demand.gpus;
    const auto placed =
        may_fit ? place(vc.vc, demand, at, later(at, length)) : std::span<const cluster::Grant>{};
    if (!placed.empty()) {
      const bool at_once = at == desk_.now();
      const Slot slot = at_once ? 0 : fresh_slot();
      Promise& made = at_once ? at_once_ : promises_[slot];
      made.start = at;
      made.end = later(at, length);
      made.pieces.clear();
      for (const cluster::Grant& grant : placed) {
        made.pieces.push_back({grant.node, grant.amount(), ledger.room(grant.node), grant.gpu_milli,
                               grant.gpu_memory_mb, grant.profile});
      }
      ledger.undo(before);
      if (!at_once) file(job, slot);
      return &made;
    }

    Time next = kNever;
    if (running.get() != nullptr) next = end_of(*running.get());
    if (!begun.empty()) next = std::min(next, begun.top().end);
    if (starting != by_start_.end()) next = std::min(next, starting->at);
    if (next == kNever) break;
    at = next;
  }
  ledger.undo(before);
  return nullptr;
}

void Calendar::lower_slack(NodeId node, const Amount& amount, Time from, Time until) {
  for (Claim& claim : claims(node)) {
    if (claim.start >= from && claim.start < until) claim.slack -= amount;
  }
}

Reason Calendar::blocker(const VcState& vc, JobId job) const {
  const std::size_t before = desk_.ledger().mark();
  const auto grants = desk_.place(vc.vc, desk_.demand(job));
  desk_.ledger().undo(before);
  const JobId delayed = first_delayed(grants, desk_.now() + desk_.remaining(job), job);
  if (delayed != kNoJob) return {.kind = ReasonKind::reserved, .other = delayed};
  return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
}

bool Calendar::extend_overruns(VcState& vc) {
  bool any = false;
  while (!vc.running.empty()) {
    const JobId job = vc.running.front().job;
    const Time believed = desk_.believed_end(job);
    if (believed > desk_.now() || desk_.view().progress(job).phase == Phase::waiting) break;
    const Duration ran = desk_.now() - desk_.view().progress(job).since;
    const Time end = desk_.now() + std::max<Duration>(1s, ran);
    desk_.refile_running(vc, job, static_cast<double>(end.time_since_epoch().count()));
    occupy(desk_.grants(job), believed, end, +1);
    any = true;
  }
  return any;
}

void Calendar::occupy(std::span<const cluster::Grant> grants, Time from, Time until, int sign) {
  if (empty()) return;
  for (const cluster::Grant& grant : grants) {
    lower_slack(grant.node, grant.amount() * sign, from, until);
  }
}

std::span<const cluster::Grant> Calendar::take(const Promise& promise) {
  cluster::Ledger& ledger = desk_.ledger();
  grants_.clear();
  if (promise.pieces.front().gpu_milli < cluster::kWholeGpu) {
    const std::size_t before = ledger.mark();
    for (const Piece& piece : promise.pieces) {
      const cluster::Grant part = take_part(ledger, piece);
      if (part.gpus == 0) {
        ledger.undo(before);
        return {};
      }
      grants_.push_back(part);
    }
    return grants_;
  }
  for (const Piece& piece : promise.pieces) {
    if (!ledger.room(piece.node).covers(piece.amount)) return {};
  }
  for (const Piece& piece : promise.pieces) {
    grants_.push_back(ledger.take(piece.node, piece.amount));
  }
  return grants_;
}

bool Calendar::holds(JobId job) const {
  const auto found = std::lower_bound(by_job_.begin(), by_job_.end(), std::pair(job, Slot{0}));
  return found != by_job_.end() && found->first == job;
}

Calendar::Slot Calendar::slot_of(JobId job) const {
  const auto found = std::lower_bound(by_job_.begin(), by_job_.end(), std::pair(job, Slot{0}));
  ALMANAC_CHECK(found != by_job_.end() && found->first == job, "job {} holds no promise",
                index(job));
  return found->second;
}

Calendar::Slot Calendar::fresh_slot() {
  if (spare_.empty()) {
    promises_.emplace_back();
    return static_cast<Slot>(promises_.size() - 1);
  }
  const Slot slot = spare_.back();
  spare_.pop_back();
  return slot;
}

void Calendar::file(JobId job, Slot slot) {
  const Promise& promise = promises_[slot];
  for (const Piece& piece : promise.pieces) {
    lower_slack(piece.node, piece.amount, promise.start, promise.end);
  }
  for (const Piece& piece : promise.pieces) {
    claims(piece.node).push_back({promise.start, job, piece.slack});
  }
  const auto later_start =
      std::upper_bound(by_start_.begin(), by_start_.end(), promise.start,
                       [](Time start, const Begin& begin) { return start < begin.at; });
  by_start_.insert(later_start, {promise.start, job, slot});
  by_job_.insert(std::lower_bound(by_job_.begin(), by_job_.end(), std::pair(job, slot)),
                 {job, slot});
}

Calendar::Slot Calendar::unfile(JobId job) {
  const Slot slot = slot_of(job);
  Promise& promise = promises_[slot];
  const auto is_own = [&](const auto& each) { return each.job == job; };
  for (Piece& piece : promise.pieces) {
    std::vector<Claim>& here = claims(piece.node);
    const auto own = std::find_if(here.begin(), here.end(), is_own);
    piece.slack = own->slack;
    here.erase(own);
  }
  const auto first =
      std::lower_bound(by_start_.begin(), by_start_.end(), promise.start,
                       [](const Begin& begin, Time start) { return begin.at < start; });
  by_start_.erase(std::find_if(first, by_start_.end(), is_own));
  by_job_.erase(std::lower_bound(by_job_.begin(), by_job_.end(), std::pair(job, slot)));
  return slot;
}

void Calendar::fulfil(JobId job) { spare_.push_back(unfile(job)); }

Calendar::Promise Calendar::forget(JobId job) {
  const Slot slot = unfile(job);
  const Promise& promise = promises_[slot];
  for (const Piece& piece : promise.pieces) {
    lower_slack(piece.node, piece.amount * -1, promise.start, promise.end);
  }
  spare_.push_back(slot);
  return promise;
}

void Calendar::keep(JobId job, Promise promise) {
  const Slot slot = fresh_slot();
  promises_[slot] = std::move(promise);
  file(job, slot);
}

void Calendar::clear() {
  for (const Begin& begin : by_start_) {
    for (const Piece& piece : promises_[begin.slot].pieces) claims(piece.node).clear();
    spare_.push_back(begin.slot);
  }
  by_start_.clear();
  by_job_.clear();
}

std::vector<JobId> Calendar::due(Time now) const {
  std::vector<JobId> jobs;
  for (const Begin& begin : by_start_) {
    if (begin.at > now) break;
    jobs.push_back(begin.job);
  }
  return jobs;
}

std::vector<JobId> Calendar::broken() const {
  std::vector<JobId> jobs;
  for (const Begin& begin : by_start_) {
    const auto is_broken = [&](const Piece& piece) {
      const std::vector<Claim>& here = claims(piece.node);
      return std::any_of(here.begin(), here.end(), [&](const Claim& claim) {
        return claim.job == begin.job && !claim.slack.covers({});
      });
    };
    const std::vector<Piece>& pieces = promises_[begin.slot].pieces;
    if (std::any_of(pieces.begin(), pieces.end(), is_broken)) jobs.push_back(begin.job);
  }
  return jobs;
}

}  // namespace almanac::policy
