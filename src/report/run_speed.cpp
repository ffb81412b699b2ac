// SPDX-License-Identifier: Apache-2.0
#include "report/run_speed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stats/percentiles.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using figure::Figure;
using figure::Unit;
using Policies = std::vector<PolicyDigest>;

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

double rounded(double value, double digits = 1e4) { return std::round(digits * value) / digits; }

/// Less of a share than a page shows.
constexpr double kNothing = 5e-4;

Figure draw_distribution(const Policies& policies) {
  Figure figure{.id = "run_rates", .title = "Speed of GPU jobs"};
  auto& policy = figure.text("policy", "Policy");
  auto& rate = figure.number("mean_rate", "Mean rate", Unit::ratio);
  auto& share = figure.number("fraction", "Share of the jobs", Unit::fraction);
  double jobs = 0;
  for (const PolicyDigest& each : policies) {
    jobs = std::max(jobs, each.rates.all.jobs);
    for (std::size_t at = 0; at < each.rates.percentiles.size(); ++at) {
      policy.add(each.summary.policy);
      rate.add(rounded(each.rates.percentiles[at]));
      share.add(stats::kPercentiles[at] / 100);
    }
  }
  figure.n = std::llround(jobs);
  figure.caption =
      "Cumulative distribution of the mean rate, at 1 % to 99 % and 99.9 % of the GPU jobs. A rate "
      "of 1 is the speed at which the run time was recorded.";
  figure.charts.push_back({.kind = "line", .x = "mean_rate", .y = {"fraction"}, .by = "policy"});
  return figure;
}

/// Returns the causes that cost anything in any total.
std::vector<Cause> causes_of(const Policies& policies) {
  std::vector<Cause> found;
  const auto matters = [](const Cause& cause, const RateTotals& total) {
    return std::abs(cause.cost_s(total)) > kNothing * total.held_s;
  };
  for (const Cause& cause : kCauses) {
    const bool any = std::any_of(policies.begin(), policies.end(), [&](const PolicyDigest& each) {
      const std::vector<RateTotals>& models = each.rates.by_model;
      return matters(cause, each.rates.all) ||
             std::any_of(models.begin(), models.end(),
                         [&](const RateTotals& total) { return matters(cause, total); });
    });
    if (any) found.push_back(cause);
  }
  return found;
}

/// The columns of a row of totals.
class TotalColumns {
 public:
  TotalColumns(Figure& figure, std::vector<Cause> causes)
      : jobs_(figure.number("jobs", "GPU jobs", Unit::jobs)),
        held_(figure.number("held_gpu_s", "Allocated GPU time", Unit::gpu_seconds)),
        rate_(figure.number("mean_rate", "Mean rate", Unit::ratio)),
        computing_(figure.number("gpu_use", "GPU utilization", Unit::fraction)),
        causes_(std::move(causes)) {
    for (const Cause& cause : causes_) {
      lost_.push_back(
          &figure.number(cause.column, fmt::format("Lost to {}", cause.words), Unit::fraction));
    }
  }
  void add(const RateTotals& total) {
    jobs_.add(total.jobs);
    held_.add(std::round(total.held_s));
    rate_.add(rounded(ratio(total.done_s, total.held_s)));
    computing_.add(rounded(ratio(total.computing_s, total.held_s)));
    for (std::size_t at = 0; at < lost_.size(); ++at) {
      lost_[at]->add(rounded(ratio(causes_[at].cost_s(total), total.held_s)));
    }
  }
  std::vector<std::string> lost() const {
    std::vector<std::string> names;
    for (const figure::Column* const column : lost_) names.push_back(column->name);
    return names;
  }

 private:
  figure::Column& jobs_;
  figure::Column& held_;
  figure::Column& rate_;
  figure::Column& computing_;
  std::vector<Cause> causes_;
  std::vector<figure::Column*> lost_;
};

