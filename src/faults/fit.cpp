// SPDX-License-Identifier: Apache-2.0
#include "faults/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/check.h"
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

/// Returns the most likely pair. All failures are expected under it, so the rate of a GPU gives
/// that of a job, and the logarithm of the likelihood has one maximum. Runs of one size do not tell
/// the two apart: then all failures count for the job. Cost: O(failures).
Pair most_likely(const std::vector<int>& failed_gpus, double job_days, double gpu_days,
                 bool is_one_size) {
  if (failed_gpus.empty()) return {};
  const auto failures = static_cast<double>(failed_gpus.size());
  const auto pair_of = [&](double gpu) {
    return Pair{.job = (failures - gpu * gpu_days) / job_days, .gpu = gpu};
  };
  const auto grows = [&](const Pair& rates) {
    double slope = 0;
    for (const int gpus : failed_gpus) {
      slope += (gpus - gpu_days / job_days) / (rates.job + rates.gpu * gpus);
    }
    return slope > 0;
  };
  double low = 0;
  double high = failures / gpu_days;
  if (is_one_size || !grows(pair_of(low))) return pair_of(low);
  if (grows({.job = 0, .gpu = high})) return {.job = 0, .gpu = high};
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (grows(pair_of(middle)) ? low : high) = middle;
  }
  return pair_of(low);
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

/// Runs on one node that failures of nodes end within this time have the same crash.
constexpr Duration kTogether = 1min;

/// Which crash of a node ended each run.
class Crashes {
 public:
  explicit Crashes(std::span<const PastRun> runs) : first_(runs.size()) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    std::vector<std::size_t> named;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (runs[run].end == PastRun::End::node_failed && !runs[run].on.empty()) named.push_back(run);
    }
    std::stable_sort(named.begin(), named.end(), [&](std::size_t a, std::size_t b) {
      return runs[a].ended() < runs[b].ended();
    });
    std::unordered_map<int, std::size_t> last;  // run that ended on each node
    for (const std::size_t run : named) {
      for (const int node : runs[run].on) {
        const auto [found, is_new] = last.try_emplace(node, run);
        if (!is_new && runs[run].ended() - runs[found->second].ended() <= kTogether) {
          first_[of(run)] = of(found->second);
        }
        found->second = run;
      }
    }
  }

  /// Returns the same number for all runs of a crash.
  std::size_t of(std::size_t run) {
    while (first_[run] != run) run = first_[run] = first_[first_[run]];
    return run;
  }

 private:
  std::vector<std::size_t> first_;
};

/// When a node was in use, by several runs at once too.
class Use {
 public:
  void add(const PastRun& run) { spans_.emplace_back(run.start, run.ended()); }
  double days() {
    std::sort(spans_.begin(), spans_.end());
    double sum_s = 0;
    Time until = Time::min();
    for (const auto& [from, to] : spans_) {
      if (to > until) sum_s += seconds(to - std::max(from, until));
      until = std::max(until, to);
    }
    return sum_s / seconds(24h);
  }

 private:
  std::vector<std::pair<Time, Time>> spans_;
};

void add_node_rate(Fit& made, std::span<const PastRun> runs, Crashes& crashes) {
  std::unordered_map<int, Use> uses;
  std::unordered_set<std::size_t> counted;
  double days = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const PastRun& each = runs[run];
    if (each.on.empty()) days += each.days * each.nodes;
    for (const int node : each.on) uses[node].add(each);
    if (each.end != PastRun::End::node_failed) continue;
    counted.insert(crashes.of(run));
    made.unnamed += each.on.empty() ? 1 : 0;
  }
  for (auto& [node, use] : uses) days += use.days();
  made.node = poisson_rate(counted.size(), days);
}

void add_sizes(Fit& made, std::span<const PastRun> runs, Crashes& crashes) {
  std::array<Fit::Size, kLargest.size()> sizes{};
  std::array<std::unordered_set<std::size_t>, kLargest.size()> counted;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const PastRun& each = runs[run];
    const auto place = static_cast<std::size_t>(
        std::lower_bound(kLargest.begin(), kLargest.end(), each.gpus) - kLargest.begin());
    Fit::Size& size = sizes[place];
    ++size.runs;
    size.rate.days += each.days;
    size.fitted += each.days * (made.user.per_day + made.software.per_day * each.gpus +
                                made.node.per_day * each.nodes);
    if (each.end == PastRun::End::other) continue;
    ++size.failed;
    counted[place].insert(crashes.of(run));
  }
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    Fit::Size& size = sizes[place];
    if (size.runs == 0) continue;
    size.from = place == 0 ? 1 : kLargest[place - 1] + 1;
    size.to = kLargest[place];
    const double days = size.rate.days;
    size.fitted /= days;
    // What each crash ends makes the rate of jobs higher, but not more certain.
    const auto events = static_cast<double>(counted[place].size());
    const double share = size.failed == 0 ? 1 : events / static_cast<double>(size.failed);
    size.rate = poisson_rate(counted[place].size(), days * share);
    size.rate.days = days;
    made.sizes.push_back(size);
  }
}

