// SPDX-License-Identifier: Apache-2.0

/// \file
/// EASY backfill that also stops running jobs, where they may be stopped, and lets no job wait for
/// much longer than EASY would.
///
///   1 jobs start in order of rank. The first that does not fit takes the GPUs of running jobs that
///     give way to it (preempt/stoppable.h), at once or after it has waited for a while
///     (preempt/stop_budget.h); if those do not suffice it holds a reservation, which counts jobs
///     that give way to it as gone
///   2 later jobs start in GPUs that are free if they end before the reservation begins, take GPUs
///     that it does not need, or give way to it themselves, until they end
///   3 later jobs take the GPUs of running jobs that give way to them, under the same conditions
///   4 a job that must run now to meet its deadline goes before all others, if the deadline can be
///     met (preempt/deadlines.h)
///   5 a job that has waited for `bound` times its wait under EASY, plus `grace`, or whose user's
///     jobs have waited longer than under EASY, goes before all others, and every job that may be
///     stopped gives way to it (preempt/wait_bound.h)
///
/// Where no job may be stopped and no bound is set, this is pass `easy`. Where each job may be
/// stopped and the margin is 1, no job is held back by a reservation.
///
/// Source   ours, after Lifka, JSSPP'95 (EASY) and Gu et al., NSDI'19 (Tiresias).
/// Cost     A walk through believed ends when the first job is blocked and another could start.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "policy/contract/may_stop.h"
#include "policy/kit/calendar.h"
#include "policy/kit/desk.h"
#include "policy/kit/unmet.h"
#include "policy/pass/preempt/deadlines.h"
#include "policy/pass/preempt/sentences.h"
#include "policy/pass/preempt/stop_budget.h"
#include "policy/pass/preempt/stoppable.h"
#include "policy/pass/preempt/wait_bound.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

struct PreemptRules {
  Stops stops = Stops::marked;
  double margin = 1;
  double bound = 0;  ///< 0 = none.
  Duration grace{};
  Duration user_grace{};
  bool meets_deadlines = false;
  Duration patience{};
  double stops_per_job = 0;
};

class PreemptPass final : public Pass {
 public:
  PreemptPass(Desk& desk, const PreemptRules& rules)
      : desk_(desk), rules_(rules), budget_(rules.patience, rules.stops_per_job) {
    desk_.let_stop(rules.stops);
    if (rules.meets_deadlines) {
      deadlines_.emplace(desk, rules.stops);
      desk_.rank_by([&](auto order) { return due_first(std::move(order), *deadlines_); });
    }
    if (rules.bound > 0) {
      bound_.emplace(rules.bound, rules.grace, rules.user_grace);
      desk_.rank_by([&](auto order) { return overdue_first(std::move(order), *bound_); });
    }
  }

  PassNeeds needs() const override {
    return {.running = RunningRank::believed_end, .run_times = true};
  }
  bool bounds_wait_of_first() const override { return true; }

  void run(VcState& vc) override {
    Book& book = book_of(vc);
    look_at_what_changed(vc, book);
    if (!book.adopted.empty() && !vc.waiting.empty()) find_guests_again(vc, book);
    start_first(vc, book);
    if (!vc.waiting.empty()) {
      backfill(vc, book);
      start_by_stops(vc, book);
    }
    if (desk_.plan().num_stops() > 0) desk_.plan().wake(desk_.now());  // they may fit elsewhere
    if (vc.waiting.empty()) return;
    ask_wake(book);
    if (const Time next = next_lease(vc); next != kNever) desk_.plan().wake(next);
  }

