// SPDX-License-Identifier: Apache-2.0

/// \file
/// ONES: an evolutionary search decides which elastic jobs run and on how many GPUs. A job's batch
/// grows with its GPUs, up to a limit that starts low and doubles while it trains.
///
/// A schedule names a job for each GPU. Crossover exchanges GPUs between two schedules, mutation
/// stops jobs at random, and filling gives free GPUs to new jobs and then to those that would end
/// first on one GPU. Schedules with the least GPU time left in the jobs that they run survive:
/// smallest remaining utilization first. The search does not count restarts.
///
/// Source   Bian et al., SC'21 (ONES), section 3; operators, population and constants are those of
///          the published program (src/scheduler.py and src/monitor.py of its artifact).
/// Differs  Jobs report how much of their training is done; the program predicts it from losses.
///          Limits double after a time, not after three epochs. No job gets GPUs that are believed
///          to slow it down. GPUs are reallocated at most once in every_s, after 60 generations;
///          the program makes a generation a second, and may reallocate after each. A job whose
///          restart would take longer than every_s keeps its GPUs until it has gained that much;
///          the program has no such restarts.
/// Cost     60 generations of 24 schedules a reallocation, each O(GPUs + jobs log jobs)
#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "policy/kit/elastic_allocator.h"
#include "policy/kit/gain.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr std::size_t kPopulation = 8;
constexpr int kGenerations = 60;
constexpr double kCrossover = 0.5;  // probability that two schedules exchange a GPU
constexpr double kMutation = 0.1;   // probability that a job is stopped
constexpr double kScaleDown = 0.5;  // how much less a job that runs for long may hold
constexpr int kIdle = -1;           // position of the job of a GPU without one

class Ones final : public ElasticAllocator {
 public:
  Ones(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        scale_every_(told.duration("scale_s")) {}

 private:
  /// The most GPUs of a job for now.
  struct Limit {
    int gpus = 1;
    Time since{};
  };
  /// A job in one reallocation.
  struct Seen {
    JobId job{};
    int least = 1;
    int limit = 1;
    bool is_known = false;        // it has reported its speed
    double alone_s = 0;           // that it would need on one GPU; only if known
    std::vector<double> gpu_s{};  // GPU time left, by number of GPUs
  };
  using Slots = std::vector<int>;  // a schedule: position of a job for each GPU, or kIdle

  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    set_limits(jobs, room, view);
    jobs_.clear();
    std::vector<const Elastic*> dealt;
    int left = room.gpus;
    Time next = kNever;
    for (const Elastic& job : jobs) {
      if (keeps(job, view)) {
        wishes.push_back(wish(job, job.held_gpus));
        left -= job.held_gpus;
        next = view.now + every();
      } else {
        jobs_.push_back(look_at(job, room));
        dealt.push_back(&job);
      }
    }
    std::vector<std::vector<JobId>>& last = last_[view.progress(jobs.front().job).vc];
    recall(last, static_cast<std::size_t>(std::max(left, 0)));
    for (int generation = 0; generation < kGenerations; ++generation) evolve(view.rng);
    const std::vector<int> gpus = count(population_.front());
    for (std::size_t at = 0; at < dealt.size(); ++at) {
      const Elastic& job = *dealt[at];
      Limit& own = limits_.at(job.job);
      if (gpus[at] == 0) {
        next = std::min(next, view.now + every());
        if (view.attained(job.job) > Duration{0}) own.gpus = std::max(job.least, own.gpus / 2);
        continue;
      }
      if (own.gpus < most_of(job) && own.since + scale_every_ > view.now) {
        next = std::min(next, own.since + scale_every_);
      }
      wishes.push_back(wish(job, gpus[at]));
    }
    remember(last);
    if (next != kNever) deal_by(std::max(next, view.now + every()), view);
  }

  void forgotten(JobId job) override { limits_.erase(job); }

  /// Whether a job keeps its GPUs: to move it costs more than the time between two reallocations,
  /// and it has not yet gained that much.
  bool keeps(const Elastic& job, const View& view) const {
    return job.held_gpus > 0 && view.cost(job.job, {}) > every() && !has_repaid(job.job, view);
  }

  static Wish wish(const Elastic& job, int gpus) {
    return {.job = job.job, .gpus = gpus, .config = {.batch = batch(job, gpus)}};
  }

