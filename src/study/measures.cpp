// SPDX-License-Identifier: Apache-2.0
#include "study/measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/share.h"
#include "study/duration_cdf.h"
#include "study/user_shares.h"

namespace almanac::study {
namespace {

using stats::kNaN;

/// Lengths of time counted in 32 bins an octave, from 0 (and below 1 s) to 2^32 s.
class LengthBins {
 public:
  void add(double length_s) { ++counts_[bin_of(length_s)]; }
  void add(const LengthBins& other, std::uint32_t times) {
    for (std::size_t bin = 0; bin < counts_.size(); ++bin)
      counts_[bin] += other.counts_[bin] * times;
  }
  double quantile(double q) const {
    std::uint64_t all = 0;
    for (const std::uint32_t count : counts_) all += count;
    if (all == 0) return kNaN;
    std::uint64_t seen = 0;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
      seen += counts_[bin];
      if (static_cast<double>(seen) >= q * static_cast<double>(all)) return value_of(bin);
    }
    return value_of(counts_.size() - 1);
  }

 private:
  static constexpr std::size_t kPerOctave = 32;
  static constexpr std::size_t kBins = 32 * kPerOctave + 1;

  static std::size_t bin_of(double length_s) {
    if (length_s < 1) return 0;
    const auto bin = static_cast<std::size_t>(std::log2(length_s) * kPerOctave) + 1;
    return std::min(bin, kBins - 1);
  }
  static double value_of(std::size_t bin) {
    return bin == 0 ? 0 : std::exp2((static_cast<double>(bin) - 0.5) / kPerOctave);
  }

  std::array<std::uint32_t, kBins> counts_{};
};

/// What the measures are made of, for a day or for a draw of days.
struct Sums {
  double days = 0, jobs = 0, gpu_s = 0, gpu_s_large = 0, duration_s = 0, gpus = 0, one_gpu = 0;
  double known = 0, completed = 0, failed = 0, gpu_s_known = 0, gpu_s_lost = 0;
  double waits = 0, wait_s = 0, waited = 0;
  LengthBins durations{};
  LengthBins wait_lengths{};

