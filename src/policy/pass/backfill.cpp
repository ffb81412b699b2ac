// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job may pass a blocked one if it delays none of the first `depth` blocked jobs, each of which
/// holds a reservation. Depth 1 is EASY backfill; with every job it is conservative backfill.
///
/// Source   Lifka, JSSPP'95 (EASY); Mu'alem & Feitelson, TPDS 2001, section 2.
/// Differs  Reservations name nodes. Up to `depth` reservations are made again whenever jobs end at
///          other times than predicted. Conservative ones are kept, and the time that becomes free
///          is offered to jobs that can start at once. A job that exceeds its estimate is expected
///          to run as long again.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"
#include "policy/kit/calendar.h"
#include "policy/kit/desk.h"
#include "policy/kit/unmet.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

/// Jobs that hold a reservation: all that wait.
constexpr int kEveryJob = std::numeric_limits<int>::max();

class BackfillPass final : public Pass {
 public:
  BackfillPass(Desk& desk, int depth) : desk_(desk), depth_(depth) {}

  PassNeeds needs() const override {
    return {.running = RunningRank::believed_end, .run_times = true};
  }
  // With more reservations, jobs that are believed too short could pass the first on their own.
  bool bounds_wait_of_first() const override { return depth_ == 1; }

  void run(VcState& vc) override {
    Book& book = book_of(vc);
    unmet_.clear();
    extend_overruns(vc, book);
    if (depth_ > 1) keep_promises(vc, book);
    if (depth_ == kEveryJob) {
      promise_newcomers(vc, book);
      if (book.changed) backfill(vc, book);
    } else {
      if (desk_.start_in_order(vc)) book.calendar.clear();
      // Reservations cost a walk through the future: none is made unless a job could use the gap.
      if (!anybody_fits(vc)) return;
      book.lost = false;
      promise_first(vc, book);
      if (!book.lost && !is_overdue(vc, book)) backfill(vc, book);
    }
    if (book.calendar.empty()) book.changed = false;
    if (depth_ > 1 && !book.calendar.empty()) {
      desk_.plan().wake(book.calendar.at(book.calendar.first()).start);
    }
  }

  void arrived(VcState& vc, JobId job) override {
    if (depth_ == kEveryJob) book_of(vc).newcomers.push_back(job);
  }

  void refiled(VcState& vc, JobId job) override {
    Book& book = book_of(vc);
    book.changed = true;
    if (!book.calendar.holds(job)) return;
    if (depth_ != kEveryJob) return book.calendar.clear();
    book.calendar.forget(job);
    book.newcomers.push_back(job);
  }

  void withdrawn(VcState& vc, JobId job) override {
    Book& book = book_of(vc);
    book.changed = true;
    book.lost = true;
    if (depth_ != kEveryJob) return book.calendar.clear();
    std::erase(book.newcomers, job);
    if (book.calendar.holds(job)) book.calendar.forget(job);
  }

  void ended(VcState& vc, JobId job) override {
    const Time believed = desk_.believed_end(job);
    if (believed <= desk_.now()) return;
    Book& book = book_of(vc);
    book.changed = true;
    if (depth_ == kEveryJob) {
      book.calendar.occupy(desk_.view().grants(job), desk_.now(), believed, -1);
    } else {
      book.calendar.clear();
    }
  }

