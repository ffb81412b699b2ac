// SPDX-License-Identifier: Apache-2.0
#include "faults/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/time.h"
#include "faults/lemon_test.h"

namespace almanac::faults {
namespace {

constexpr double kTail = 0.025;
constexpr double kSigmas = 1.959964;
constexpr std::array kLargest = {1, 8, 64, 512, 4096, std::numeric_limits<int>::max()};

/// Returns the probability of at most `most` events where `mean` are expected.
double poisson_at_most(std::uint64_t most, double mean) {
  double sum = 0;
  for (std::uint64_t count = 0; count <= most; ++count) {
    const auto number = static_cast<double>(count);
    sum += std::exp(number * std::log(mean) - mean - std::lgamma(number + 1));
  }
  return sum;
}

/// Returns the mean at which at most `most` events have probability `probability`.
double mean_at(std::uint64_t most, double probability) {
  double low = 1e-9;
  double high = static_cast<double>(most) + 10 * std::sqrt(static_cast<double>(most) + 1) + 10;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (poisson_at_most(most, middle) > probability ? low : high) = middle;
  }
  return low;
}

/// The pair of rates of runs that fail by themselves.
struct Pair {
  double job = 0;
  double gpu = 0;
};

Pair most_likely(const std::vector<int>& failed_gpus, double job_days, double gpu_days) {
  if (failed_gpus.empty()) return {};
  const auto failures = static_cast<double>(failed_gpus.size());
  Pair made{.job = failures / job_days / 2, .gpu = failures / gpu_days / 2};
  for (int round = 0; round < 2000; ++round) {
    double by_job = 0;  // expected number of failures that have nothing to do with GPUs
    for (const int gpus : failed_gpus) by_job += made.job / (made.job + made.gpu * gpus);
    const Pair next{.job = by_job / job_days, .gpu = (failures - by_job) / gpu_days};
    const double step = std::abs(next.job - made.job) / (made.job + 1e-300);
    made = next;
    if (step < 1e-10) break;
  }
  return made;
}

/// Sets the intervals of both rates by the observed information; `job` and `gpu` have their days.
void add_intervals(const std::vector<int>& failed_gpus, const Pair& rates, Rate& job, Rate& gpu) {
  double jj = 0;
  double jg = 0;
  double gg = 0;
  for (const int gpus : failed_gpus) {
    const double rate = rates.job + rates.gpu * gpus;
    jj += 1 / (rate * rate);
    jg += gpus / (rate * rate);
    gg += double{static_cast<double>(gpus)} * gpus / (rate * rate);
  }
  const double determinant = jj * gg - jg * jg;
  const auto around = [](Rate& rate, double variance) {
    const double reach = kSigmas * std::sqrt(variance);
    rate.low = std::max(0.0, rate.per_day - reach);
    rate.high = rate.per_day + reach;
  };
  // All of one size: the pair cannot be told apart, and either may have caused all failures.
  if (determinant <= 1e-12 * jj * gg) {
    job.high = poisson_rate(job.failures, job.days).high;
    gpu.high = poisson_rate(gpu.failures, gpu.days).high;
    return;
  }
  around(job, gg / determinant);
  around(gpu, jj / determinant);
}

void add_sizes(Fit& made, std::span<const PastRun> runs) {
  std::array<Fit::Size, kLargest.size()> sizes{};
  for (const PastRun& each : runs) {
    const auto place = static_cast<std::size_t>(
        std::lower_bound(kLargest.begin(), kLargest.end(), each.gpus) - kLargest.begin());
    Fit::Size& size = sizes[place];
    ++size.runs;
    size.rate.days += each.days;
    size.rate.failures += each.end == PastRun::End::other ? 0 : 1;
    size.fitted += each.days * (made.user.per_day + made.software.per_day * each.gpus +
                                made.node.per_day * each.nodes);
  }
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    Fit::Size& size = sizes[place];
    if (size.runs == 0) continue;
    size.from = place == 0 ? 1 : kLargest[place - 1] + 1;
    size.to = kLargest[place];
    size.fitted /= size.rate.days;
    size.rate = poisson_rate(size.rate.failures, size.rate.days);
    made.sizes.push_back(size);
  }
}

/// Judges each node by the runs that it had alone: only these say which node failed.
void add_lemons(Fit& made, std::span<const PastRun> runs) {
  struct Node {
    int failures = 0;
    double days = 0;
  };
  std::map<int, Node> nodes;
  Node all;
  for (const PastRun& each : runs) {
    if (each.node < 0) continue;
    for (Node* const to : {&nodes[each.node], &all}) {
      to->days += each.days;
      to->failures += each.end == PastRun::End::node_failed ? 1 : 0;
    }
  }
  made.nodes = static_cast<int>(nodes.size());
  Node lemons;
  for (const auto& [number, node] : nodes) {
    if (node.failures == 0) continue;
    // The rate of the others: a few lemons may have most failures of a small fleet.
    const double others =
        std::max(1.0, static_cast<double>(all.failures - node.failures)) / (all.days - node.days);
    const Duration watched{std::llround(node.days * 86'400'000)};
    if (!std::isfinite(others) || !is_lemon(node.failures, watched, others)) continue;
    made.lemons.push_back(number);
    lemons.failures += node.failures;
    lemons.days += node.days;
  }
  if (made.lemons.empty()) return;
  const double healthy =
      std::max(1.0, static_cast<double>(all.failures - lemons.failures)) / (all.days - lemons.days);
  made.lemon_factor = std::max(1.0, lemons.failures / lemons.days / healthy);
}