  /// Samples of a GPU in a step, if the batch of all GPUs allows as many.
  static int local_batch(const Elastic& job) {
    return std::min(job.told.batches.initial_batch, job.told.batches.max_local_batch);
  }
  static int batch(const Elastic& job, int gpus) {
    return std::clamp(gpus * local_batch(job), job.told.batches.initial_batch,
                      job.told.batches.max_batch);
  }
  static int most_of(const Elastic& job) { return std::max(job.most, job.least); }

  void set_limits(std::span<const Elastic> jobs, const Room& room, const View& view) {
    std::vector<Duration> ran;
    const Elastic* widest = nullptr;
    for (const Elastic& job : jobs) {
      Limit& limit = limits_.try_emplace(job.job, Limit{job.least, view.now}).first->second;
      ran.push_back(view.attained(job.job));
      if (job.held_gpus == 0) {
        limit.since = view.now;
        continue;
      }
      if (!speeds.knows(job.job) || view.now - limit.since < scale_every_) continue;
      if (widest == nullptr || job.held_gpus > widest->held_gpus) widest = &job;
      if (job.held_gpus < limit.gpus) continue;
      limit = {.gpus = std::min(2 * limit.gpus, most_of(job)), .since = view.now};
    }
    // A job that holds half of the cluster and has run for longer than most gives way.
    if (widest == nullptr || widest->held_gpus < room.gpus / 2) return;
    std::nth_element(ran.begin(), ran.begin() + static_cast<std::ptrdiff_t>(ran.size() / 2),
                     ran.end());
    const double median_s = seconds(ran[ran.size() / 2]);
    const double own_s = seconds(view.attained(widest->job));
    if (own_s <= median_s) return;
    const int cut = static_cast<int>(2 * widest->held_gpus / (kScaleDown * own_s / median_s + 1));
    limits_.at(widest->job).gpus = std::clamp(cut + cut % 2, widest->least, most_of(*widest));
  }

  Seen look_at(const Elastic& job, const Room& room) {
    Seen made{.job = job.job,
              .least = job.least,
              .limit = limits_.at(job.job).gpus,
              .is_known = speeds.knows(job.job)};
    if (!made.is_known) return made;
    const double samples =
        std::max(job.told.total - job.told.progress, 0.0) * job.told.batches.initial_batch;
    made.gpu_s.push_back(0);
    for (int gpus = 1; gpus <= std::max(made.limit, made.least); ++gpus) {
      const int all = batch(job, gpus);
      const double step_s = speeds.batch_step_s(job.job, room.nodes_of(gpus), gpus, all);
      made.gpu_s.push_back(gpus * samples * step_s / all);
    }
    made.alone_s = made.gpu_s[1];
    const auto time_s = [&](int gpus) { return made.gpu_s[static_cast<std::size_t>(gpus)] / gpus; };
    for (int gpus = made.limit; gpus >= made.least; --gpus) {
      if (time_s(gpus) <= time_s(made.limit)) made.limit = gpus;
    }
    return made;
  }

