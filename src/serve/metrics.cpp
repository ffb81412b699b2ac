// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "serve/cluster_metrics.h"
#include "serve/metric_families.h"

namespace almanac::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily round_histogram(const service::Counters& counters) {
  ClientMetric metric;
  std::uint64_t below = 0;
  for (std::size_t n = 0; n < counters.round_us.size(); ++n) {
    below += counters.round_us[n];
    const double bound_s = std::ldexp(1e-6, static_cast<int>(n));
    if (n + 1 < counters.round_us.size()) metric.histogram.bucket.push_back({below, bound_s});
    // Rounds are counted, their lengths are known by bucket: half way into each.
    metric.histogram.sample_sum += static_cast<double>(counters.round_us[n]) * 0.75 * bound_s;
  }
  metric.histogram.sample_count = below;
  metric.histogram.bucket.push_back({below, INFINITY});
  return {"almanac_round_duration_seconds",
          "Duration of a scheduling round; the sum is estimated from the buckets.",
          MetricType::Histogram,
          {metric}};
}

MetricFamily jobs_ended(const std::map<trace::JobState, std::uint64_t>& ended) {
  using enum trace::JobState;
  static constexpr std::pair<trace::JobState, const char*> kOutcomes[] = {
      {completed, "completed"}, {failed, "failed"},       {cancelled, "cancelled"},
      {timeout, "timeout"},     {node_fail, "node_fail"}, {preempted, "preempted"},
      {unknown, "unknown"}};
  MetricFamily made{"almanac_jobs_ended_total", "Jobs that ended.", MetricType::Counter, {}};
  for (const auto& [state, outcome] : kOutcomes) {
    const auto found = ended.find(state);
    ClientMetric metric;
    metric.label = {{"outcome", outcome}};
    metric.counter.value = found == ended.end() ? 0 : static_cast<double>(found->second);
    made.metric.push_back(std::move(metric));
  }
  return made;
}

void add_jobs(Families& out, const service::Overview& overview) {
  out.add_gauge("almanac_jobs", "Jobs that have not ended, by state.",
                {gauge(static_cast<double>(overview.waiting), {{"state", "pending"}}),
                 gauge(static_cast<double>(overview.held), {{"state", "held"}}),
                 gauge(static_cast<double>(overview.running), {{"state", "running"}})});
  out.add_gauge("almanac_gpus", "GPUs in service.", overview.gpus);
  out.add_gauge("almanac_gpus_busy", "GPUs that are allocated, at least in part.",
                overview.gpus_busy);
  out.add_gauge("almanac_gpus_allocated", "GPUs allocated, counting fractions.",
                overview.gpu_share_busy);
  out.add_gauge(
      "almanac_power_watts", "Power drawn by the machine's GPUs and nodes.",
      {gauge(overview.power_w, {{"source", overview.power_is_measured ? "measured" : "model"}})});
  out.add_gauge("almanac_warnings", "Current warnings of the service.",
                static_cast<double>(overview.warnings.size()));
  out.add_gauge("almanac_start_timestamp_seconds", "When the service started.",
                seconds(overview.started));
  out.add_gauge("almanac_policy_info", "The active policy.",
                {gauge(1, {{"policy", overview.policy}, {"shadow", overview.shadow}})});
}

void add_counters(Families& out, const service::Counters& counters) {
  out.add_gauge("almanac_last_successful_round_timestamp_seconds",
                "When the scheduler last finished a round.", seconds(counters.last_round));
  out.add_counter("almanac_rounds_total", "Scheduling rounds.",
                  static_cast<double>(counters.rounds));
  out.add(round_histogram(counters));
  out.add_counter("almanac_jobs_submitted_total", "Jobs taken.",
                  static_cast<double>(counters.submitted));
  out.add_counter("almanac_jobs_started_total", "Runs begun.",
                  static_cast<double>(counters.started));
  out.add(jobs_ended(counters.ended));
  out.add_counter("almanac_jobs_preempted_total", "Runs preempted for another job.",
                  static_cast<double>(counters.preempted));
  out.add_gauge("almanac_records",
                "Jobs in memory, including those that ended since the policy was last restarted.",
                static_cast<double>(counters.records));
  out.add_counter("almanac_store_commit_failures_total",
                  "Changes that could not be written to disk.",
                  static_cast<double>(counters.failed_commits));
  out.add_counter("almanac_store_commit_seconds_total", "Time spent writing to the disk.",
                  counters.commit_s);
}