/// Judges each node by the runs that it had alone: only these say which node failed.
void add_lemons(Fit& made, std::span<const PastRun> runs, Crashes& crashes) {
  struct Node {
    Use use;
    std::unordered_set<std::size_t> crashes;
    double days = 0;
    int failures() const { return static_cast<int>(crashes.size()); }
  };
  std::map<int, Node> nodes;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const PastRun& each = runs[run];
    if (each.on.size() != 1) continue;
    Node& node = nodes[each.on.front()];
    node.use.add(each);
    if (each.end == PastRun::End::node_failed) node.crashes.insert(crashes.of(run));
  }
  double days = 0;
  int failures = 0;
  for (auto& [number, node] : nodes) {
    node.days = node.use.days();
    days += node.days;
    failures += node.failures();
  }
  made.nodes = static_cast<int>(nodes.size());
  double lemon_days = 0;
  int lemon_failures = 0;
  for (const auto& [number, node] : nodes) {
    if (node.failures() == 0) continue;
    // The rate of the others: a few lemons may have most failures of a small fleet.
    const double others = std::max(1, failures - node.failures()) / (days - node.days);
    const Duration watched{std::llround(node.days * 86'400'000)};
    if (!std::isfinite(others) || !is_lemon(node.failures(), watched, others)) continue;
    made.lemons.push_back(number);
    lemon_failures += node.failures();
    lemon_days += node.days;
  }
  if (made.lemons.empty()) return;
  const double healthy = std::max(1, failures - lemon_failures) / (days - lemon_days);
  made.lemon_factor = std::max(1.0, lemon_failures / lemon_days / healthy);
}

std::string per_thousand(const Rate& rate) { return fmt::format("{:.4g}", 1000 * rate.per_day); }

std::string counted_over(const Rate& rate, const char* unit) {
  return fmt::format(
      "95 %: {:.3g} to {:.3g}; {} in {} {}{}", 1000 * rate.low, 1000 * rate.high, rate.failures,
      rate.days < 10 ? fmt::format("{:.2g}", rate.days) : fmt::format("{:.0f}", rate.days), unit,
      rate.failures < Rate::kEnough ? "; too few to rely on" : "");
}

