// SPDX-License-Identifier: Apache-2.0
#include "experiment/failure_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "faults/checkpoint.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kLargest = {1, 8, 64, 512, 4096, std::numeric_limits<int>::max()};

double gpu_hours(Duration time, int gpus) { return seconds(time) / 3600 * gpus; }

/// Sums over the jobs of one size.
struct SizeSum {
  double held_h = 0;  // not times GPUs
  double span_gpu_h = 0;
  double gpus_held = 0;  // GPUs, weighted by GPU time
  double interval = 0;   // likewise
  double with_interval = 0;
};

double cost_of(const FailureReport::Cause& cause) {
  return cause.lost_gpu_h + cause.restart_gpu_h + cause.waited_gpu_h;
}

std::size_t place_of(int gpus) {
  return static_cast<std::size_t>(std::lower_bound(kLargest.begin(), kLargest.end(), gpus) -
                                  kLargest.begin());
}

using Sizes = std::array<FailureReport::Size, kLargest.size()>;

/// Adds interruptions to their causes and sizes.
void add_interruptions(FailureReport& made, Sizes& sizes, const faults::Log& log, Time finish) {
  // The next failure of a job may cut its restart short.
  std::unordered_map<std::uint32_t, Time> next;
  for (auto at = log.interruptions.rbegin(); at != log.interruptions.rend(); ++at) {
    const faults::Interruption& each = *at;
    const auto job = static_cast<std::uint32_t>(index(each.job));
    const auto found = next.find(job);
    const Time until = found == next.end() ? finish : found->second;
    next[job] = each.at;
    FailureReport::Cause& cause = made.causes[each.cause];
    ++cause.interruptions;
    made.gave_up += each.gave_up ? 1 : 0;
    const double lost = gpu_hours(each.lost, each.gpus);
    double waited = 0;
    double restart = 0;
    if (!each.gave_up) {
      const Time resumed = each.resumed == kNoTime ? finish : each.resumed;
      waited = gpu_hours(resumed - each.at, each.gpus);
      restart =
          gpu_hours(std::min(each.restart, std::max(Duration{0}, until - resumed)), each.gpus);
    }
    cause.lost_gpu_h += lost;
    cause.waited_gpu_h += waited;
    cause.restart_gpu_h += restart;
    if (each.gpus == 0) continue;
    FailureReport::Size& size = sizes[place_of(each.gpus)];
    size.lost_gpu_h += lost;
    size.waited_gpu_h += waited;
    size.restart_gpu_h += restart;
  }
}

void add_outages(FailureReport& made, const faults::Log& log, Time finish) {
  for (const faults::Outage& each : log.outages) {
    FailureReport::Cause& cause = made.causes[each.cause];
    ++cause.outages;
    cause.out_gpu_h += gpu_hours(std::min(each.until, finish) - each.at, each.gpus);
    made.lemons_found += each.found_lemon && each.is_lemon ? 1 : 0;
    made.lemons_mistaken += each.found_lemon && !each.is_lemon ? 1 : 0;
  }
}

/// Returns the GPU-hours of which `ettr` is the useful part.
double counted_gpu_h(const FailureReport::Size& size) {
  return size.useful_gpu_h + size.written_gpu_h + size.lost_gpu_h + size.restart_gpu_h +
         size.waited_gpu_h;
}

