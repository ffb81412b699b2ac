// SPDX-License-Identifier: Apache-2.0

/// \file
/// OASiS: prices decide, as a job arrives, whether it is accepted and when it runs.
///
/// Time has slots of `slot_s`. A GPU of a slot costs `least` to `most` per GPU-hour: the price
/// rises exponentially with the fraction of the GPUs of its type that accepted jobs have booked
/// there. For each GPU type, each number of GPUs that a new job may have (trace/sizes.h), and each
/// slot in which it could end, the cheapest slots until then that hold its work are found. The job
/// books those with the largest payoff, its value at that end (trace/value.h) less what they cost,
/// if the payoff is above 0. A job that states no value is worth 1 for each GPU-hour that it needs.
///
/// In each slot, the jobs that booked it run, on the GPU type that they booked. What they leave
/// goes to accepted jobs that booked later slots, then to rejected ones, in order of arrival. A job
/// that needs longer than it booked books the next slots with room; once its estimate is used up,
/// it counts as one of later slots.
///
/// A job loses what it has booked if a node goes down and too few GPUs are left for it, and is
/// decided again. Rejected jobs are decided again once there are more GPUs than before. A job that
/// finds no place although no other job runs is rejected.
///
/// Source   Bao et al., INFOCOM'18 (OASiS): exponential prices of resources by time slot, and
///          acceptance by payoff.
/// Differs  GPUs are the only resource with a price, and jobs have no parameter servers. A job has
///          the same number of GPUs, all of one type, in all its slots; the paper varies the number
///          by a dynamic program. A job that would end after more than 1,000 slots is rejected.
///          Bounds of the price are parameters; the paper derives them from the values of all jobs.
///          A rejected job is not turned away, and its wait has no bound. A running job keeps its
///          GPUs until it has gained what a stop would cost it (kit/gain.h), whatever was booked.
/// Cost     per decision about a job, for each of its types and sizes: a prediction of its speed,
///          and at most O(slots^2 log slots) for its slots, with 1,000 slots ahead, or O(slots log
///          slots) if few ends are better than all before. Jobs are decided as they arrive, and
///          rejected ones whenever the number of GPUs rises. O(n log slots) per slot with n jobs
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/gain.h"
#include "policy/registry.h"
#include "trace/sizes.h"
#include "trace/value.h"

namespace almanac::policy::whole {
namespace {

constexpr std::int64_t kSlotsAhead = 1000;

class Oasis final : public Allocator {
 public:
  Oasis(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
        const Parameters& told)
      : Allocator(std::move(placement), std::move(estimator)),
        slot_(told.duration("slot_s")),
        least_(told.number("least")),
        most_(std::max(told.number("most"), least_)) {}

 private:
  using Slot = std::int64_t;

  /// What an accepted job has booked.
  struct Booking {
    VcId vc{};
    std::uint64_t gpu_type = 0;  // one bit
    int gpus = 0;
    double rate = 1;            // on these GPUs
    std::vector<Slot> slots{};  // ascending
  };
  /// A slot as part of a plan; the dearest is dropped first, the later of equals.
  struct Piece {
    double price = 0;
    Slot slot = 0;
    double work_s = 0;

    friend bool operator<(const Piece& a, const Piece& b) {
      return a.price != b.price ? a.price < b.price : a.slot < b.slot;
    }
  };
  /// GPUs of one type of a virtual cluster.
  struct Book {
    int gpus = 0;                // that jobs can use now
    std::map<Slot, int> used{};  // booked
  };
  using Books = std::map<std::uint64_t, Book>;  // by GPU type