Figure draw_causes(const Policies& policies) {
  Figure figure{.id = "run_held_back", .title = "Causes of slow GPU jobs"};
  auto& policy = figure.text("policy", "Policy");
  TotalColumns columns(figure, causes_of(policies));
  for (const PolicyDigest& each : policies) {
    policy.add(each.summary.policy);
    columns.add(each.rates.all);
  }
  figure.n = std::llround(policies.front().rates.all.jobs);
  figure.caption =
      "Shares of the allocated GPU time. A loss is the time that the same jobs would have saved at "
      "their recorded speed; below 0, they ran faster. All losses and the mean rate, weighted by "
      "GPU time, add up to 1. Causes without a loss are not shown.";
  figure.charts.push_back({.kind = "bar",
                           .title = "Mean rate and GPU utilization",
                           .x = "policy",
                           .y = {"mean_rate", "gpu_use"}});
  if (auto lost = columns.lost(); !lost.empty()) {
    figure.charts.push_back({.kind = "bar",
                             .title = "Lost share of the allocated GPU time",
                             .x = "policy",
                             .y = std::move(lost)});
  }
  return figure;
}

Figure draw_models(const RunInput& input, const Policies& policies) {
  const Grouping& models = input.by(By::model);
  Figure figure{.id = "run_models", .title = "Models"};
  auto& policy = figure.text("policy", "Policy");
  auto& model = figure.text("model", "Model");
  TotalColumns columns(figure, causes_of(policies));
  auto& cores = figure.number("cpus_per_gpu", "Cores per GPU");
  std::vector<std::size_t> order(models.names.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return models.gpu_s[a] > models.gpu_s[b]; });
  constexpr std::size_t kMost = 30;
  if (order.size() > kMost) order.resize(kMost);
  for (const PolicyDigest& each : policies) {
    for (const std::size_t at : order) {
      const RateTotals& total = each.rates.by_model[at];
      policy.add(each.summary.policy);
      model.add(models.names[at]);
      columns.add(total);
      cores.add(rounded(ratio(total.core_s, total.held_s), 100));
    }
  }
  figure.n = input.gpu_jobs();
  figure.caption = fmt::format(
      "Models as the job log names them{}, largest GPU time first. Means are weighted by GPU time; "
      "losses are shares of it.",
      models.names.size() > kMost ? fmt::format(", {} of {}", kMost, models.names.size()) : "");
  figure.charts.push_back({.kind = "bar",
                           .title = "Mean rate and GPU utilization",
                           .x = "model",
                           .y = {"mean_rate", "gpu_use"},
                           .choose = {"policy"}});
  return figure;
}

Figure draw_slowed(const RunInput& input, const Policies& policies) {
  Figure figure{.id = "run_slowed", .title = "GPU jobs with the largest losses"};
  const trace::Trace& trace = input.trace();
  auto& policy = figure.text("policy", "Policy");
  auto& id = figure.text("job_id", "Job");
  auto& user = figure.text("user", "User");
  auto& model = figure.text("model", "Model");
  auto& gpus = figure.number("gpus", "GPUs", Unit::gpus);
  auto& cores = figure.number("mean_cpus", "Mean cores");
  auto& ran = figure.number("ran_s", "Run time", Unit::seconds);
  auto& lost = figure.number("lost_gpu_s", "Lost GPU time", Unit::gpu_seconds);
  auto& why = figure.text("why", "Reason");
  for (const PolicyDigest& each : policies) {
    for (const SlowedJob& slowed : each.rates.slowed) {
      const trace::Job& job = trace.jobs[slowed.job];
      policy.add(each.summary.policy);
      id.add(trace.id(job.id));
      user.add(std::string(trace.names[job.request.user]));
      model.add(std::string(trace.names[job.request.model]));
      gpus.add(job.request.gpus);
      cores.add(rounded(slowed.pace.cpus, 10));
      ran.add(std::round(slowed.pace.ran_s));
      lost.add(std::round(slowed.lost_s));
      why.add(sim::in_words(slowed.pace));
    }
  }
  figure.caption =
      "The rate is the mean over the run time of the job and the product of its factors; factors "
      "of 1 are left out. almanac explain RUN JOB lists every change of the rate.";
  return figure;
}