/// Adds the metrics of a service that steers another manager's cluster.
void add_manager(Families& out, const service::Manager& manager) {
  out.add_gauge("almanac_manager_up", "Whether the workload manager answers.",
                {gauge(manager.trouble.empty() ? 1 : 0,
                       {{"cluster", manager.cluster}, {"version", manager.version}})});
  out.add_gauge("almanac_manager_answer_seconds", "Duration of the workload manager's last answer.",
                manager.news_s);
  out.add_gauge("almanac_manager_changes_limit",
                "Current limit on changes per second sent to the workload manager.",
                manager.changes_per_s);
  std::vector<ClientMetric> on;
  std::vector<ClientMetric> wanted;
  MetricFamily done{"almanac_lever_changes_total", "Changes made.", MetricType::Counter, {}};
  for (const service::LeverView& lever : manager.levers) {
    const bool acts = lever.how == service::Switch::on && lever.rests.empty();
    on.push_back(gauge(acts ? 1 : 0, {{"lever", lever.name}}));
    wanted.push_back(gauge(static_cast<double>(lever.wanted), {{"lever", lever.name}}));
    const auto count = [&](const char* result, std::uint64_t changes) {
      ClientMetric metric;
      metric.label = {{"lever", lever.name}, {"result", result}};
      metric.counter.value = static_cast<double>(changes);
      done.metric.push_back(std::move(metric));
    };
    count("done", lever.done);
    count("failed", lever.failed);
    count("refused", lever.refused);
  }
  out.add_gauge("almanac_lever_acts", "Whether a lever is on and not paused.", std::move(on));
  out.add_gauge("almanac_lever_wanted", "Changes that the lever wants to make.", std::move(wanted));
  out.add(std::move(done));
  if (!manager.canary || !manager.canary->most_wait_s) return;
  out.add_gauge("almanac_canary_wait_seconds", "Mean wait of the canary's jobs.",
                {gauge(manager.canary->wait_s, {{"bound", "seen"}}),
                 gauge(*manager.canary->most_wait_s, {{"bound", "expected"}})});
}

/// Of a service that watches Kueue: its workloads by ClusterQueue, and by the LocalQueue and
/// namespace that they were submitted to.
void add_queues(Families& out, const service::Service& service) {
  const auto jobs = service.jobs();
  if (!jobs) return;
  struct Sum {
    double jobs = 0, gpus = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
  for (const service::JobView& view : *jobs) {
    const bool runs = view.job.state == trace::JobState::running;
    if (!runs && view.job.state != trace::JobState::pending) continue;
    const store::Submission& asked = *view.job.asked;
    const char* const state = runs ? "running" : "waiting";
    Sum& sum = sums[{asked.vc, asked.account, state}];
    ++sum.jobs;
    sum.gpus += asked.gpus;
  }
  std::vector<ClientMetric> counts;
  std::vector<ClientMetric> gpus;
  for (const auto& [key, sum] : sums) {
    const auto& [queue, account, state] = key;
    const std::size_t slash = std::min(account.find('/'), account.size());
    const Labels labels{{"cluster_queue", queue},
                        {"namespace", account.substr(0, slash)},
                        {"local_queue", account.substr(std::min(slash + 1, account.size()))},
                        {"state", state}};
    counts.push_back(gauge(sum.jobs, labels));
    gpus.push_back(gauge(sum.gpus, labels));
  }
  out.add_gauge("almanac_queue_workloads", "Workloads by queue and state.", std::move(counts));
  out.add_gauge("almanac_queue_gpus", "GPUs that these workloads request.", std::move(gpus));
}

}  // namespace

struct Metrics::Own {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests = prometheus::BuildCounter()
                                                          .Name("almanac_http_requests_total")
                                                          .Help("Requests answered.")
                                                          .Register(registry);
  prometheus::Family<prometheus::Histogram>& latency =
      prometheus::BuildHistogram()
          .Name("almanac_http_request_duration_seconds")
          .Help("Time from a complete request to its answer.")
          .Register(registry);
};

Metrics::Metrics() : own_(std::make_unique<Own>()) {}
Metrics::~Metrics() = default;

void Metrics::count(const std::string& method, const std::string& route, int status,
                    double taken_s) {
  own_->requests.Add({{"method", method}, {"route", route}, {"status", std::to_string(status)}})
      .Increment();
  own_->latency
      .Add({{"method", method}, {"route", route}},
           prometheus::Histogram::BucketBoundaries{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                                   0.5, 1, 2, 5})
      .Observe(taken_s);
}

std::string Metrics::text(const service::Service& service) const {
  Families families;
  add_jobs(families, service.overview());
  const service::Counters counters = service.counters();
  add_counters(families, counters);
  add_waits(families, counters);
  add_gpus(families, service.nodes(), counters.waits);
  if (const auto manager = service.manager()) {
    add_manager(families, *manager);
    if (manager->name == "kubernetes") add_queues(families, service);
  }
  std::ostringstream out;
  const prometheus::TextSerializer serializer;
  serializer.Serialize(out, families.all());
  serializer.Serialize(out, own_->registry.Collect());
  return out.str();
}

}  // namespace almanac::serve