  Slot slot_at(Time now) const {
    const Slot slot = now.time_since_epoch() / slot_;
    return begin_of(slot) > now ? slot - 1 : slot;  // before the epoch
  }
  Time begin_of(Slot slot) const { return Time{slot_ * slot}; }
  double length_s(Slot slot, Time now) const {
    return seconds(begin_of(slot + 1) - std::max(now, begin_of(slot)));
  }

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    std::vector<Stock> left = stock(id, plan.ledger);
    Books& books = books_[id];
    const Slot now = slot_at(view.now);
    const bool are_more = count(left, now, books);
    jobs_.assign(jobs.begin(), jobs.end());
    for (const JobId job : jobs) {
      const auto found = bookings_.find(job);
      const bool is_too_large =
          found != bookings_.end() && found->second.gpus > books[found->second.gpu_type].gpus;
      if (is_too_large) cancel(job);
      if (is_too_large || (are_more && found == bookings_.end())) decided_.erase(job);
    }
    named_.clear();
    keep_running(left, view, wishes);
    std::vector<JobId> later;
    std::vector<JobId> rejected;
    for (const JobId job : jobs) {
      if (asked(job, view).is_cpu_job()) {
        wishes.push_back({job});
        continue;
      }
      if (!decided_.contains(job)) decide_on(job, id, books, view, plan.ledger);
      const auto found = bookings_.find(job);
      if (found != bookings_.end()) {
        update(job, found->second, books[found->second.gpu_type], view);
      }
      if (keeps(job, view)) continue;
      if (found == bookings_.end()) {
        rejected.push_back(job);
        continue;
      }
      const std::vector<Slot>& slots = found->second.slots;
      if (slots.empty() || slots.front() > now) {
        later.push_back(job);
      } else {
        run(job, found->second, left, view, wishes);
      }
    }
    for (const JobId job : later) run(job, bookings_.at(job), left, view, wishes);
    for (const JobId job : rejected) run_rejected(job, books, left, view, wishes);
  }

  static bool keeps(JobId job, const View& view) {
    return view.progress(job).phase == Phase::running && !asked(job, view).is_cpu_job() &&
           !has_repaid(job, view);
  }

  /// Lets running jobs keep what they hold if a stop would cost more than they have gained.
  void keep_running(std::vector<Stock>& left, const View& view, std::vector<Wish>& wishes) const {
    for (const JobId job : jobs_) {
      if (!keeps(job, view)) continue;
      cluster::Demand held = asked(job, view);
      held.gpus = 0;
      for (const cluster::Grant& grant : view.grants(job)) held.gpus += grant.count();
      held.gpu_types = type_held(job, view);
      if (take(left, held)) {
        wishes.push_back({.job = job, .gpus = held.gpus, .gpu_types = held.gpu_types});
      }
    }
  }

  /// Notes the GPUs that there are. Returns whether there are more of a type than before.
  static bool count(const std::vector<Stock>& stock, Slot now, Books& books) {
    bool are_more = false;
    for (const Stock& each : stock) {
      Book& book = books[each.gpu_type];
      const auto gpus = static_cast<int>(each.milli / cluster::kWholeGpu);
      are_more = are_more || gpus > book.gpus;
      book.gpus = gpus;
      book.used.erase(book.used.begin(), book.used.lower_bound(now));
    }
    return are_more;
  }

  void run(JobId job, const Booking& booking, std::vector<Stock>& left, const View& view,
           std::vector<Wish>& wishes) {
    cluster::Demand demand = asked(job, view);
    demand.gpus = booking.gpus;
    demand.gpu_types = booking.gpu_type;
    if (!take(left, demand)) return;
    wishes.push_back({.job = job, .gpus = booking.gpus, .gpu_types = booking.gpu_type});
    named_.push_back(job);
  }

  /// Runs a rejected job on what it requests, or on the next smaller size if it is elastic and
  /// there are not that many GPUs.
  static void run_rejected(JobId job, const Books& books, std::vector<Stock>& left,
                           const View& view, std::vector<Wish>& wishes) {
    cluster::Demand demand = asked(job, view);
    if (is_elastic(job, view)) {
      int most = 0;
      for (const auto& [type, book] : books) {
        if ((type & demand.gpu_types) != 0) most = std::max(most, book.gpus);
      }
      if (most < demand.gpus) demand.gpus = trace::sizes_of(view.request(job)).at_most(most);
      if (demand.gpus == 0) return;
    }
    if (const std::uint64_t held = type_held(job, view); held != 0) demand.gpu_types = held;
    if (take(left, demand)) wishes.push_back({.job = job, .gpus = demand.gpus});
  }