  void capacity_changed(VcState& vc) override {
    Book& book = book_of(vc);
    book.calendar.clear();
    book.changed = true;
    if (depth_ != kEveryJob) return;
    book.newcomers.clear();
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        book.newcomers.push_back(at.get()->job);
      }
    }
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) override {
    for (VcState& vc : vcs) {
      const Book& book = book_of(vc);
      if (!book.calendar.empty() && book.calendar.at(book.calendar.first()).start <= desk_.now()) {
        need.push_back(vc.vc);
      }
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    if (index(vc.vc) < books_.size()) return books_[index(vc.vc)]->calendar.blocker(vc, job);
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  struct Book {
    Book(Desk& desk, const cluster::VirtualCluster& vc) : calendar(desk, vc) {}
    Calendar calendar;
    std::vector<JobId> newcomers;  // conservative: those without a reservation yet
    bool changed = false;          // reservations were made for another future: time may be free
    bool lost = false;             // by a start of this run: the next run starts from scratch
    JobId oldest = kNoJob;         // beyond the age cap, that was first in line last
    Time oldest_start{};           // what it was promised first
  };

  /// For demands of more than `gpus` GPUs (other than parts of one), only jobs expected to run no
  /// longer than `gap` can go ahead.
  struct OnlyBrief {
    int gpus = std::numeric_limits<int>::max();
    Duration gap{};

    bool holds_for(const cluster::Demand& demand) const {
      return demand.gpus > gpus && !demand.is_part();
    }
  };

  Book& book_of(const VcState& vc) {
    while (books_.size() <= index(vc.vc)) {
      books_.push_back(std::make_unique<Book>(desk_, desk_.view().cluster.vcs[books_.size()]));
    }
    return *books_[index(vc.vc)];
  }

  void extend_overruns(VcState& vc, Book& book) {
    if (!book.calendar.extend_overruns(vc)) return;
    book.changed = true;
    if (depth_ != kEveryJob) return book.calendar.clear();
    for (const JobId job : book.calendar.broken()) {
      book.calendar.forget(job);
      book.newcomers.push_back(job);
    }
  }

  /// Whether the first job is beyond the age cap, and did not start within the cap after
  /// the time that was believed first: jobs that run longer than believed could pass it for ever.
  bool is_overdue(const VcState& vc, Book& book) const {
    if (vc.waiting.empty()) return false;
    const JobId first = vc.waiting.first().jobs.front().job;
    if (!desk_.is_old(first)) return false;
    if (book.oldest != first) book.oldest_start = kNever;
    book.oldest = first;
    // Without a reservation it fits nowhere until nodes come back.
    if (book.oldest_start == kNever && book.calendar.holds(first)) {
      book.oldest_start = book.calendar.at(first).start;
    }
    return book.oldest_start != kNever && desk_.now() >= book.oldest_start + desk_.age_cap();
  }

  bool anybody_fits(const VcState& vc) {
    const int free = desk_.ledger().free_gpus(vc.vc);
    bool any = false;
    const auto skips = [&](const ClassTree::Part& part) {
      return any || is_in_vain(part.least, free);
    };
    vc.waiting.visit(skips, [&](const WaitingQueue::Class& each) {
      any = desk_.fits(vc.vc, each.demand);
      if (!any) unmet_.add(desk_, vc, each);
    });
    return any;
  }

  /// Whether no job that asks as much need be tried while `free` GPUs are free.
  bool is_in_vain(const cluster::Demand& demand, int free) const {
    if (demand.gpus > std::max(free, 1)) return true;  // of one a part may do
    return unmet_.rules_out(demand) && !desk_.placement().draws();
  }

  /// Reserves a start for each of the first `depth_` waiting jobs, unless they hold one already.
  void promise_first(VcState& vc, Book& book) {
    if (all_held(vc, book)) return;
    book.calendar.clear();
    int promised = 0;
    QueueKey key = vc.waiting.first().jobs.front().key;
    for (JobId job = vc.waiting.first().jobs.front().job;;) {
      const Calendar::Promise* const made = book.calendar.promise(vc, job);
      if (made != nullptr && made->start == desk_.now()) {
        start_as_promised(vc, book, job, *made);
        if (book.lost) return;
      } else if (++promised == depth_) {
        return;
      }
      const QueueEntry* const following = vc.waiting.next(key);
      if (following == nullptr) return;
      key = following->key;
      job = following->job;
    }
  }

  bool all_held(const VcState& vc, const Book& book) const {
    const QueueEntry* entry = &vc.waiting.first().jobs.front();
    for (int held = 0; held < depth_ && entry != nullptr; ++held) {
      if (!book.calendar.holds(entry->job)) return false;
      entry = depth_ == 1 ? nullptr : vc.waiting.next(entry->key);
    }
    return true;
  }

  void keep_promises(VcState& vc, Book& book) {
    for (const JobId job : book.calendar.due(desk_.now())) {
      if (!book.calendar.holds(job)) continue;  // a start of these took the last of its quota
      const Calendar::Promise promise = book.calendar.at(job);
      if (const auto grants = book.calendar.take(promise); !grants.empty()) {
        book.calendar.fulfil(job);
        desk_.start(vc, job, grants);
      } else {
        book.calendar.forget(job);
        if (depth_ == kEveryJob) book.newcomers.push_back(job);
      }
    }
  }

  void promise_newcomers(VcState& vc, Book& book) {
    std::vector<JobId> newcomers = std::exchange(book.newcomers, {});
    std::sort(newcomers.begin(), newcomers.end(),
              [&](JobId a, JobId b) { return desk_.key(a) < desk_.key(b); });
    for (const JobId job : newcomers) {
      if (vc.waiting.is_aside(desk_.demand_id(job))) continue;
      const Calendar::Promise* const made = book.calendar.promise(vc, job);
      if (made == nullptr) {
        book.newcomers.push_back(job);
      } else if (made->start == desk_.now()) {
        start_as_promised(vc, book, job, *made);
      }
    }
  }

  /// Starts a job whose reservation, which is not kept, says that it can start at once.
  void start_as_promised(VcState& vc, Book& book, JobId job, const Calendar::Promise& promise) {
    const auto grants = book.calendar.take(promise);
    book.calendar.occupy(grants, promise.start, promise.end, +1);
    desk_.start(vc, job, grants);
  }

  void backfill(VcState& vc, Book& book) {
    // Starts only take GPUs and slack, but for the reservation that the starting job held: a demand
    // that found no job finds none later.
    exhausted_.assign(vc.waiting.classes().size(), false);
    for (;;) {
      const WaitingQueue::Class* from = nullptr;
      QueueEntry best{.key = kNobody};
      const int free = desk_.ledger().free_gpus(vc.vc);
      only_brief_ = only_brief(vc, book);
      const auto skips = [&](const ClassTree::Part& part) {
        return best.key < part.front || is_in_vain(part.least, free) ||
               (only_brief_.holds_for(part.least) && part.believed > only_brief_.gap);
      };
      vc.waiting.visit(skips, [&](const WaitingQueue::Class& each) {
        const auto position = static_cast<std::size_t>(&each - vc.waiting.classes().data());
        if (exhausted_[position]) return;
        if (each.demand.gpus > desk_.ledger().free_gpus(vc.vc, each.demand)) {
          return unmet_.add(each.demand);
        }
        const QueueEntry* const candidate = first_harmless(vc, book, each);
        exhausted_[position] = candidate == nullptr;
        if (candidate == nullptr || !(candidate->key < best.key)) return;
        from = &each;
        best = *candidate;
      });
      if (from == nullptr) return;
      start_harmless(vc, book, best, from->demand);
      if (book.lost && depth_ != kEveryJob) return;
    }
  }

  /// Demands with more GPUs than are free next to those of the head may go ahead only if the job
  /// ends before the head starts.
  OnlyBrief only_brief(const VcState& vc, const Book& book) const {
    if (depth_ != 1 || desk_.placement().draws() || book.calendar.empty()) return {};
    return {.gpus = book.calendar.free_beside_first(vc.vc),
            .gap = book.calendar.at(book.calendar.first()).start - desk_.now()};
  }

  /// The first job of a demand that can start now and delays no other's reservation; null = none.
  const QueueEntry* first_harmless(VcState& vc, Book& book, const WaitingQueue::Class& from) {
    if (only_brief_.holds_for(from.demand)) {
      const QueueEntry* const brief = from.jobs.first_within(only_brief_.gap);
      if (brief == nullptr) {
        vc.waiting.tighten(from);
      } else if (!desk_.fits(vc.vc, from.demand)) {
        unmet_.add(desk_, vc, from);
        return nullptr;
      }
      return brief;
    }
    cluster::Ledger& ledger = desk_.ledger();
    const std::size_t before = ledger.mark();
    const auto grants = desk_.place(vc.vc, from.demand);
    const bool fits = !grants.empty();
    const JobId delayed = book.calendar.first_delayed(grants, kNever);
    ledger.undo(before);
    if (!fits) {
      unmet_.add(desk_, vc, from);
      return nullptr;
    }
    if (delayed == kNoJob) return &from.jobs.front();

    const Duration gap = book.calendar.at(delayed).start - desk_.now();
    const QueueEntry* const brief = from.jobs.first_within(gap);
    const QueueEntry* const front = &from.jobs.front();
    if (brief == front) return front;
    return can_start(vc, book, *front, from.demand) ? front : brief;
  }

  /// Whether `entry` can start now, its own reservation set aside.
  bool can_start(const VcState& vc, Book& book, const QueueEntry& entry,
                 const cluster::Demand& demand) {
    const bool promised = book.calendar.holds(entry.job);
    Calendar::Promise own;
    if (promised) own = book.calendar.forget(entry.job);
    const std::size_t before = desk_.ledger().mark();
    const bool can = !book.calendar.place_now(vc.vc, demand, length_of(entry)).empty();
    desk_.ledger().undo(before);
    if (promised) book.calendar.keep(entry.job, std::move(own));
    return can;
  }

  void start_harmless(VcState& vc, Book& book, const QueueEntry& entry,
                      const cluster::Demand& demand) {
    if (book.calendar.holds(entry.job)) {
      book.calendar.forget(entry.job);
      exhausted_.assign(exhausted_.size(), false);
    } else if (depth_ == kEveryJob) {
      std::erase(book.newcomers, entry.job);
    }
    const Duration length = length_of(entry);
    const auto grants = book.calendar.place_now(vc.vc, demand, length);
    ALMANAC_CHECK(!grants.empty(), "job {} was found harmless", index(entry.job));
    book.calendar.occupy(grants, Time::min(), desk_.now() + length, +1);
    desk_.start(vc, entry.job, grants);
  }

  static Duration length_of(const QueueEntry& entry) {
    return std::max(Duration{1}, entry.believed);
  }

  Desk& desk_;
  int depth_;
  std::vector<std::unique_ptr<Book>> books_;
  Unmet unmet_;                  // in one run()
  OnlyBrief only_brief_;         // as things are during one backfill()
  std::vector<bool> exhausted_;  // of each class, during one backfill()
};

}  // namespace

namespace pass {

void register_backfill(Registry& registry) {
  registry.passes.add(
      {.name = "easy",
       .summary = "EASY backfill: later jobs may start if they delay no reservation of the first "
                  "blocked jobs",
       .source = "Lifka JSSPP'95",
       .traits = {.has = {Trait::reads_run_times, Trait::reserves}, .bars = {Trait::gives_cores}},
       .parameters = {whole_number("depth", "number of blocked jobs that hold a reservation", 1, 1,
                                   1e6)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<BackfillPass>(desk, told.whole("depth"));
      });
  registry.passes.add(
      {.name = "conservative",
       .summary = "conservative backfill: later jobs may start if they delay no waiting job",
       .source = "Mu'alem & Feitelson 2001 §2",
       .traits = {.has = {Trait::reads_run_times, Trait::reserves}, .bars = {Trait::gives_cores}}},
      [](const Parameters&, Desk& desk) {
        return std::make_unique<BackfillPass>(desk, kEveryJob);
      });
}

}  // namespace pass
}  // namespace almanac::policy
