// SPDX-License-Identifier: Apache-2.0

/// \file
/// CarbonScaler: elastic jobs use many GPUs while power is clean or cheap, and few or none
/// otherwise, so that each finishes in time with the least carbon (rules/carbon/scaling.h). At each
/// reallocation, a job plans by itself how many GPUs it uses in each quarter of an hour until it is
/// due; GPUs go to the jobs in order of due time. A signal of the host says how clean power is.
///
/// A job is due at its deadline. Without one, it is due when it would end on the GPUs it requests
/// after waiting for `wait_s`. It has the fewest GPUs until its first report, then at most twice
/// the most that it has reported on. A job that cannot be in time gets the GPUs on which it is
/// fastest.
///
/// Source   Hanafy et al., SIGMETRICS'24 (CarbonScaler), Algorithm 1 and section 4.
/// Differs  The paper has a forecast of the next day. A policy gets none, and expects the past day
///          to repeat; until it has seen a day, all hours count as equally clean. The paper
///          profiles a job before it runs; here its speed is estimated from reports of jobs of its
///          model. All GPUs draw the same power. Each of a job's fewest GPUs has the same value;
///          the published rule values only the last of them.
/// Cost     O(hours x GPUs x log(hours)) per job and reallocation, and a fit per new report
#include <algorithm>
#include <set>

#include "policy/kit/elastic_allocator.h"
#include "policy/kit/past_signal.h"
#include "policy/registry.h"
#include "rules/carbon/scaling.h"

namespace almanac::policy::whole {
namespace {

constexpr Duration kSlot{std::chrono::minutes{15}};
constexpr int kMostSlots = 672;  // of a plan; each is longer where it would have more

class CarbonScaler final : public ElasticAllocator {
 public:
  CarbonScaler(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_model),
        wait_s_(told.number("wait_s")),
        signal_(static_cast<std::uint32_t>(told.whole("signal") - 1)),
        past_(told.duration("day_s")) {}

 private:
  struct Planned {
    const Elastic* job = nullptr;
    double due_s = 0;
    int gpus = 0;  // from now on; 0 = it rests
  };

  void signalled(const Event& event, const View& view) override {
    if (event.subject == signal_) past_.hear(view.now, event.value);
  }
  bool rests(JobId job) const override { return resting_.contains(job); }
  ReasonKind rests_for() const override { return ReasonKind::awaits_signal; }
  void forgotten(JobId job) override { resting_.erase(job); }

  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<Planned> planned;
    for (const Elastic& job : jobs) planned.push_back(plan(job, room, view));
    std::stable_sort(planned.begin(), planned.end(),
                     [](const Planned& a, const Planned& b) { return a.due_s < b.due_s; });
    int left = room.gpus;
    for (const Planned& each : planned) {
      const JobId job = each.job->job;
      each.gpus > 0 ? static_cast<void>(resting_.erase(job))
                    : static_cast<void>(resting_.insert(job));
      const int gpus = std::min(each.gpus, left);
      if (gpus < each.job->least) continue;
      left -= gpus;
      wishes.push_back(wish_of(*each.job, gpus, room));
    }
  }

  Planned plan(const Elastic& job, const Room& room, const View& view) {
    const trace::Request& request = view.request(job.job);
    const double batch = std::max(1, job.told.batches.initial_batch);
    const auto run_s = [&](double steps, int gpus) {
      return steps * batch / std::max(1e-9, speed_on(job, room.nodes_of(gpus), gpus));
    };
    Planned made{.job = &job, .gpus = job.least};
    const bool is_known = speeds.knows(job.job);
    const int known = is_known ? 2 * speeds.most_gpus(job.job) : 0;
    const int most = std::max(job.least, std::min({room.gpus, job.most, known}));
    made.due_s = request.deadline != kNoTime
                     ? seconds(request.deadline)
                     : seconds(request.submit) + wait_s_ +
                           run_s(job.told.total, std::clamp(request.gpus, job.least, most));
    if (!is_known) return made;

    const Time end = view.now + to_duration(made.due_s - job.restart_s - seconds(view.now));
    const std::vector<Time> ends = slots(view.now, end);
    // One whose last report was of its last step has not ended yet.
    const double left = std::max(1e-9, job.told.total - job.told.progress);
    carbon::ElasticTask task{.on = std::vector<carbon::Scale>(static_cast<std::size_t>(most) + 1),
                             .least = job.least,
                             .most = most,
                             .work = left};
    int fastest = job.least;
    double speed = 0;
    for (int gpus = job.least; gpus <= most; ++gpus) {
      const double now = 1 / run_s(1, gpus);
      if (now > speed) fastest = gpus;
      speed = std::max(speed, now);
      task.on[static_cast<std::size_t>(gpus)] = {.throughput = speed * seconds(kSlot),
                                                 .power_w = static_cast<double>(gpus)};
    }
    const auto nodes = carbon::scale(task, expected(ends, view), parts(ends, view.now));
    made.gpus = nodes ? nodes->front() : fastest;
    if (nodes && ends.size() > 1) deal_by(ends.front(), view);
    return made;
  }

  /// Returns the ends of the slots from now until a job is due, at quarters of hours, or at
  /// multiples of them if there would be too many. Empty if the job is due.
  static std::vector<Time> slots(Time now, Time end) {
    std::vector<Time> made;
    if (end <= now) return made;
    const Duration slot = kSlot * ((end - now) / (kSlot * kMostSlots) + 1);
    for (Time at = now; at < end; made.push_back(at)) {
      at = std::min(end, at + (slot - at.time_since_epoch() % slot));
    }
    return made;
  }
  static std::vector<double> parts(std::span<const Time> ends, Time now) {
    std::vector<double> made;
    Time from = now;
    for (const Time end : ends) {
      made.push_back(seconds(end - from) / seconds(kSlot));
      from = end;
    }
    return made;
  }

  /// Returns the expected signal in each slot.
  std::vector<double> expected(std::span<const Time> ends, const View& view) const {
    constexpr double kLeast = 1e-9;  // power that costs nothing still counts, so that GPUs do
    const double now = past_.has_value() ? std::max(kLeast, past_.value()) : 1;
    std::vector<double> made(ends.size(), now);
    if (!past_.knows_day(view.now)) return made;
    Time from = view.now;
    for (std::size_t slot = 0; slot < ends.size(); from = ends[slot++]) {
      made[slot] = std::max(kLeast, past_.expect(from, ends[slot], view.now));
    }
    return made;
  }
  static Duration to_duration(double span_s) {
    return std::chrono::floor<Duration>(std::chrono::duration<double>(span_s));
  }

  double wait_s_;
  std::uint32_t signal_;
  PastSignal past_;
  std::set<JobId> resting_;
};

}  // namespace

void register_carbon_scaler(Registry& registry) {
  registry.wholes.add(
      {.name = "carbon_scaler",
       .summary =
           "elastic jobs use more GPUs while power is clean or cheap, and still finish in time",
       .source = "Hanafy et al. SIGMETRICS'24 (CarbonScaler)",
       .traits = {.has = {Trait::reads_training, Trait::reads_signals, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters =
           {number("wait_s", "longest total wait of a job without a deadline", 86'400, 0, 1e9),
            number("day_s", "period after which the signal is assumed to repeat", 86'400, 60, 1e9),
            whole_number("signal", "number of the signal, in the order of the input", 1, 1, 1000),
            number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<CarbonScaler>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