  /// While a job runs, the next slot may change what runs. If none does, a job that was named and
  /// found no place would hold its slots for ever, so it is rejected.
  void settled(VcId id, const View& view, Plan& plan) override {
    const auto runs = [&](JobId job) { return will_run(job, view, plan); };
    const auto pools = plan.ledger.pools(id);
    // Jobs that must not be stopped are not among `jobs_`.
    const bool any_runs = std::any_of(jobs_.begin(), jobs_.end(), runs) ||
                          std::any_of(pools.begin(), pools.end(), [](const cluster::Pool& pool) {
                            return pool.free_gpus < pool.capacity;
                          });
    if (any_runs) {
      const bool any_booked = std::any_of(bookings_.begin(), bookings_.end(),
                                          [&](const auto& each) { return each.second.vc == id; });
      if (any_booked) plan.wake(begin_of(slot_at(view.now) + 1));
      return;
    }
    if (named_.empty()) return;
    for (const JobId job : named_) cancel(job);
    plan.wake(view.now);
  }

  void left(JobId job, const View& view) override {
    const Phase phase = view.progress(job).phase;
    if (phase == Phase::running || phase == Phase::waiting) return;
    decided_.erase(job);
    cancel(job);
  }

  /// Gives back what a job has booked.
  void cancel(JobId job) {
    const auto found = bookings_.find(job);
    if (found == bookings_.end()) return;
    const Booking booking = std::move(found->second);
    bookings_.erase(found);
    Book& book = books_[booking.vc][booking.gpu_type];
    for (const Slot slot : booking.slots) release(slot, booking.gpus, book);
  }

  static void release(Slot slot, int gpus, Book& book) {
    const auto found = book.used.find(slot);
    if (found == book.used.end()) return;  // it is over
    found->second -= gpus;
    if (found->second == 0) book.used.erase(found);
  }

  static int used(const Book& book, Slot slot) {
    const auto found = book.used.find(slot);
    return found == book.used.end() ? 0 : found->second;
  }

  /// Returns the price of a GPU-hour of a slot.
  double price(const Book& book, Slot slot) const {
    return least_ * std::pow(most_ / least_, static_cast<double>(used(book, slot)) / book.gpus);
  }

  static bool is_elastic(JobId job, const View& view) {
    return view.speeds != nullptr && view.request(job).max_gpus > 0 && !asked(job, view).is_part();
  }

  void decide_on(JobId job, VcId id, Books& books, const View& view,
                 const cluster::Ledger& ledger) {
    decided_.insert(job);
    const trace::Request& request = view.request(job);
    const cluster::Demand& demand = asked(job, view);
    const trace::Sizes sizes = is_elastic(job, view)
                                   ? trace::sizes_of(request)
                                   : trace::Sizes{.least = demand.gpus, .most = demand.gpus};
    const double work_s = std::max(1.0, seconds(work_left(job, view)));
    const double worth = std::isnan(request.value) ? demand.gpus * work_s / 3600 : 1.0;
    double best = 0;
    Booking booking;
    for (const auto& [type, book] : books) {
      if ((type & demand.gpu_types) == 0) continue;
      for (int gpus = sizes.least; gpus <= std::min(sizes.most, book.gpus); gpus += sizes.step) {
        const double rate = rate_on_type(job, type, id, view, ledger, gpus);
        // The speed on nodes that differ is not known: it is as recorded.
        Booking tried{.vc = id, .gpu_type = type, .gpus = gpus, .rate = rate > 0 ? rate : 1};
        const double payoff = best_slots(tried, work_s, worth, request, book, view.now);
        if (payoff <= best) continue;
        best = payoff;
        booking = std::move(tried);
      }
    }
    if (best <= 0) return;
    Book& book = books[booking.gpu_type];
    for (const Slot slot : booking.slots) book.used[slot] += booking.gpus;
    bookings_[job] = std::move(booking);
  }