Figure draw_cpu_jobs(const Policies& policies, bool has_speeds) {
  Figure figure{.id = "run_cpu_jobs", .title = "CPU jobs"};
  auto& policy = figure.text("policy", "Policy");
  for (const PolicyDigest& each : policies) policy.add(each.summary.policy);
  const auto add = [&](const char* column, const char* label, Unit unit, auto value) {
    auto& values = figure.number(column, label, unit);
    for (const PolicyDigest& each : policies) values.add(static_cast<double>(value(each)));
  };
  add("finished", "Finished", Unit::jobs, [](const auto& p) { return p.summary.cpu_jobs; });
  add("avg_wait_s", "Mean wait", Unit::seconds,
      [](const auto& p) { return p.summary.avg_cpu_job_wait_s; });
  add("p99_wait_s", "p99 wait", Unit::seconds,
      [](const auto& p) { return p.summary.p99_cpu_job_wait_s; });
  add("stopped", "Evicted at least once", Unit::jobs,
      [](const auto& p) { return p.rates.cpu.stopped; });
  add("stops", "Evictions", Unit::none, [](const auto& p) { return p.rates.cpu.stops; });
  if (has_speeds) {
    add("throttled", "Throttled", Unit::jobs, [](const auto& p) { return p.rates.cpu.throttled; });
    add("avg_throttled_s", "Mean throttled time", Unit::seconds, [](const auto& p) {
      return ratio(p.rates.cpu.throttled_s, static_cast<double>(p.rates.cpu.throttled));
    });
    add("cut_cpu_s", "Lost core time", Unit::cpu_seconds,
        [](const auto& p) { return std::round(p.rates.cpu.cut_s); });
  }
  figure.n = static_cast<std::int64_t>(policies.front().summary.cpu_jobs);
  figure.caption = "Jobs without a GPU. Waits cover finished jobs.";
  if (has_speeds) {
    figure.caption += " A job is throttled while it runs with fewer cores than it requested.";
  }
  figure.charts.push_back(
      {.kind = "bar", .title = "Wait", .x = "policy", .y = {"avg_wait_s", "p99_wait_s"}});
  return figure;
}

Figure draw_gave_way(const RunInput& input, const Policies& policies) {
  Figure figure{.id = "run_gave_way", .title = "Throttled and evicted CPU jobs"};
  const trace::Trace& trace = input.trace();
  auto& policy = figure.text("policy", "Policy");
  auto& id = figure.text("job_id", "Job");
  auto& user = figure.text("user", "User");
  auto& asked = figure.number("cpus", "Cores asked");
  auto& held = figure.number("mean_cpus", "Mean cores");
  auto& ran = figure.number("ran_s", "Run time", Unit::seconds);
  auto& throttled = figure.number("throttled_s", "Throttled for", Unit::seconds);
  auto& cut = figure.number("cut_cpu_s", "Lost core time", Unit::cpu_seconds);
  auto& stops = figure.number("stops", "Evictions");
  for (const PolicyDigest& each : policies) {
    for (const SlowedJob& slowed : each.rates.gave_way) {
      const trace::Job& job = trace.jobs[slowed.job];
      policy.add(each.summary.policy);
      id.add(trace.id(job.id));
      user.add(std::string(trace.names[job.request.user]));
      asked.add(job.request.cpus);
      held.add(rounded(slowed.pace.cpus, 10));
      ran.add(std::round(slowed.pace.ran_s));
      throttled.add(std::round(slowed.pace.throttled_s));
      cut.add(std::round(slowed.pace.cut_cpu_s));
      stops.add(slowed.stops);
    }
  }
  figure.caption =
      "Jobs without a GPU that lost cores while they ran, largest loss first; then jobs that were "
      "stopped for others.";
  return figure;
}

bool has_speeds(const Policies& policies) {
  return std::any_of(policies.begin(), policies.end(),
                     [](const PolicyDigest& each) { return each.rates.all.jobs > 0; });
}

bool has_cpu_jobs(const Policies& policies) {
  return std::any_of(policies.begin(), policies.end(),
                     [](const PolicyDigest& each) { return each.rates.cpu.jobs > 0; });
}

}  // namespace

std::vector<Figure> draw_speed(const RunInput& input, const Policies& policies) {
  std::vector<Figure> figures;
  const bool speeds = has_speeds(policies);
  if (speeds) {
    figures.push_back(draw_distribution(policies));
    figures.push_back(draw_causes(policies));
    if (input.by(By::model).told_apart()) figures.push_back(draw_models(input, policies));
    if (Figure slowed = draw_slowed(input, policies); slowed.rows() > 0) {
      figures.push_back(std::move(slowed));
    }
  }
  if (has_cpu_jobs(policies)) {
    figures.push_back(draw_cpu_jobs(policies, speeds));
    if (Figure gave_way = draw_gave_way(input, policies); gave_way.rows() > 0) {
      figures.push_back(std::move(gave_way));
    }
  }
  return figures;
}

}  // namespace almanac::report
