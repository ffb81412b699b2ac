// SPDX-License-Identifier: Apache-2.0
#include "experiment/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "experiment/dues.h"
#include "experiment/recorded_waits.h"
#include "experiment/summary_fields.h"
#include "policy/conduct.h"
#include "policy/registry.h"
#include "sim/gpu_rent.h"
#include "sim/signature.h"
#include "stats/quantile.h"
#include "trace/eligible.h"
#include "trace/value.h"

namespace almanac::experiment {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Means by user or virtual cluster.
class Groups {
 public:
  void add(NameId group, double value) {
    if (sums_.size() <= index(group)) sums_.resize(index(group) + 1);
    sums_[index(group)].total += value;
    ++sums_[index(group)].count;
  }
  double worst_mean() const {
    double worst = kNothing;
    for (const Sum& sum : sums_) {
      if (sum.count > 0 && !(sum.mean() <= worst)) worst = sum.mean();
    }
    return worst;
  }
  /// (sum x)^2 / (n sum x^2) of the means. Jain, Chiu, Hawe, DEC-TR-301, 1984.
  double jain_index() const {
    double total = 0;
    double squares = 0;
    double groups = 0;
    for (const Sum& sum : sums_) {
      if (sum.count == 0) continue;
      total += sum.mean();
      squares += sum.mean() * sum.mean();
      ++groups;
    }
    return groups > 0 ? total * total / (groups * squares) : kNothing;
  }

 private:
  struct Sum {
    double total = 0;
    double count = 0;
    double mean() const { return total / count; }
  };
  std::vector<Sum> sums_;
};

double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return values.empty() ? kNothing : total / static_cast<double>(values.size());
}

/// Whether deadlines were met. GENIE (TPDS'20) 5.3, Eq 14; a job that never ended met none.
class Deadlines {
 public:
  void add(const trace::Request& request, const sim::JobResult& record) {
    if (request.deadline == kNoTime) return;
    ++jobs_;
    possible_ += trace::full_value(request);
    if (record.phase != policy::Phase::ended) return;
    if (record.end <= request.deadline) ++met_;
    earned_ += trace::value_at(request, record.end);
    tardiness_.push_back(seconds(trace::tardiness(request, record.end)));
  }
  void write(Summary& made) {
    made.deadline_jobs = jobs_;
    const auto if_any = [&](double value) { return jobs_ > 0 ? value : kNothing; };
    made.guarantee = if_any(static_cast<double>(met_) / static_cast<double>(jobs_));
    made.avg_tardiness_s = mean(tardiness_);
    made.p99_tardiness_s = stats::quantile(tardiness_, 0.99);
    made.value_earned = if_any(earned_);
    made.value_possible = if_any(possible_);
  }

 private:
  std::uint64_t jobs_ = 0;
  std::uint64_t met_ = 0;
  double earned_ = 0;
  double possible_ = 0;
  std::vector<double> tardiness_;
};

/// What happened to the jobs that count, one after the other.
class Tally {
 public:
  /// A job that joined the queue and ended; `waited` is the time between in which it did not run.
  void add(const trace::Job& job, Time joined, Time start, Time end, Duration waited) {
    const trace::Request& request = job.request;
    const Duration completion = end - joined;
    jct_.push_back(seconds(completion));
    wait_.push_back(seconds(waited));
    if (waited > Duration{0}) ++queued_;
    const double run = std::max(10.0, seconds(job.outcome.run));
    const double slowdown = std::max(1.0, seconds(completion) / run);
    slowdown_total_ += slowdown;
    user_slowdown_.add(request.user, slowdown);
    user_wait_.add(request.user, seconds(waited));
    vc_wait_.add(request.vc, seconds(waited));
    request.gpus == 0 ? cpu_wait_.push_back(seconds(waited))
                      : gpu_jct_.push_back(seconds(completion));
    if (job.outcome.start == kNoTime) return;
    ++told_;
    if (std::chrono::abs(start - job.outcome.start) <= kSameStart) ++as_told_;
  }
  void write(Summary& made) {
    made.finished = jct_.size();
    made.queued_jobs = queued_;
    made.avg_jct_s = mean(jct_);
    made.avg_wait_s = mean(wait_);
    made.p50_jct_s = stats::quantile(jct_, 0.5);
    made.p90_jct_s = stats::quantile(jct_, 0.9);
    made.p99_jct_s = stats::quantile(jct_, 0.99);
    made.p50_wait_s = stats::quantile(wait_, 0.5);
    made.p90_wait_s = stats::quantile(wait_, 0.9);
    made.p99_wait_s = stats::quantile(wait_, 0.99);
    made.as_recorded = told_ > 0 ? as_told_ / told_ : kNothing;
    made.avg_gpu_job_jct_s = mean(gpu_jct_);
    made.cpu_jobs = cpu_wait_.size();
    made.avg_cpu_job_wait_s = mean(cpu_wait_);
    made.p99_cpu_job_wait_s = stats::quantile(cpu_wait_, 0.99);
    made.avg_bounded_slowdown =
        made.finished > 0 ? slowdown_total_ / static_cast<double>(made.finished) : kNothing;
    made.jain_user_slowdown = user_slowdown_.jain_index();
    made.worst_user_avg_wait_s = user_wait_.worst_mean();
    made.worst_vc_avg_wait_s = vc_wait_.worst_mean();
  }