  /// Takes the schedules of the last reallocation for the present jobs and GPUs.
  void recall(const std::vector<std::vector<JobId>>& last, std::size_t gpus) {
    std::map<JobId, int> places;
    for (std::size_t at = 0; at < jobs_.size(); ++at) {
      places.emplace(jobs_[at].job, static_cast<int>(at));
    }
    population_.assign(kPopulation, Slots(gpus, kIdle));
    for (std::size_t each = 0; each < last.size(); ++each) {
      for (std::size_t gpu = 0; gpu < std::min(gpus, last[each].size()); ++gpu) {
        const auto place = places.find(last[each][gpu]);
        if (place != places.end()) population_[each][gpu] = place->second;
      }
    }
    order_.clear();
    for (const int job : population_.front()) {
      if (job != kIdle && std::find(order_.begin(), order_.end(), job) == order_.end()) {
        order_.push_back(job);
      }
    }
    for (int job = 0; job < static_cast<int>(jobs_.size()); ++job) {
      if (std::find(order_.begin(), order_.end(), job) == order_.end()) order_.push_back(job);
    }
    by_length_.resize(jobs_.size());
    std::iota(by_length_.begin(), by_length_.end(), 0);
    // New jobs come first, to be known.
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [&](int a, int b) { return at(a).alone_s < at(b).alone_s; });
  }

  void remember(std::vector<std::vector<JobId>>& last) const {
    last.clear();
    for (const Slots& each : population_) {
      std::vector<JobId>& kept = last.emplace_back();
      for (const int job : each) kept.push_back(job == kIdle ? kNoJob : at(job).job);
    }
  }

  void evolve(Rng& random) {
    std::vector<Slots> next = population_;
    for (Slots& each : next) limit(each);
    for (std::size_t pair = 0; pair < kPopulation / 2; ++pair) {
      const std::size_t first = random.below(kPopulation);
      const std::size_t second = (first + 1 + random.below(kPopulation - 1)) % kPopulation;
      Slots a = next[first];
      Slots b = next[second];
      for (std::size_t gpu = 0; gpu < a.size(); ++gpu) {
        if (random.uniform() < kCrossover) std::swap(a[gpu], b[gpu]);
      }
      for (Slots* const child : {&a, &b}) {
        limit(*child);
        next.push_back(std::move(*child));
      }
    }
    for (std::size_t each = 0; each < kPopulation; ++each)
      next.push_back(mutated(next[each], random));
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t each = 0; each < next.size(); ++each) {
      fill(next[each]);
      ranked.emplace_back(gpu_time_left(next[each]), each);
    }
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t each = 0; each < kPopulation; ++each) {
      population_[each] = std::move(next[ranked[each].second]);
    }
  }

  const Seen& at(int job) const { return jobs_[static_cast<std::size_t>(job)]; }

  std::vector<int> count(const Slots& slots) const {
    std::vector<int> made(jobs_.size(), 0);
    for (const int job : slots) {
      if (job != kIdle) ++made[static_cast<std::size_t>(job)];
    }
    return made;
  }

  /// Takes GPUs from jobs beyond their limits.
  void limit(Slots& slots) const {
    std::vector<int> held(jobs_.size(), 0);
    for (int& job : slots) {
      if (job != kIdle && ++held[static_cast<std::size_t>(job)] > at(job).limit) job = kIdle;
    }
  }

  /// Stops each job with the probability of mutations, unless it is new.
  Slots mutated(Slots slots, Rng& random) const {
    std::vector<bool> stops(jobs_.size());
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      stops[job] = random.uniform() < kMutation && jobs_[job].is_known;
    }
    for (int& job : slots) {
      if (job != kIdle && stops[static_cast<std::size_t>(job)]) job = kIdle;
    }
    return slots;
  }

  /// Gives the free GPUs to jobs, the shortest first, and lays the jobs side by side in the order
  /// of the present schedule.
  void fill(Slots& slots) const {
    std::vector<int> held = count(slots);
    int left = static_cast<int>(slots.size()) - std::accumulate(held.begin(), held.end(), 0);
    for (const int job : by_length_) {
      int& own = held[static_cast<std::size_t>(job)];
      const int most = at(job).is_known ? at(job).limit : at(job).least;
      const int more = std::min(left, most - own);
      if (more <= 0) continue;
      own += more;
      left -= more;
    }
    auto slot = slots.begin();
    for (const int job : order_) slot = std::fill_n(slot, held[static_cast<std::size_t>(job)], job);
    std::fill(slot, slots.end(), kIdle);
  }

  double gpu_time_left(const Slots& slots) const {
    const std::vector<int> held = count(slots);
    double sum = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (jobs_[job].is_known) sum += jobs_[job].gpu_s[static_cast<std::size_t>(held[job])];
    }
    return sum;
  }

  Duration scale_every_;
  std::map<JobId, Limit> limits_;
  /// Of each virtual cluster, the schedules of its last reallocation, the best first.
  std::map<VcId, std::vector<std::vector<JobId>>> last_;
  // In one reallocation:
  std::vector<Seen> jobs_;
  std::vector<Slots> population_;  // the best first
  std::vector<int> order_;         // of jobs in schedules
  std::vector<int> by_length_;     // jobs, the shortest first
};

}  // namespace

void register_ones(Registry& registry) {
  registry.wholes.add(
      {.name = "ones",
       .summary = "elastic: an evolutionary search runs the jobs with the least GPU time left; "
                  "batches grow with GPUs, up to limits that double while a job trains",
       .source = "Bian et al. SC'21 (ONES)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      number("scale_s",
                             "time for which a job runs before its limit of GPUs doubles", 180, 1,
                             1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Ones>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