  /// Fills in the slots with the largest payoff, and returns it; 0 if none is above 0.
  double best_slots(Booking& tried, double work_s, double worth, const trace::Request& request,
                    const Book& book, Time now) const {
    std::priority_queue<Piece> pieces;
    double held_s = 0;  // work that the pieces hold
    double cost = 0;
    double best = 0;
    const auto cost_of = [&](const Piece& piece) {
      return piece.price * tried.gpus * piece.work_s / tried.rate / 3600;
    };
    for (Slot slot = slot_at(now); slot < slot_at(now) + kSlotsAhead; ++slot) {
      if (used(book, slot) + tried.gpus > book.gpus) continue;
      const Piece last{price(book, slot), slot, length_s(slot, now) * tried.rate};
      pieces.push(last);
      held_s += last.work_s;
      cost += cost_of(last);
      bool stays = true;
      while (!pieces.empty() && held_s - pieces.top().work_s >= work_s && stays) {
        const Piece dearest = pieces.top();
        stays = dearest.slot != slot;
        pieces.pop();
        held_s -= dearest.work_s;
        cost -= cost_of(dearest);
      }
      if (!stays || held_s < work_s) continue;
      const double rest_s = std::max(0.0, work_s - (held_s - last.work_s)) / tried.rate;
      const Time end =
          std::max(now, begin_of(slot)) + Duration{std::llround(std::ceil(rest_s * 1e3))};
      const double payoff = worth * trace::value_at(request, end) - cost;
      if (payoff <= best) continue;
      best = payoff;
      tried.slots.clear();
      for (auto all = pieces; !all.empty(); all.pop()) tried.slots.push_back(all.top().slot);
    }
    std::sort(tried.slots.begin(), tried.slots.end());
    return best;
  }

  /// Gives back slots that a job no longer needs, the latest first, or books more.
  void update(JobId job, Booking& booking, Book& book, const View& view) const {
    const Slot now = slot_at(view.now);
    std::vector<Slot>& slots = booking.slots;
    std::erase_if(slots, [&](Slot slot) { return slot < now; });
    const double work_s = seconds(work_left(job, view));
    double held_s = 0;
    for (const Slot slot : slots) held_s += length_s(slot, view.now) * booking.rate;
    while (!slots.empty()) {
      const double last_s = length_s(slots.back(), view.now) * booking.rate;
      if (held_s - last_s < work_s) break;
      held_s -= last_s;
      release(slots.back(), booking.gpus, book);
      slots.pop_back();
    }
    for (Slot slot = now; held_s < work_s && slot < now + kSlotsAhead; ++slot) {
      const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
      const bool is_booked = place != slots.end() && *place == slot;
      if (is_booked || used(book, slot) + booking.gpus > book.gpus) continue;
      slots.insert(place, slot);
      book.used[slot] += booking.gpus;
      held_s += length_s(slot, view.now) * booking.rate;
    }
  }

  Duration slot_;
  double least_;
  double most_;
  std::map<VcId, Books> books_;
  std::map<JobId, Booking> bookings_;  // of accepted jobs
  std::set<JobId> decided_;
  std::vector<JobId> jobs_;   // of the virtual cluster that is being decided
  std::vector<JobId> named_;  // accepted jobs that should run in it
};

}  // namespace

void register_oasis(Registry& registry) {
  registry.wholes.add(
      {.name = "oasis",
       .summary = "accepts a job if its value exceeds the price of its GPUs, which rises with what "
                  "is booked in each time slot",
       .source = "Bao et al. INFOCOM'18 (OASiS)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::reads_speeds,
                          Trait::stops_jobs, Trait::moves_jobs, Trait::resizes_jobs,
                          Trait::chooses_gpus}},
       .parameters = {number("slot_s", "length of a time slot", 600, 1, 1e6),
                      number("least", "price of a GPU-hour in a slot without bookings", 0.01, 1e-9,
                             1e9),
                      number("most", "price of a GPU-hour in a slot that is booked up", 1, 1e-9,
                             1e9)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Oasis>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