 private:
  std::vector<double> jct_;
  std::vector<double> wait_;
  std::vector<double> gpu_jct_;
  std::vector<double> cpu_wait_;
  Groups user_slowdown_;
  Groups user_wait_;
  Groups vc_wait_;
  double slowdown_total_ = 0;
  std::uint64_t queued_ = 0;
  double told_ = 0;
  double as_told_ = 0;
};

double share(double part, double whole) { return whole > 0 ? part / whole : kNothing; }

energy::NodeTime node_time(const sim::PoweredUse& use, const energy::PowerModel& power) {
  return {.on_s = use.on / power.gpus,
          .booting_s = use.booting / power.gpus,
          .asleep_s = use.asleep / power.gpus,
          .busy_gpu_s = use.busy};
}

/// Money or carbon of a use: in total, and the part that GPUs in use add to idle nodes.
struct Billed {
  double total = 0;
  double jobs = 0;
};

/// Bills power at the price and with the carbon of the moment in which it was drawn, where signals
/// tell them.
void add_signals(Summary& made, const sim::Schedule& schedule, const energy::PowerModel& power) {
  constexpr double kSecondsAnHour = 3600, kGramsAKg = 1000;
  const auto kwh = [&](const energy::NodeTime& time) {
    return bill_of(energy_of(time, power), power.facility).facility_kwh;
  };
  const auto billed = [&](const sim::SignalUse& use, double unit, double constant) {
    Billed sum;
    const auto add = [&](const sim::PoweredUse& each, double value) {
      const energy::NodeTime time = node_time(each, power);
      sum.total += kwh(time) * value;
      sum.jobs += kwh({.busy_gpu_s = time.busy_gpu_s}) * value;
    };
    for (const auto& [value, each] : use.stretches) add(each, value / unit);
    add(use.unvalued, constant);
    return sum;
  };
  for (const sim::SignalUse& use : schedule.signal_uses) {
    if (use.name == sim::kPriceSignal) {
      const Billed sum = billed(use, 1, power.facility.price_per_kwh);
      made.cost = sum.total;
      made.jobs_cost = sum.jobs;
    }
    if (use.name == sim::kCarbonSignal) {
      const Billed sum = billed(use, kGramsAKg, power.facility.kg_co2_per_kwh);
      made.kg_co2 = sum.total;
      made.jobs_kg_co2 = sum.jobs;
    }
    if (!sim::is_gpu_rent(use.name)) continue;
    if (std::isnan(made.gpu_cost)) made.gpu_cost = 0;
    made.gpu_cost += use.held_weighted / kSecondsAnHour;
    GpuCost& of_type = made.gpu_costs.emplace_back();
    of_type.type =
        sim::is_reserved_price(use.name) ? use.name : use.name.substr(use.name.find('/') + 1);
    of_type.gpu_h = use.held_gpu_s / kSecondsAnHour;
    of_type.cost = use.held_weighted / kSecondsAnHour;
    for (std::size_t hour = 0; hour < of_type.by_hour.size(); ++hour) {
      of_type.by_hour[hour] = use.held_by_hour[hour] / kSecondsAnHour;
    }
  }
}