std::string cause_toml(const char* name, const char* of, const Rate& rate, const char* unit) {
  if (rate.days <= 0) {
    return fmt::format("\n# {}: no rate of its {} failures, because there are no {}\n", name,
                       rate.failures, unit);
  }
  if (rate.failures == 0) {
    return fmt::format("\n# {}: none in {:.3g} {}, so fewer than {:.3g} per 1,000 days (95 %)\n",
                       name, rate.days, unit, 1000 * rate.high);
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

Time PastRun::ended() const { return start + Duration{std::llround(days * 86'400'000)}; }

Fit fit(std::span<const PastRun> runs) {
  std::vector<PastRun> used;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(used),
               [](const PastRun& each) { return each.gpus > 0 && each.days > 0; });
  double job_days = 0;
  double gpu_days = 0;
  std::vector<int> failed_gpus;
  for (const PastRun& each : used) {
    job_days += each.days;
    gpu_days += each.days * each.gpus;
    if (each.end == PastRun::End::failed) failed_gpus.push_back(each.gpus);
  }
  Crashes crashes(used);
  Fit made;
  add_node_rate(made, used, crashes);
  made.is_one_size = std::all_of(used.begin(), used.end(), [&](const PastRun& each) {
    return each.gpus == used.front().gpus;
  });
  const Pair rates = most_likely(failed_gpus, job_days, gpu_days, made.is_one_size);
  const std::uint64_t failed = failed_gpus.size();
  made.user = {.failures = failed, .days = job_days, .per_day = rates.job};
  made.software = {.failures = failed, .days = gpu_days, .per_day = rates.gpu};
  if (failed > 0) {
    add_intervals(failed_gpus, rates, made.user, made.software);
  } else {
    made.user.high = poisson_rate(0, job_days).high;
    made.software.high = poisson_rate(0, gpu_days).high;
  }
  add_sizes(made, used, crashes);
  add_lemons(made, used, crashes);
  return made;
}

std::string to_toml(std::span<const SeenCause> causes, std::span<const PastRun> runs,
                    const std::string& from) {
  const Fit watched = fit(runs);
  double link_days = 0;
  for (const PastRun& each : runs) {
    if (each.gpus > 0 && each.nodes > 1) link_days += each.days * each.nodes;
  }
  std::string made = fmt::format(
      "# Failure rates of the causes in {}.\n"
      "# Output does not show repairs: set `repair` if you know it.\n",
      from);
  for (const SeenCause& each : causes) {
    switch (each.of) {
      case Unit::node:
        made += cause_toml(each.name.c_str(), "node",
                           poisson_rate(each.failures, watched.node.days), "node-days");
        break;
      case Unit::gpu:
        made += cause_toml(each.name.c_str(), "gpu",
                           poisson_rate(each.failures, watched.software.days), "GPU-days");
        break;
      case Unit::link:
        made += cause_toml(each.name.c_str(), "link", poisson_rate(each.failures, link_days),
                           "node-days of jobs on several nodes");
        break;
      case Unit::software:
        made += cause_toml(each.name.c_str(), "software",
                           poisson_rate(each.failures, watched.software.days), "GPU-days");
        break;
      case Unit::user:
        ALMANAC_CHECK(false, "errors of users are not drawn");
    }
  }
  return made +
         "\n[checkpoint]  # output does not show checkpoints: assumed for jobs without "
         "checkpoint_s\n"
         "every = \"1h\"\n";
}

std::string to_toml(const Fit& fit, const std::string& of) {
  std::string made = fmt::format(
      "# Failure rates fitted to {}.\n"
      "# A job log does not show repairs: set `repair` if you know it.\n"
      "# By size, per 1,000 days of a running job:\n",
      of);
  for (const Fit::Size& each : fit.sizes) {
    const std::string size = each.to == std::numeric_limits<int>::max()
                                 ? fmt::format("more than {}", each.from - 1)
                             : each.from == each.to ? fmt::format("{}", each.from)
                                                    : fmt::format("{} to {}", each.from, each.to);
    made += fmt::format(
        "#   {} GPU{}: {:.4g} ({}{}), fitted {:.4g}\n", size, each.to == 1 ? "" : "s",
        1000 * each.rate.per_day, counted_over(each.rate, "job-days"),
        each.failed > each.rate.failures ? fmt::format("; {} jobs stopped", each.failed) : "",
        1000 * each.fitted);
  }
  if (fit.unnamed > 0) {
    made += fmt::format(
        "# The log does not name the nodes of {} NODE_FAIL jobs: each counts as a failure of its "
        "own.\n",
        fit.unnamed);
  }
  made += cause_toml("node failure", "node", fit.node, "node-days");
  made +=
      fit.software.any()
          ? cause_toml("job failure, by GPU", "software", fit.software, "GPU-days")
          : fmt::format("\n# job failure, by GPU: {}; at most {:.3g} per 1,000 GPU-days (95 %)\n",
                        fit.is_one_size ? "all jobs have the same number of GPUs"
                                        : "jobs with more GPUs do not fail more often per day",
                        1000 * fit.software.high);
  if (fit.user.any()) {
    made += fmt::format(
        "\n# Errors of users: {} FAILED jobs per 1,000 job-days whatever their GPUs ({}).\n"
        "# They are not drawn: the log's run times end with them, and the job would fail again.\n",
        per_thousand(fit.user), counted_over(fit.user, "job-days"));
  }
  made +=
      "\n[checkpoint]  # the log does not show checkpoints: assumed for jobs without checkpoint_s\n"
      "every = \"1h\"\n";
  if (!fit.lemons.empty()) {
    made += fmt::format(
        "\n[lemons]  # nodes that failed far more often\nshare = {:.4g}\n"
        "factor = {:.4g}\n",
        static_cast<double>(fit.lemons.size()) / fit.nodes, fit.lemon_factor);
  }
  return made;
}

}  // namespace almanac::faults