void add_expectations(FailureReport::Size& size, const SizeSum& sum, const faults::Model& model,
                      int gpus_per_node) {
  const double write_s = seconds(model.checkpoints.write);
  const double restart_s = seconds(model.restart);
  const auto gpus = static_cast<int>(std::llround(sum.gpus_held / size.held_gpu_h));
  const Duration mean = model.mean_time_to_failure(gpus, gpus_per_node);
  size.interval_s = sum.with_interval > 0 ? sum.interval / sum.with_interval : kNoNumber;
  size.expected_mttf_h = size.best_interval_s = size.ettr_best = size.ettr_expected = kNoNumber;
  if (mean == kNoDuration) return;
  const double mean_s = seconds(mean);
  size.expected_mttf_h = mean_s / 3600;
  size.best_interval_s = faults::best_interval(std::max(1.0, write_s), mean_s);
  const auto ettr = [&](double every_s) {
    return 1 / faults::slowdown(every_s, write_s, restart_s, mean_s);
  };
  size.ettr_best = ettr(size.best_interval_s);
  if (std::isfinite(size.interval_s)) size.ettr_expected = ettr(size.interval_s);
}

std::string sizes_in_words(const FailureReport::Size& size) {
  if (size.from == size.to) return "1 GPU";
  if (size.to == std::numeric_limits<int>::max()) {
    return fmt::format("more than {} GPUs", text::grouped(size.from - 1));
  }
  return fmt::format("{} to {} GPUs", text::grouped(size.from), text::grouped(size.to));
}

std::string gpu_hours_in_words(double hours) {
  return hours < 10 ? fmt::format("{:.1f}", hours) : text::grouped(std::llround(hours));
}

std::string size_in_words(const FailureReport::Size& size) {
  std::string said = fmt::format("  {}: {}", sizes_in_words(size),
                                 text::counted(size.interruptions, "interruption"));
  if (std::isfinite(size.mttf_h)) {
    said += fmt::format(", one per {}", text::human_time(3600 * size.mttf_h));
  }
  said += fmt::format("; effective training time {}", text::human_share(size.ettr));
  if (!std::isfinite(size.best_interval_s) || !std::isfinite(size.interval_s)) return said + "\n";
  const double ratio = size.interval_s / size.best_interval_s;
  if (ratio > 0.9 && ratio < 1.1) {
    return said +
           fmt::format("; a checkpoint every {} is best\n", text::human_time(size.interval_s));
  }
  const std::string best = text::human_share(size.ettr_best);
  const std::string now = text::human_share(size.ettr_expected);
  if (best == now) return said + "\n";
  return said + fmt::format(
                    "; a checkpoint every {} would be best, expected {} instead of {} at "
                    "{} now, waits aside\n",
                    text::human_time(size.best_interval_s), best, now,
                    text::human_time(size.interval_s));
}

/// The five that cost most, and the sum of the others.
std::string causes_in_words(const FailureReport& report) {
  constexpr std::size_t kMostCauses = 5;
  const auto line = [](const std::string& name, std::uint64_t interruptions, double cost_gpu_h) {
    return fmt::format("  {}: {}, {} GPU-hours lost\n", name,
                       text::counted(interruptions, "interruption"),
                       gpu_hours_in_words(cost_gpu_h));
  };
  std::string said;
  std::size_t named = 0;
  std::uint64_t others = 0;
  double others_gpu_h = 0;
  for (const FailureReport::Cause& cause : report.causes) {
    if (cause.interruptions == 0) continue;
    if (named < kMostCauses) {
      ++named;
      said += line(cause.name, cause.interruptions, cost_of(cause));
    } else {
      others += cause.interruptions;
      others_gpu_h += cost_of(cause);
    }
  }
  return others > 0 ? said + line("other causes", others, others_gpu_h) : said;
}

}  // namespace