void add_energy(Summary& made, const sim::Schedule& schedule, const energy::PowerModel& power) {
  const sim::NodeUse& use = schedule.nodes;
  const energy::NodeTime time{.on_s = use.on_gpu_s / power.gpus,
                              .booting_s = use.booting_gpu_s / power.gpus,
                              .asleep_s = use.asleep_gpu_s / power.gpus,
                              .busy_gpu_s = schedule.busy_gpu_s - schedule.spared_gpu_s};
  energy::NodeTime always_on = time;
  always_on.on_s += time.booting_s + time.asleep_s;
  always_on.booting_s = always_on.asleep_s = 0;
  const energy::Energy energy = energy_of(time, power);
  const energy::Bill bill = bill_of(energy, power.facility);
  energy::NodeTime bound = time;
  bound.asleep_s = schedule.sleep_bound.asleep_gpu_s / power.gpus;
  bound.booting_s = schedule.sleep_bound.booting_gpu_s / power.gpus;
  bound.on_s = always_on.on_s - bound.asleep_s - bound.booting_s;
  made.energy_bound_j = energy_of(bound, power).total_j();
  made.energy_j = energy.total_j();
  made.energy_saved_j = energy_of(always_on, power).total_j() - made.energy_j;
  made.facility_kwh = bill.facility_kwh;
  made.cost = bill.cost;
  made.kg_co2 = bill.kg_co2;
  const energy::Bill jobs =
      bill_of(energy_of({.busy_gpu_s = time.busy_gpu_s}, power), power.facility);
  made.jobs_kwh = jobs.facility_kwh;
  made.jobs_cost = jobs.cost;
  made.jobs_kg_co2 = jobs.kg_co2;
  add_signals(made, schedule, power);
  const double span_s = seconds(schedule.finish - schedule.begin);
  const double days = span_s / seconds(24h);
  made.nodes_asleep = span_s > 0 ? use.asleep_node_s / span_s : 0;
  made.wake_ups_a_day = days > 0 ? static_cast<double>(use.wake_ups) / days : 0;
  made.nodes_woken_a_day = days > 0 ? static_cast<double>(use.nodes_woken) / days : 0;
  made.jobs_held_back = schedule.held_back.jobs;
  made.avg_hold_s = made.jobs_held_back > 0 ? seconds(schedule.held_back.waited) /
                                                  static_cast<double>(made.jobs_held_back)
                                            : kNothing;
}

/// Returns a field of CSV, in quotes if RFC 4180 requires them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

double power_w(const sim::Sample& sample, const energy::PowerModel& power) {
  const double idle_w = sample.gpus_on * power.idle_w;
  const double booting_w = sample.gpus_booting * power.booting_w;
  const double asleep_w = sample.gpus_asleep * power.asleep_w;
  return (idle_w + booting_w + asleep_w) / power.gpus +
         (sample.gpus_busy - sample.gpus_spared) * power.gpu_w();
}

Summary summarize(const policy::Composition& policy, const trace::Trace& trace,
                  const sim::Schedule& schedule, const energy::PowerModel& power) {
  const policy::TraitSet traits = policy::registry().traits(policy);
  Summary made;
  made.policy = policy.name;
  made.bound = policy::is_bound(traits);
  made.needs = policy::needs_of(traits);
  made.complete = !schedule.interrupted;
  made.never_startable = schedule.never.size();
  made.failed_runs = schedule.failed_runs;
  made.events = schedule.events;
  made.engine_wall_s = schedule.wall_s;
  made.signature = sim::signature(trace, schedule);
  Tally tally;
  Deadlines deadlines;
  Time last_end = schedule.begin;
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const sim::JobResult& record = schedule.jobs[job];
    if (record.phase == policy::Phase::unknown) continue;
    if (trace::never_ran(trace.jobs[job]) && record.phase != policy::Phase::ended) {
      ++made.withdrawn_jobs;
      continue;
    }
    ++made.jobs;
    const trace::Request& request = trace.jobs[job].request;
    made.preemptions += record.preemptions;
    if (std::isnan(request.checkpoint_s)) made.lossless_preemptions += record.preemptions;
    const bool is_counted = request.submit >= schedule.window.from;
    if (is_counted) deadlines.add(request, record);
    if (record.phase != policy::Phase::ended) {
      if (is_counted) ++made.never_ended;
      continue;
    }
    last_end = std::max(last_end, record.end);
    if (!is_counted) continue;
    const Time came = sim::joined(request, record);
    tally.add(trace.jobs[job], came, record.start, record.end, record.end - came - record.ran);
  }
  tally.write(made);
  made.makespan_s = seconds(last_end - schedule.begin);
  made.gpu_occupancy = share(schedule.busy_gpu_s, schedule.total_gpu_s);
  const sim::Window& window = schedule.window;
  made.gpu_utilization = share(window.computing_gpu_s, window.total_gpu_s);
  made.gpu_allocation = share(window.busy_gpu_s, window.total_gpu_s);
  made.cpu_allocation = share(window.busy_cpu_s, window.total_cpu_s);
  deadlines.write(made);
  add_energy(made, schedule, power);
  return made;
}