std::string per_thousand(const Rate& rate) { return fmt::format("{:.4g}", 1000 * rate.per_day); }

std::string counted_over(const Rate& rate, const char* unit) {
  return fmt::format("95 %: {:.3g} to {:.3g}; {} in {:.0f} {}{}", 1000 * rate.low, 1000 * rate.high,
                     rate.failures, rate.days, unit,
                     rate.failures < Rate::kEnough ? "; too few to rely on" : "");
}

std::string cause_toml(const char* name, const char* of, const Rate& rate, const char* unit) {
  if (rate.failures == 0) {
    return fmt::format("\n# {}: none in {:.0f} {}, so fewer than {:.3g} per 1,000 days (95 %)\n",
                       name, rate.days, unit, 1000 * rate.high);
  }
  if (rate.per_day * 1000 < 1e-6) {
    return fmt::format("\n# {}: no part of the failures; at most {:.3g} per 1,000 days (95 %)\n",
                       name, 1000 * rate.high);
  }
  return fmt::format("\n[[cause]]\nname = \"{}\"\nof = \"{}\"\nper_1000_days = {}  # {}\n", name,
                     of, per_thousand(rate), counted_over(rate, unit));
}

}  // namespace

Rate poisson_rate(std::uint64_t failures, double days) {
  Rate made{.failures = failures, .days = days};
  if (days <= 0) return made;
  made.per_day = static_cast<double>(failures) / days;
  made.low = failures == 0 ? 0 : mean_at(failures - 1, 1 - kTail) / days;
  made.high = mean_at(failures, kTail) / days;
  return made;
}

Fit fit(std::span<const PastRun> runs) {
  std::vector<PastRun> used;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(used),
               [](const PastRun& each) { return each.gpus > 0 && each.days > 0; });
  double node_days = 0;
  double job_days = 0;
  double gpu_days = 0;
  std::uint64_t node_failures = 0;
  std::vector<int> failed_gpus;
  for (const PastRun& each : used) {
    node_days += each.days * each.nodes;
    job_days += each.days;
    gpu_days += each.days * each.gpus;
    node_failures += each.end == PastRun::End::node_failed ? 1 : 0;
    if (each.end == PastRun::End::failed) failed_gpus.push_back(each.gpus);
  }
  Fit made{.node = poisson_rate(node_failures, node_days)};
  const Pair rates = most_likely(failed_gpus, job_days, gpu_days);
  const std::uint64_t failed = failed_gpus.size();
  made.user = {.failures = failed, .days = job_days, .per_day = rates.job};
  made.software = {.failures = failed, .days = gpu_days, .per_day = rates.gpu};
  if (failed > 0) {
    add_intervals(failed_gpus, rates, made.user, made.software);
  } else {
    made.user.high = poisson_rate(0, job_days).high;
    made.software.high = poisson_rate(0, gpu_days).high;
  }
  add_sizes(made, used);
  add_lemons(made, used);
  return made;
}

std::string to_toml(const Fit& fit, const std::string& of) {
  std::string made = fmt::format(
      "# Failure rates fitted to {}.\n"
      "# A job log does not show repairs or checkpoints: set `repair` and [checkpoint] if you know "
      "them.\n"
      "# By size, per 1,000 days of a running job:\n",
      of);
  for (const Fit::Size& each : fit.sizes) {
    const std::string size = each.to == std::numeric_limits<int>::max()
                                 ? fmt::format("more than {}", each.from - 1)
                             : each.from == each.to ? fmt::format("{}", each.from)
                                                    : fmt::format("{} to {}", each.from, each.to);
    made += fmt::format("#   {} GPUs: {:.4g} ({}), fitted {:.4g}\n", size, 1000 * each.rate.per_day,
                        counted_over(each.rate, "job-days"), 1000 * each.fitted);
  }
  made += cause_toml("node failure", "node", fit.node, "node-days");
  made += cause_toml("job failure, by GPU", "software", fit.software, "GPU-days");
  made += cause_toml("job failure", "user", fit.user, "job-days");
  if (!fit.lemons.empty()) {
    made += fmt::format(
        "\n[lemons]  # nodes that failed far more often\nshare = {:.4g}\n"
        "factor = {:.4g}\n",
        static_cast<double>(fit.lemons.size()) / fit.nodes, fit.lemon_factor);
  }
  return made;
}

}  // namespace almanac::faults