FailureReport report_failures(const faults::Log& log, const faults::Model& model,
                              const std::vector<double>& intervals_s, int gpus_per_node,
                              Time finish) {
  FailureReport made;
  for (const faults::Cause& cause : model.causes) made.causes.push_back({.name = cause.name});
  made.lemons = log.lemons;
  std::array<SizeSum, kLargest.size()> sums{};
  Sizes sizes{};
  add_interruptions(made, sizes, log, finish);
  add_outages(made, log, finish);
  std::stable_sort(made.causes.begin(), made.causes.end(),
                   [](const auto& a, const auto& b) { return cost_of(a) > cost_of(b); });
  double counted = 0;
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    const faults::JobToll& job = log.jobs[at];
    if (job.gpus == 0) continue;
    const std::size_t place = place_of(job.gpus);
    FailureReport::Size& size = sizes[place];
    SizeSum& sum = sums[place];
    const double held = gpu_hours(job.held, job.gpus);
    ++size.jobs;
    size.interruptions += job.interruptions;
    size.held_gpu_h += held;
    size.useful_gpu_h += gpu_hours(job.useful, job.gpus);
    size.written_gpu_h += gpu_hours(job.written, job.gpus);
    sum.held_h += seconds(job.held) / 3600;
    sum.span_gpu_h += gpu_hours(job.span, job.gpus);
    sum.gpus_held += held * job.gpus;
    if (!(intervals_s[at] > 0)) continue;  // it loses nothing, or needs none
    sum.interval += held * intervals_s[at];
    sum.with_interval += held;
  }
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    FailureReport::Size& size = sizes[place];
    const SizeSum& sum = sums[place];
    if (size.jobs == 0 || size.held_gpu_h <= 0) continue;
    size.from = place == 0 ? 1 : kLargest[place - 1] + 1;
    size.to = kLargest[place];
    size.ettr = size.useful_gpu_h / counted_gpu_h(size);
    size.mttf_h =
        size.interruptions > 0 ? sum.held_h / static_cast<double>(size.interruptions) : kNoNumber;
    add_expectations(size, sum, model, gpus_per_node);
    made.useful_gpu_h += size.useful_gpu_h;
    made.written_gpu_h += size.written_gpu_h;
    made.stopped_gpu_h += std::max(0.0, sum.span_gpu_h - size.held_gpu_h - size.waited_gpu_h);
    counted += counted_gpu_h(size);
    made.sizes.push_back(size);
  }
  made.ettr = counted > 0 ? made.useful_gpu_h / counted : kNoNumber;
  return made;
}

std::string in_words(const FailureReport& report) {
  if (report.empty()) return "";
  FailureReport::Cause all;
  for (const FailureReport::Cause& each : report.causes) {
    all.interruptions += each.interruptions;
    all.lost_gpu_h += each.lost_gpu_h;
    all.restart_gpu_h += each.restart_gpu_h;
    all.waited_gpu_h += each.waited_gpu_h;
    all.out_gpu_h += each.out_gpu_h;
  }
  std::string said = fmt::format(
      "{} stopped jobs; effective training time {}. GPU-hours: {} useful, {} writing checkpoints, "
      "{} repeated, {} restarting, {} waiting after failures. Not counted: {} stopped by the "
      "policy; {} of nodes out of service.\n",
      text::counted(all.interruptions, "failure"), text::human_share(report.ettr),
      gpu_hours_in_words(report.useful_gpu_h), gpu_hours_in_words(report.written_gpu_h),
      gpu_hours_in_words(all.lost_gpu_h), gpu_hours_in_words(all.restart_gpu_h),
      gpu_hours_in_words(all.waited_gpu_h), gpu_hours_in_words(report.stopped_gpu_h),
      gpu_hours_in_words(all.out_gpu_h));
  for (const FailureReport::Size& each : report.sizes) {
    if (each.interruptions > 0) said += size_in_words(each);
  }
  said += causes_in_words(report);
  if (report.lemons > 0) {
    said += fmt::format("  lemon nodes: {} of {} found and replaced\n", report.lemons_found,
                        report.lemons);
  }
  if (report.lemons_mistaken > 0) {
    said += fmt::format("  replaced by mistake: {}\n",
                        text::counted(report.lemons_mistaken, "ordinary node"));
  }
  if (report.gave_up > 0) {
    said += fmt::format("  {} gave up, failing again and again without a new checkpoint\n",
                        text::counted(report.gave_up, "job"));
  }
  return said;
}

}  // namespace almanac::experiment
