// SPDX-License-Identifier: Apache-2.0

/// \file
/// OASiS: prices decide, as a job arrives, whether it is accepted and when it runs.
///
/// Time has slots of `slot_s`. A GPU of a slot costs `least` to `most` per GPU-hour: the price
/// rises exponentially with the fraction of the GPUs that accepted jobs have booked there. For each
/// number of GPUs that a new job may have, and each slot in which it could end, the cheapest slots
/// until then that hold its work are found. The job books those with the largest payoff, its value
/// at that end (trace/value.h) less what they cost, if the payoff is above 0. A job that states no
/// value is worth 1 for each GPU-hour that it needs.
///
/// In each slot, the jobs that booked it run. What they leave goes to accepted jobs that booked
/// later slots, then to rejected ones, in order of arrival. A job that needs longer than it booked
/// books the next slots with room; once its estimate is used up, it counts as one of later slots.
///
/// Source   Bao et al., INFOCOM'18 (OASiS): exponential prices of resources by time slot, and
///          acceptance by payoff.
/// Differs  GPUs are the only resource with a price, those of all types alike, and jobs have no
///          parameter servers. A job has the same number of GPUs in all its slots; the paper varies
///          it by a dynamic program. Bounds of the price are parameters; the paper derives them
///          from the values of all jobs. A rejected job is not turned away, and its wait has no
///          bound.
/// Cost     O(sizes x slots x log slots) per arrival, with at most 1,000 slots ahead; O(n) per slot
///          with n jobs
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/registry.h"
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
  /// State of a virtual cluster.
  struct Vc {
    int gpus = 0;                // that jobs can use now
    int per_node = 1;            // most GPUs of a node
    std::map<Slot, int> used{};  // booked
  };

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
    Vc& vc = vcs_[id];
    vc.gpus = 0;
    for (const Stock& each : left) vc.gpus += static_cast<int>(each.milli / cluster::kWholeGpu);
    for (const cluster::Pool& pool : plan.ledger.pools(id)) {
      vc.per_node = std::max(vc.per_node, pool.gpus_per_node);
    }
    const Slot now = slot_at(view.now);
    vc.used.erase(vc.used.begin(), vc.used.lower_bound(now));
    std::vector<JobId> later;
    std::vector<JobId> rejected;
    for (const JobId job : jobs) {
      if (asked(job, view).is_cpu_job()) {
        wishes.push_back({job});
        continue;
      }
      if (!decided_.contains(job)) decide_on(job, id, vc, view);
      const auto found = bookings_.find(job);
      if (found == bookings_.end()) {
        rejected.push_back(job);
        continue;
      }
      update(job, found->second, vc, view);
      const std::vector<Slot>& slots = found->second.slots;
      if (slots.empty() || slots.front() > now) {
        later.push_back(job);
      } else {
        run(job, found->second.gpus, left, view, wishes);
      }
    }
    for (const JobId job : later) run(job, bookings_.at(job).gpus, left, view, wishes);
    for (const JobId job : rejected) run(job, asked(job, view).gpus, left, view, wishes);
  }

  static void run(JobId job, int gpus, std::vector<Stock>& left, const View& view,
                  std::vector<Wish>& wishes) {
    cluster::Demand demand = asked(job, view);
    demand.gpus = gpus;
    if (const std::uint64_t held = type_held(job, view); held != 0) demand.gpu_types = held;
    if (take(left, demand)) wishes.push_back({.job = job, .gpus = gpus});
  }

  void settled(VcId, const View& view, Plan& plan) override {
    if (!bookings_.empty()) plan.wake(begin_of(slot_at(view.now) + 1));
  }

  void left(JobId job, const View& view) override {
    const Phase phase = view.progress(job).phase;
    if (phase == Phase::running || phase == Phase::waiting) return;
    decided_.erase(job);
    const auto found = bookings_.find(job);
    if (found == bookings_.end()) return;
    Vc& vc = vcs_[found->second.vc];
    for (const Slot slot : found->second.slots) release(slot, found->second.gpus, vc);
    bookings_.erase(found);
  }

  static void release(Slot slot, int gpus, Vc& vc) {
    const auto found = vc.used.find(slot);
    if (found == vc.used.end()) return;  // it is over
    found->second -= gpus;
    if (found->second == 0) vc.used.erase(found);
  }

  static int used(const Vc& vc, Slot slot) {
    const auto found = vc.used.find(slot);
    return found == vc.used.end() ? 0 : found->second;
  }

  /// Price of a GPU-hour of a slot.
  double price(const Vc& vc, Slot slot) const {
    return least_ * std::pow(most_ / least_, static_cast<double>(used(vc, slot)) / vc.gpus);
  }

  void decide_on(JobId job, VcId id, Vc& vc, const View& view) {
    decided_.insert(job);
    const trace::Request& request = view.request(job);
    const int asked_gpus = asked(job, view).gpus;
    const bool is_elastic = view.speeds != nullptr && request.max_gpus > 0;
    const int fewest = is_elastic ? std::max(1, request.min_gpus) : asked_gpus;
    const int widest = is_elastic ? request.max_gpus : asked_gpus;
    const double work_s = std::max(1.0, seconds(work_left(job, view)));
    const double worth = std::isnan(request.value) ? asked_gpus * work_s / 3600 : 1.0;
    double best = 0;
    Booking booking;
    for (int gpus = fewest; gpus <= std::min(widest, vc.gpus); ++gpus) {
      Booking tried{.vc = id, .gpus = gpus};
      if (is_elastic) {
        const int nodes = (gpus + vc.per_node - 1) / vc.per_node;
        tried.rate = view.speeds->rate(job, nodes, (gpus + nodes - 1) / nodes);
      }
      if (tried.rate <= 0) continue;
      const double payoff = best_slots(tried, work_s, worth, request, vc, view.now);
      if (payoff <= best) continue;
      best = payoff;
      booking = std::move(tried);
    }
    if (best <= 0) return;
    for (const Slot slot : booking.slots) vc.used[slot] += booking.gpus;
    bookings_[job] = std::move(booking);
  }

  /// Fills in the slots with the largest payoff, and returns it; 0 if none is above 0.
  double best_slots(Booking& tried, double work_s, double worth, const trace::Request& request,
                    const Vc& vc, Time now) const {
    std::priority_queue<Piece> pieces;
    double held_s = 0;  // work that the pieces hold
    double cost = 0;
    double best = 0;
    const auto cost_of = [&](const Piece& piece) {
      return piece.price * tried.gpus * piece.work_s / tried.rate / 3600;
    };
    for (Slot slot = slot_at(now); slot < slot_at(now) + kSlotsAhead; ++slot) {
      if (used(vc, slot) + tried.gpus > vc.gpus) continue;
      const Piece last{price(vc, slot), slot, length_s(slot, now) * tried.rate};
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
  void update(JobId job, Booking& booking, Vc& vc, const View& view) const {
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
      release(slots.back(), booking.gpus, vc);
      slots.pop_back();
    }
    for (Slot slot = now; held_s < work_s && slot < now + kSlotsAhead; ++slot) {
      const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
      const bool is_booked = place != slots.end() && *place == slot;
      if (is_booked || used(vc, slot) + booking.gpus > vc.gpus) continue;
      slots.insert(place, slot);
      vc.used[slot] += booking.gpus;
      held_s += length_s(slot, view.now) * booking.rate;
    }
  }

  Duration slot_;
  double least_;
  double most_;
  std::map<VcId, Vc> vcs_;
  std::map<JobId, Booking> bookings_;  // of accepted jobs
  std::set<JobId> decided_;
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