void add_dues(Summary& summary, const fairness::Dues& dues) {
  if (dues.owners.empty()) return;
  summary.share_error = dues.share_error;
  summary.jain_fair_share = dues.jain;
  summary.worst_owner = dues.owners[dues.worst].name;
  summary.worst_fair_share = dues.worst_part;
  summary.avg_finish_time_ratio = dues.finish_ratio;
  summary.unfair_jobs = dues.unfair_jobs;
  constexpr std::string_view kTenant = "tenant ";
  const auto plain = [&](const std::string& name) {
    return name.starts_with(kTenant) ? name.substr(kTenant.size()) : name;
  };
  for (const fairness::Owner& owner : dues.owners) {
    if (!owner.name.starts_with(kTenant)) continue;
    summary.tenants.push_back({plain(owner.name), owner.used_gpu_s, owner.fair_share_gpu_s});
  }
  for (const fairness::Loan& loan : dues.loans) {
    summary.loans.push_back(
        {plain(dues.owners[loan.from].name), plain(dues.owners[loan.to].name), loan.gpu_s});
  }
}

std::optional<Summary> summarize_recorded(const trace::Trace& trace,
                                          const cluster::Cluster& cluster, Duration warm_up,
                                          std::span<const JobId> never) {
  std::vector<bool> is_never(trace.jobs.size());
  for (const JobId job : never) is_never[index(job)] = true;
  const auto counts = [&](const trace::Job& job) {
    return sim::is_simulated(job.request, cluster) && !trace::never_ran(job) &&
           !is_never[static_cast<std::size_t>(&job - trace.jobs.data())];
  };
  const auto tells = [](const trace::Job& job) { return job.outcome.start != kNoTime; };
  double ran = 0;
  double told = 0;
  for (const trace::Job& job : trace.jobs) {
    if (!counts(job)) continue;
    ++ran;
    told += tells(job) ? 1 : 0;
  }
  constexpr double kEnough = 0.95;
  if (ran == 0 || told < kEnough * ran) return std::nullopt;
  Summary made{.policy = kAsRecorded, .recorded = true};
  const Time begin = trace.jobs.front().request.submit;
  const sim::Window window{.from = begin + warm_up, .until = trace.jobs.back().request.submit};
  Tally tally;
  Time last_end = begin;
  double busy_gpu_s = 0;
  for (const trace::Job& job : trace.jobs) {
    if (!counts(job) || !tells(job)) continue;
    const trace::Outcome& outcome = job.outcome;
    const Time end = outcome.end != kNoTime ? outcome.end : outcome.start + outcome.run;
    const Duration inside = std::min(end, window.until) - std::max(outcome.start, window.from);
    if (inside > Duration{0}) {
      busy_gpu_s += seconds(inside) * job.request.gpus * static_cast<double>(job.request.gpu_share);
    }
    ++made.jobs;
    last_end = std::max(last_end, end);
    if (job.request.submit < window.from) continue;
    tally.add(job, job.request.submit, outcome.start, end, recorded_wait(job));
  }
  tally.write(made);
  made.makespan_s = seconds(last_end - begin);
  if (!cluster.lower_bound && cluster.changes.empty()) {
    made.gpu_allocation = share(busy_gpu_s, seconds(window.until - window.from) * cluster.gpus());
  } else {
    made.gpu_allocation = kNothing;
  }
  for (double Summary::*const untold :
       {&Summary::gpu_occupancy, &Summary::gpu_utilization, &Summary::cpu_allocation,
        &Summary::guarantee, &Summary::avg_tardiness_s, &Summary::p99_tardiness_s,
        &Summary::value_earned, &Summary::value_possible, &Summary::avg_hold_s, &Summary::energy_j,
        &Summary::energy_saved_j, &Summary::energy_bound_j, &Summary::facility_kwh, &Summary::cost,
        &Summary::kg_co2, &Summary::jobs_kwh, &Summary::jobs_cost, &Summary::jobs_kg_co2}) {
    made.*untold = kNothing;
  }
  return made;
}

std::string marked_name(const Summary& summary) {
  std::string name = summary.policy;
  if (summary.bound) name += " (oracle)";
  if (!summary.complete) name += " (interrupted)";
  return name;
}

std::string summary_csv_header() {
  std::string line = "policy";
  for (const SummaryField& field : summary_fields()) {
    if (field.where == SummaryField::Where::json) continue;
    line += ',';
    line += field.name;
  }
  return line + ",bound,complete,recorded,signature";
}

std::string to_csv_row(const Summary& summary) {
  std::string line = csv_field(summary.policy);
  for (const SummaryField& field : summary_fields()) {
    if (field.where == SummaryField::Where::json) continue;
    line += ',';
    if (const auto* const count = std::get_if<SummaryField::Count>(&field.member)) {
      line += fmt::format("{}", summary.*(*count));
    } else {
      const double value = summary.*std::get<SummaryField::Number>(field.member);
      if (std::isfinite(value)) line += fmt::format("{}", value);
    }
  }
  line += fmt::format(",{},{},{},", summary.bound, summary.complete, summary.recorded);
  return summary.recorded ? line : line + fmt::format("{:016x}", summary.signature);
}

}  // namespace almanac::experiment