  void add(const Sums& other, std::uint32_t times) {
    constexpr std::array kFields{
        &Sums::days,        &Sums::jobs,       &Sums::gpu_s, &Sums::gpu_s_large, &Sums::duration_s,
        &Sums::gpus,        &Sums::one_gpu,    &Sums::known, &Sums::completed,   &Sums::failed,
        &Sums::gpu_s_known, &Sums::gpu_s_lost, &Sums::waits, &Sums::wait_s,      &Sums::waited};
    for (double Sums::*const field : kFields) this->*field += other.*field * times;
    durations.add(other.durations, times);
    wait_lengths.add(other.wait_lengths, times);
  }
};

void add_job(Sums& sums, const trace::Job& job) {
  const double duration_s = seconds(duration_of(job));
  const double gpu_s = gpu_time(job);
  ++sums.jobs;
  sums.gpu_s += gpu_s;
  if (job.request.gpus > 8) sums.gpu_s_large += gpu_s;
  sums.duration_s += duration_s;
  sums.durations.add(duration_s);
  sums.gpus += job.request.gpus;
  if (job.request.gpus == 1) ++sums.one_gpu;
  if (const auto ending = ending_of(job)) {
    ++sums.known;
    sums.gpu_s_known += gpu_s;
    if (*ending == Ending::completed) {
      ++sums.completed;
    } else {
      sums.gpu_s_lost += gpu_s;
    }
    if (*ending == Ending::failed) ++sums.failed;
  }
  if (const double wait = wait_s(job); !std::isnan(wait)) {
    ++sums.waits;
    sums.wait_s += wait;
    sums.wait_lengths.add(wait);
    if (wait >= 60) ++sums.waited;
  }
}

struct Definition {
  const char* name;
  const char* label;
  figure::Unit unit;
  double (*of)(const Sums&);
};

constexpr std::array kDefinitions{
    Definition{"gpu_jobs_per_day", "GPU jobs per day", figure::Unit::jobs,
               [](const Sums& s) { return s.jobs / s.days; }},
    Definition{"gpu_s_per_day", "GPU time per day", figure::Unit::gpu_seconds,
               [](const Sums& s) { return s.gpu_s / s.days; }},
    Definition{"mean_duration_s", "Mean duration", figure::Unit::seconds,
               [](const Sums& s) { return s.duration_s / s.jobs; }},
    Definition{"median_duration_s", "Median duration", figure::Unit::seconds,
               [](const Sums& s) { return s.durations.quantile(0.5); }},
    Definition{"mean_gpus", "Mean GPUs per job", figure::Unit::gpus,
               [](const Sums& s) { return s.gpus / s.jobs; }},
    Definition{"one_gpu_fraction", "Single-GPU jobs", figure::Unit::fraction,
               [](const Sums& s) { return s.one_gpu / s.jobs; }},
    Definition{"large_gpu_time_fraction", "GPU time of jobs with more than 8 GPUs",
               figure::Unit::fraction, [](const Sums& s) { return s.gpu_s_large / s.gpu_s; }},
    Definition{"completed_fraction", "Completed jobs", figure::Unit::fraction,
               [](const Sums& s) { return s.completed / s.known; }},
    Definition{"failed_fraction", "Failed jobs", figure::Unit::fraction,
               [](const Sums& s) { return s.failed / s.known; }},
    Definition{"lost_gpu_time_fraction", "GPU time of jobs that do not complete",
               figure::Unit::fraction, [](const Sums& s) { return s.gpu_s_lost / s.gpu_s_known; }},
    Definition{"mean_wait_s", "Mean wait", figure::Unit::seconds,
               [](const Sums& s) { return s.wait_s / s.waits; }},
    Definition{"p90_wait_s", "p90 wait", figure::Unit::seconds,
               [](const Sums& s) { return s.wait_lengths.quantile(0.9); }},
    Definition{"waited_fraction", "Jobs that wait at least a minute", figure::Unit::fraction,
               [](const Sums& s) { return s.waited / s.waits; }},
};

std::vector<Sums> days_of(const Study& study) {
  constexpr Duration kDay = 24h;
  const auto jobs = study.gpu_jobs();
  if (jobs.empty()) return {};
  const auto day_of = [&](std::uint32_t at) {
    return study.job(at).request.submit.time_since_epoch() / kDay;
  };
  const auto first = day_of(jobs.front());
  std::vector<Sums> days(static_cast<std::size_t>(day_of(jobs.back()) - first + 1));
  for (Sums& day : days) day.days = 1;
  for (const std::uint32_t at : jobs) {
    add_job(days[static_cast<std::size_t>(day_of(at) - first)], study.job(at));
  }
  return days;
}

/// Binned quantiles give a value near the exact one; `value` and the draws move there together.
void make_exact(Measure& measure, std::vector<double> sample, double q) {
  if (sample.empty()) return;
  const double exact = stats::quantile(sample, q);
  if (measure.value > 0) {
    for (double& draw : measure.draws) draw *= exact / measure.value;
  }
  measure.value = exact;
}

/// The part that the top 5 % of these users hold.
double top_users_share(std::vector<double>& users) {
  const auto all = static_cast<double>(users.size());
  return stats::top_share(users, static_cast<double>(top_users(users.size())) / all);
}

Measure measure_top_users(const Study& study, bool draw) {
  Measure measure{.name = "top_5_percent_users_gpu_time_fraction",
                  .label = "GPU time of the top 5 % of the users",
                  .unit = figure::Unit::fraction,
                  .value = kNaN,
                  .draws = {}};
  constexpr double kNoJob = -1;
  std::vector<double> of_name(study.trace().names.size(), kNoJob);
  for (const auto list : {study.gpu_jobs(), study.cpu_jobs()}) {
    for (const std::uint32_t at : list) {
      const trace::Job& job = study.job(at);
      double& sum = of_name[index(job.request.user)];
      sum = std::max(sum, 0.0) + gpu_time(job);
    }
  }
  of_name[index(kNoName)] = kNoJob;
  std::erase(of_name, kNoJob);
  if (std::all_of(of_name.begin(), of_name.end(), [](double sum) { return sum == 0; })) {
    return measure;
  }
  std::vector<double> users = of_name;
  measure.value = top_users_share(users);
  if (!draw) return measure;
  Rng rng(2);
  stats::bootstrap(of_name.size(), kDraws, rng, [&](std::span<const std::uint32_t> drawn) {
    users.clear();
    for (std::size_t user = 0; user < drawn.size(); ++user) {
      users.insert(users.end(), drawn[user], of_name[user]);
    }
    measure.draws.push_back(top_users_share(users));
  });
  return measure;
}

}  // namespace

std::vector<Measure> measures_of(const Study& study) {
  const std::vector<Sums> days = days_of(study);
  Sums all;
  for (const Sums& day : days) all.add(day, 1);
  std::vector<Measure> measures;
  for (const Definition& each : kDefinitions) {
    measures.push_back(
        {.name = each.name, .label = each.label, .unit = each.unit, .value = each.of(all)});
  }
  const bool draw = days.size() >= kFewestDays;
  if (draw) {
    Rng rng(1);
    stats::bootstrap(days.size(), kDraws, rng, [&](std::span<const std::uint32_t> drawn) {
      Sums sums;
      for (std::size_t day = 0; day < days.size(); ++day) {
        if (drawn[day] > 0) sums.add(days[day], drawn[day]);
      }
      for (std::size_t at = 0; at < kDefinitions.size(); ++at) {
        measures[at].draws.push_back(kDefinitions[at].of(sums));
      }
    });
  }
  std::vector<double> waits;
  for (const std::uint32_t at : study.gpu_jobs()) {
    if (const double wait = wait_s(study.job(at)); !std::isnan(wait)) waits.push_back(wait);
  }
  for (Measure& measure : measures) {
    if (measure.name == "median_duration_s") {
      make_exact(measure, sorted_durations(study, study.gpu_jobs()), 0.5);
    } else if (measure.name == "p90_wait_s") {
      make_exact(measure, waits, 0.9);
    }
  }
  measures.push_back(measure_top_users(study, draw));
  return measures;
}

}  // namespace almanac::study