  void file(Desk& desk, VcState& vc, JobId job) override {
    desk.enqueue(vc, job);
    const bool is_new = desk.view().progress(job).start == kNoTime;
    if (is_new) budget_.submitted(desk.view().request(job).user);
    if (bound_) bound_->arrived(desk, job);
  }
  void arrived(VcState& vc, JobId job) override {
    if (deadlines_) deadlines_->came(vc, job);
  }
  void adopted(VcState& vc, JobId job) override {
    Book& book = book_of(vc);
    if (deadlines_) deadlines_->came(vc, job);
    if (bound_) bound_->adopted(desk_, job);
    if (!may_stop(job)) return;
    book.stoppable.enter(job, desk_.view().grants(job));
    book.adopted.push_back(job);
  }
  void refiled(VcState& vc, JobId) override { book_of(vc).calendar.clear(); }
  void withdrawn(VcState& vc, JobId job) override {
    if (bound_) bound_->withdrawn(desk_, job);
    if (deadlines_) deadlines_->ended(vc, job);
    book_of(vc).stoppable.release_guests(job);
    book_of(vc).calendar.clear();
  }
  void ended(VcState& vc, JobId job) override {
    Book& book = book_of(vc);
    if (bound_) bound_->ended(desk_, job);
    if (deadlines_) deadlines_->ended(vc, job);
    if (book.stoppable.holds(job)) book.stoppable.leave(job, desk_.view().grants(job));
    if (desk_.believed_end(job) > desk_.now()) book.calendar.clear();
  }
  void capacity_changed(VcState& vc) override {
    Book& book = book_of(vc);
    if (bound_) bound_->capacity_changed(desk_);
    book.calendar.clear();
    book.stoppable.capacity_changed();
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) override {
    for (VcState& vc : vcs) {
      if (vc.waiting.empty()) continue;
      const Book& book = book_of(vc);
      const bool is_due =
          !book.calendar.empty() && book.calendar.at(book.calendar.first()).start <= desk_.now();
      const Time next = std::min({book.stoppable.next_review(), book.patient_from, next_lease(vc)});
      if (is_due || next <= desk_.now()) need.push_back(vc.vc);
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    if (index(vc.vc) < books_.size()) return books_[index(vc.vc)]->calendar.blocker(vc, job);
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  struct Book {
    Book(Desk& desk, const cluster::VirtualCluster& vc, VcId id, double margin)
        : calendar(desk, vc), stoppable(desk, id, margin) {}
    Calendar calendar;
    Stoppable stoppable;
    Time patient_from = kNever;  // when the next waiting job may stop others
    std::vector<JobId> adopted;  // before any job waited here
    std::vector<JobId> started;  // by the last plan: they could not be stopped then
  };

  Book& book_of(const VcState& vc) {
    while (books_.size() <= index(vc.vc)) {
      const VcId added{static_cast<std::uint32_t>(books_.size())};
      books_.push_back(std::make_unique<Book>(desk_, desk_.view().cluster.vcs[index(added)], added,
                                              rules_.margin));
    }
    return *books_[index(vc.vc)];
  }

  bool may_stop(JobId job) const {
    return policy::may_stop(desk_.view().request(job), rules_.stops);
  }

  void look_at_what_changed(VcState& vc, Book& book) {
    unmet_.clear();
    book.patient_from = kNever;
    if (bound_) {
      bound_->advance(desk_, [&](JobId job, Time at) { desk_.ask_again(job, at); });
    }
    for (const NodeId node : desk_.touched) {
      if (desk_.view().cluster.nodes[index(node)].vc == vc.vc) book.stoppable.node_changed(node);
    }
    for (const JobId job : std::exchange(book.started, {})) {
      for (const cluster::Grant& grant : desk_.grants(job)) book.stoppable.node_changed(grant.node);
    }
    if (book.calendar.extend_overruns(vc)) book.calendar.clear();
    if (book.stoppable.review()) book.calendar.clear();
    if (deadlines_) rank_again_what_became_due(vc, book);
  }

  void rank_again_what_became_due(VcState& vc, Book& book) {
    for (const JobId job : deadlines_->look(vc)) {
      if (desk_.view().progress(job).phase == Phase::waiting) {
        desk_.rank_again(vc, job);
      } else if (book.stoppable.holds(job)) {
        book.stoppable.rank_again(job);
      }
      book.calendar.clear();
    }
  }

  /// Marks as guests the running jobs that started past the first in line before this policy took
  /// over.
  void find_guests_again(const VcState& vc, Book& book) {
    const QueueEntry& first = vc.waiting.first().jobs.front();
    for (const JobId job : std::exchange(book.adopted, {})) {
      if (book.stoppable.holds(job)) book.stoppable.add_guest_that_started_past(job, first);
    }
  }

  /// Returns when deadlines are chosen again; kNever if no job of `vc` has one.
  Time next_lease(const VcState& vc) const {
    return deadlines_ ? deadlines_->next_look(vc.vc) : kNever;
  }

  /// Starts jobs in order of rank until one fits neither in what is free nor in what others give.
  void start_first(VcState& vc, Book& book) {
    while (!vc.waiting.empty()) {
      const WaitingQueue::Class& first = vc.waiting.first();
      const QueueEntry entry = first.jobs.front();
      auto grants = desk_.place(vc.vc, first.demand);
      bool stops_guests = false;
      if (grants.empty()) {
        if (!may_stop_others(book, entry)) break;
        grants = book.stoppable.make_room(vc, first, entry);
        if (grants.empty()) {
          grants = book.stoppable.make_room_with_guests(vc, first, entry);
          stops_guests = true;
        }
        if (grants.empty()) break;
        stop_victims(vc, book, entry.job);
      }
      start(vc, book, entry.job, grants);
      if (stops_guests && may_stop(entry.job)) book.stoppable.protect(entry.job);
      book.calendar.clear();
    }
    if (vc.waiting.empty() || !book.calendar.holds(vc.waiting.first().jobs.front().job)) {
      book.calendar.clear();
    }
  }

  /// Reserves a start for the first job, unless it holds one or never fits.
  void promise_first(VcState& vc, Book& book) {
    const QueueEntry& first = vc.waiting.first().jobs.front();
    if (book.calendar.holds(first.job)) return;
    book.calendar.promise(vc, first.job,
                          [&](JobId running) { return book.stoppable.gives_way(running, first); });
  }

  /// Starts jobs behind the first in what is free.
  void backfill(VcState& vc, Book& book) {
    exhausted_.assign(vc.waiting.classes().size(), false);
    for (;;) {
      const WaitingQueue::Class* from = nullptr;
      QueueEntry best{.key = kNobody};
      const int free = desk_.ledger().free_gpus(vc.vc);
      const auto skips = [&](const ClassTree::Part& part) {
        return best.key < part.front || is_in_vain(part.least, free);
      };
      vc.waiting.visit(skips, [&](const WaitingQueue::Class& each) {
        const std::size_t at = position(vc, each);
        if (exhausted_[at]) return;
        const QueueEntry* const candidate = first_harmless(vc, book, each);
        exhausted_[at] = candidate == nullptr;
        if (candidate == nullptr || !(candidate->key < best.key)) return;
        from = &each;
        best = *candidate;
      });
      if (from == nullptr) return;
      start_harmless(vc, book, best, from->demand);
    }
  }

  bool is_in_vain(const cluster::Demand& demand, int free) const {
    if (demand.gpus > std::max(free, 1)) return true;  // of one a part may do
    return unmet_.rules_out(demand) && !desk_.placement().draws();
  }

  /// The first job of a demand that can start now and does not delay the first in line; null =
  /// none.
  const QueueEntry* first_harmless(VcState& vc, Book& book, const WaitingQueue::Class& from) {
    if (!desk_.fits(vc.vc, from.demand)) {
      unmet_.add(desk_, vc, from);
      return nullptr;
    }
    promise_first(vc, book);
    const QueueEntry* const front = &from.jobs.front();
    if (book.calendar.empty() || is_harmless(vc, book, *front, from.demand)) return front;
    const Time gap_end = book.calendar.at(book.calendar.first()).start;
    const QueueEntry* const brief =
        gap_end <= desk_.now() ? nullptr : from.jobs.first_within(gap_end - desk_.now());
    const QueueEntry* const yielding = first_to_yield(vc, book, from);
    if (brief == nullptr || yielding == nullptr) return brief != nullptr ? brief : yielding;
    return yielding->key < brief->key ? yielding : brief;
  }

  bool is_harmless(const VcState& vc, Book& book, const QueueEntry& entry,
                   const cluster::Demand& demand) {
    if (would_yield(vc, book, entry)) return true;
    const std::size_t before = desk_.ledger().mark();
    const bool can = !book.calendar.place_now(vc.vc, demand, length_of(entry)).empty();
    desk_.ledger().undo(before);
    return can;
  }

  /// Whether a waiting job that starts now gives way to the first in line whenever that fits.
  bool would_yield(const VcState& vc, Book& book, const QueueEntry& entry) const {
    const QueueEntry& first = vc.waiting.first().jobs.front();
    return entry.job != first.job && may_stop(entry.job) &&
           book.stoppable.would_give_way(entry.job, entry.key, first.key);
  }

  const QueueEntry* first_to_yield(const VcState& vc, Book& book,
                                   const WaitingQueue::Class& from) const {
    if (rules_.stops == Stops::none) return nullptr;
    for (const QueueEntry* entry = &from.jobs.front(); entry != nullptr;
         entry = from.jobs.next(entry->key)) {
      if (would_yield(vc, book, *entry)) return entry;
    }
    return nullptr;
  }

  void start_harmless(VcState& vc, Book& book, const QueueEntry& entry,
                      const cluster::Demand& demand) {
    const bool yields = would_yield(vc, book, entry);
    if (book.calendar.empty() || yields) {
      const auto grants = desk_.place(vc.vc, demand);
      ALMANAC_CHECK(!grants.empty(), "job {} was found to fit", index(entry.job));
      return yields ? start_guest(vc, book, entry.job, grants) : start(vc, book, entry.job, grants);
    }
    const Duration length = length_of(entry);
    const auto grants = book.calendar.place_now(vc.vc, demand, length);
    ALMANAC_CHECK(!grants.empty(), "job {} was found harmless", index(entry.job));
    book.calendar.occupy(grants, Time::min(), desk_.now() + length, +1);
    start(vc, book, entry.job, grants);
  }

  /// Starts jobs behind the first on the GPUs of running jobs that give way to them.
  void start_by_stops(VcState& vc, Book& book) {
    if (book.stoppable.empty()) return;
    exhausted_.assign(vc.waiting.classes().size(), false);
    unmet_.clear();
    for (;;) {
      const WaitingQueue::Class* next = nullptr;
      QueueKey first = kNobody;
      const auto skips = [&](const ClassTree::Part& part) {
        return first < part.front || unmet_.rules_out(part.least);
      };
      vc.waiting.visit(skips, [&](const WaitingQueue::Class& each) {
        if (exhausted_[position(vc, each)] || !(each.jobs.front().key < first)) return;
        next = &each;
        first = each.jobs.front().key;
      });
      if (next == nullptr) return;
      const auto at = position(vc, *next);
      // What fits is kept out by the reservation alone.
      exhausted_[at] = desk_.fits(vc.vc, next->demand);
      if (exhausted_[at]) continue;
      const QueueEntry* const first_to_stop = first_that_may_stop_others(book, *next);
      exhausted_[at] = first_to_stop == nullptr;
      if (first_to_stop == nullptr) continue;
      const QueueEntry entry = *first_to_stop;
      if (!start_by_stops(vc, book, *next, entry)) unmet_.add(next->demand);
    }
  }

  const QueueEntry* first_that_may_stop_others(Book& book, const WaitingQueue::Class& from) {
    const QueueEntry* entry = &from.jobs.front();
    while (entry != nullptr && book.stoppable.any_gives_way(entry->key)) {
      if (may_stop_others(book, *entry)) return entry;
      entry = from.jobs.next(entry->key);
    }
    return nullptr;
  }

  /// Whether a waiting job may stop running jobs now. Patience would make a job with a deadline
  /// late; overdue jobs and those of higher tiers stop others whatever the gain.
  bool may_stop_others(Book& book, const QueueEntry& entry) {
    if (entry.key.rank < 0 || book.stoppable.has_below(entry.key.tier)) return true;
    if (deadlines_ && desk_.view().request(entry.job).deadline != kNoTime) return true;
    const NameId user = desk_.view().request(entry.job).user;
    const Time from = budget_.may_stop_from(user, desk_.view().progress(entry.job).since);
    if (from > desk_.now()) book.patient_from = std::min(book.patient_from, from);
    return from <= desk_.now();
  }

  static std::size_t position(const VcState& vc, const WaitingQueue::Class& each) {
    return static_cast<std::size_t>(&each - vc.waiting.classes().data());
  }

  bool start_by_stops(VcState& vc, Book& book, const WaitingQueue::Class& from,
                      const QueueEntry& entry) {
    const auto grants = book.stoppable.make_room(vc, from, entry);
    if (grants.empty()) return false;
    const std::vector<cluster::Grant> taken(grants.begin(), grants.end());
    const bool yields = would_yield(vc, book, entry);
    if (!yields) {
      const auto stopped = book.stoppable.victims();
      const std::vector<JobId> victims(stopped.begin(), stopped.end());
      book.stoppable.undo();
      promise_first(vc, book);
      const Time until = desk_.now() + length_of(entry);
      if (book.calendar.first_delayed(taken, until, entry.job) != kNoJob) return false;
      book.stoppable.redo(victims, taken, from.demand);
      book.calendar.occupy(taken, Time::min(), until, +1);
    }
    stop_victims(vc, book, entry.job);
    yields ? start_guest(vc, book, entry.job, taken) : start(vc, book, entry.job, taken);
    return true;
  }

  void stop_victims(VcState& vc, Book& book, JobId first) {
    for (const JobId job : book.stoppable.victims()) {
      book.stoppable.leave(job, desk_.grants(job));
      budget_.stopped_for(desk_.view().request(first).user);
      desk_.stop_for(vc, job, first);
    }
  }

  void start(VcState& vc, Book& book, JobId job, std::span<const cluster::Grant> grants) {
    if (bound_) bound_->started(desk_, job);
    desk_.start(vc, job, grants);
    book.stoppable.release_guests(job);
    if (!may_stop(job)) return;
    book.stoppable.enter(job, desk_.grants(job));
    book.started.push_back(job);
  }

  /// Starts a job that gives way to the first in line.
  void start_guest(VcState& vc, Book& book, JobId job, std::span<const cluster::Grant> grants) {
    const JobId host = vc.waiting.first().jobs.front().job;
    start(vc, book, job, grants);
    book.stoppable.add_guest(job, host);
  }

  /// Wakes for the next job that becomes overdue or gives way to others, while jobs wait.
  void ask_wake(const Book& book) {
    const Time next =
        std::min({desk_.next_refile(), book.stoppable.next_review(), book.patient_from});
    if (next <= desk_.now()) return desk_.plan().wake(desk_.now());
    if (next == kNever || (asked_ > desk_.now() && asked_ <= next)) return;
    asked_ = next;
    desk_.plan().wake(next);
  }

  static Duration length_of(const QueueEntry& entry) {
    return std::max(Duration{1}, entry.believed);
  }

  Desk& desk_;
  PreemptRules rules_;
  StopBudget budget_;
  std::optional<WaitBound> bound_;
  std::optional<Deadlines> deadlines_;
  std::vector<std::unique_ptr<Book>> books_;
  Unmet unmet_;
  std::vector<bool> exhausted_;  // of each class, during one backfill()
  Time asked_ = kNoTime;
};

}  // namespace

namespace pass {

void register_preempt(Registry& registry) {
  registry.passes.add(
      {.name = "preempt",
       .summary =
           "EASY backfill that stops running jobs if stops allows it; a job that waits much longer "
           "than under EASY goes first",
       .source = "ours; Lifka JSSPP'95; Gu et al. NSDI'19",
       .traits = {.has = {Trait::reads_run_times, Trait::reserves, Trait::stops_marked},
                  .bars = {Trait::gives_cores}},
       .parameters =
           {word("stops",
                 "which running jobs may be stopped: those marked by --requeue or a "
                 "checkpoint interval, all but --no-requeue, or none",
                 {"marked", "all", "none"}),
            number("margin",
                   "a job is stopped only if its rank, less the cost of the stop, is more than "
                   "this many times that of the job that needs its GPUs",
                   1.25, 1, 1e6),
            number("bound",
                   "a job that has waited for this many times its wait under EASY, plus grace_s, "
                   "goes first; 0 = no bound",
                   4, 0, 1e6),
            {.name = "grace_s",
             .summary = "constant part of that bound, in seconds",
             .usual = {1209600},
             .most = 1e9,
             .needs = "bound"},
            {.name = "user_grace_s",
             .summary = "the jobs of a user who has waited longer than under EASY, and on average "
                        "longer than this many seconds, go first",
             .usual = {172800},
             .most = 1e9,
             .needs = "bound"},
            word("deadlines",
                 "whether deadlines are ignored, or jobs that must run now to meet theirs go "
                 "first",
                 {"ignored", "met"}),
            number("patience_s",
                   "a job stops others only after it has waited for this long, unless its user has "
                   "stops left",
                   600, 0, 1e9),
            number("stops_per_job",
                   "the part of a stop that each job adds to the budget of its user, which holds "
                   "up to 5 stops",
                   0.15, 0, 1e6)},
       .adjust_traits =
           [](const Parameters& told, TraitSet& traits) {
             const std::string& stops = told.word("stops");
             if (stops != "marked") traits.remove({Trait::stops_marked});
             if (stops == "all") traits.add({Trait::stops_jobs});
           },
       .explain = preempt_sentences},
      [](const Parameters& told, Desk& desk) {
        const std::string& word = told.word("stops");
        return std::make_unique<PreemptPass>(
            desk, PreemptRules{.stops = word == "all"    ? Stops::all
                                        : word == "none" ? Stops::none
                                                         : Stops::marked,
                               .margin = told.number("margin"),
                               .bound = told.number("bound"),
                               .grace = told.duration("grace_s"),
                               .user_grace = told.duration("user_grace_s"),
                               .meets_deadlines = told.word("deadlines") == "met",
                               .patience = told.duration("patience_s"),
                               .stops_per_job = told.number("stops_per_job")});
      });
}

}  // namespace pass
}  // namespace almanac::policy
