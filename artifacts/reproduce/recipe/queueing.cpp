// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waits that queueing theory knows: by its formulas, and as our simulator has them under fifo.
///
/// Source   M/D/1 and M/M/c in closed form; two models on two GPUs as AlpaServe has them (Li et
///          al., OSDI'23, section 3.3).
#include "formulas/queueing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "base/rng.h"
#include "experiment/profile.h"
#include "inference/registry.h"
#include "inference/simulation.h"
#include "policy/registry.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "sim/simulation.h"
#include "stats/mean.h"
#include "stats/student.h"

namespace almanac::reproduce {

void register_queueing(Recipes& registry);

namespace queueing_recipe {
namespace {

constexpr const char* kConstant = "golden/queueing/md1_summary*.csv";
constexpr const char* kDistribution = "golden/queueing/md1_wait_cdf*.csv";
constexpr const char* kExponential = "golden/queueing/mmc*.csv";
constexpr const char* kTwoModels = "golden/queueing/two_models_two_gpus*.csv";

constexpr std::size_t kJobs = 400'000;
constexpr std::size_t kBatches = 20;
constexpr std::uint64_t kMostRuns = 16;
constexpr double kClose = 0.005;
constexpr std::array kCloseLoads{0.5, 0.8, 0.9};
/// So long that whole milliseconds do not matter.
constexpr double kServiceSeconds = 1000;

struct Simulated {
  double mean_wait = 0;   ///< In mean services.
  double half_width = 0;  ///< Of the interval of 95 %, by batch means.
  std::uint64_t runs = 0;
};

/// Draws of mean 1, scaled so that their own mean is 1: a load that is off by chance would move a
/// wait more than all else.
std::vector<double> drawn(const std::function<double(Rng&)>& draw, std::uint64_t stream) {
  Rng rng(1, stream);
  std::vector<double> values(kJobs);
  for (double& value : values) value = draw(rng);
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(kJobs);
  for (double& value : values) value /= mean;
  return values;
}

/// Jobs of one GPU each on `servers` GPUs, in order of arrival; `service` draws services of mean 1.
/// Adds the mean wait of each batch to `means`. The first, which begins with an empty queue, is
/// left out.
void add_waits(int servers, double load, const std::function<double(Rng&)>& service,
               std::uint64_t run, std::vector<double>& means) {
  const std::vector<double> gaps = drawn([](Rng& rng) { return rng.exponential(); }, 2 * run + 1);
  const std::vector<double> services = drawn(service, 2 * run + 2);
  const auto length = [](double s) {
    return Duration{static_cast<Duration::rep>(std::llround(s * kServiceSeconds * 1e3))};
  };
  trace::Trace trace;
  trace.jobs.reserve(kJobs);
  double now = 0;
  for (std::size_t at = 0; at < kJobs; ++at) {
    now += gaps[at] / (load * servers);
    trace::Job job;
    job.id = trace.key("job");
    job.request.gpus = 1;
    job.request.submit = Time{length(now)};
    job.outcome.run = std::max(Duration{1}, length(services[at]));
    trace.jobs.push_back(job);
  }
  const auto policy = value_or_throw(
      experiment::make_policy(value_or_throw(policy::registry().compose("fifo")), trace));
  const sim::Schedule schedule =
      sim::simulate(trace, cluster::uniform(static_cast<std::uint32_t>(servers), 1), *policy, {});
  constexpr std::size_t kBatch = kJobs / (kBatches + 1);
  for (std::size_t batch = 1; batch <= kBatches; ++batch) {
    double sum = 0;
    for (std::size_t job = batch * kBatch; job < (batch + 1) * kBatch; ++job) {
      sum += seconds(schedule.jobs[job].start - trace.jobs[job].request.submit);
    }
    means.push_back(sum / static_cast<double>(kBatch) / kServiceSeconds);
  }
}

/// At the loads that are looked at closely as many runs as tell the wait within kClose, where
/// kMostRuns do.
Simulated simulate_wait(int servers, double load, const std::function<double(Rng&)>& service) {
  std::vector<double> means;
  Simulated made;
  const bool is_close =
      std::find(kCloseLoads.begin(), kCloseLoads.end(), load) != kCloseLoads.end();
  while (made.runs < (is_close ? kMostRuns : 1)) {
    add_waits(servers, load, service, made.runs++, means);
    const auto count = static_cast<double>(means.size());
    made.mean_wait = stats::mean(means);
    double squares = 0;
    for (const double mean : means) squares += std::pow(mean - made.mean_wait, 2);
    made.half_width =
        stats::student_two_tailed(0.05, count - 1) * std::sqrt(squares / (count - 1) / count);
    if (made.half_width <= kClose * made.mean_wait) break;
  }
  return made;
}

/// A microsecond for each token of a prompt.
class ByTokens final : public inference::StepTime {
 public:
  inference::Micros operator()(const inference::Batch& batch) const override {
    return static_cast<inference::Micros>(batch.prefill_tokens());
  }
};
constexpr double kServiceTokens = 10'000;  // on average

/// Sends each request to the replica that has done with all before it first, so that replicas serve
/// in order of arrival as if they had one queue.
class FirstFree final : public inference::Router {
 public:
  explicit FirstFree(const inference::Requests& requests) : requests_(requests) {}
  std::size_t choose(inference::RequestId id,
                     std::span<inference::Replica* const> replicas) override {
    free_at_.resize(replicas.size());
    const auto first = std::min_element(free_at_.begin(), free_at_.end());
    const inference::Request& request = requests_[id];
    *first = std::max(*first, request.arrival) + request.prompt;
    return static_cast<std::size_t>(first - free_at_.begin());
  }

 private:
  const inference::Requests& requests_;
  std::vector<inference::Micros> free_at_;
};

/// The mean wait of requests of `servers` replicas, in services: each is a prompt, and a replica
/// computes one at a time.
double wait_of_requests(int servers, double load, const std::function<double(Rng&)>& service) {
  const ByTokens step;
  double sum = 0;
  for (std::uint64_t run = 0; run < kMostRuns; ++run) {
    const std::vector<double> gaps = drawn([](Rng& rng) { return rng.exponential(); }, 2 * run + 1);
    const std::vector<double> services = drawn(service, 2 * run + 2);
    inference::Requests requests;
    requests.all.reserve(kJobs);
    double now = 0;
    for (std::size_t at = 0; at < kJobs; ++at) {
      now += gaps[at] / (load * servers) * kServiceTokens;
      const auto tokens = std::max(1LL, std::llround(services[at] * kServiceTokens));
      requests.all.push_back(
          {.arrival = now, .prompt = static_cast<std::int32_t>(tokens), .output = 1});
    }
    inference::Simulation simulation(std::move(requests));
    for (int each = 0; each < servers; ++each) {
      simulation.add({.sequences = 1, .tokens = 1 << 24, .kv_blocks = 1 << 20}, step,
                     inference::registry().formers.find("chunked")->make());
    }
    FirstFree router(simulation.requests());
    simulation.run(router);
    for (std::size_t each = 0; each < kJobs; ++each) {
      const auto id = static_cast<inference::RequestId>(each);
      sum += simulation.outcomes()[each].start - simulation.requests()[id].arrival;
    }
  }
  return sum / static_cast<double>(kMostRuns * kJobs) / kServiceTokens;
}

/// At the loads that are looked at closely, unless so few wait that their number is chance.
void add_wait_of_requests(Bench& bench, const std::string& what, double published,
                          double part_that_waits, int servers, double load,
                          const std::function<double(Rng&)>& service) {
  if (std::find(kCloseLoads.begin(), kCloseLoads.end(), load) == kCloseLoads.end()) return;
  if (part_that_waits * static_cast<double>(kJobs) < 10'000) return;
  bench.add(what + ": mean wait, as requests of replicas", published,
            wait_of_requests(servers, load, service), "services");
}

double load_of(const Rows& rows) {
  const double load = rows.number("rho");
  rows.require(load > 0 && load < 1, "expected rho between 0 and 1");
  return load;
}

/// Adds simulated waits, and says in the end how far chance may have moved them.
class Simulations {
 public:
  Simulations(Bench& bench, const File& file) : bench_(bench), file_(file) {}

  /// Leaves out a queue in which so few wait that their number is chance.
  void add(const std::string& what, double published, double part_that_waits, int servers,
           double load, const std::function<double(Rng&)>& service) {
    if (part_that_waits * static_cast<double>(kJobs) < 10'000) return;
    const Simulated ours = simulate_wait(servers, load, service);
    bench_.add(what + ": mean wait, simulated", published, ours.mean_wait, "services");
    widest_ = std::max(widest_, ours.half_width / ours.mean_wait);
  }

  void say() {
    bench_.note(
        fmt::format("{}: simulated waits are of {} to {} jobs each, and hold within {:.1f} % or "
                    "less with 95 %; where fewer than 10,000 would wait none is simulated",
                    file_.name, kJobs, kMostRuns * kJobs, 100 * widest_));
  }

 private:
  Bench& bench_;
  const File& file_;
  double widest_ = 0;
};

void constant_services(Bench& bench, const File& file) {
  Rows rows(file.path, {"rho", "mean_wait", "mean_queue_length", "mean_in_system", "var_wait"});
  Simulations simulations(bench, file);
  while (rows.next()) {
    const double load = load_of(rows);
    stats::ConstantQueue queue(load);
    const std::string what = fmt::format("{} rho {}", file.name, load);
    const double mean = queue.mean_wait();
    bench.add(what + ": mean wait", rows.number("mean_wait"), mean, "services");
    add_wait_of_requests(bench, what, mean, load, 1, load, [](Rng&) { return 1.0; });
    bench.add(what + ": mean jobs that wait", rows.number("mean_queue_length"), load * mean,
              "jobs");
    bench.add(what + ": mean jobs in the system", rows.number("mean_in_system"), load * (mean + 1),
              "jobs");
    bench.add(what + ": variance of the wait", rows.number("var_wait"), queue.wait_variance(), "");
    for (const auto& [column, q] : {std::pair{"p50_wait", 0.5},
                                    {"p90_wait", 0.9},
                                    {"p95_wait", 0.95},
                                    {"p99_wait", 0.99},
                                    {"p999_wait", 0.999}}) {
      if (!rows.has(column)) continue;
      bench.add(fmt::format("{}: {}", what, column), rows.number(column), queue.wait_quantile(q),
                "services");
    }
    simulations.add(what, rows.number("mean_wait"), load, 1, load, [](Rng&) { return 1.0; });
  }
  simulations.say();
}

void distribution(Bench& bench, const File& file) {
  Rows rows(file.path, {"rho", "wait_in_services", "p_wait_le"});
  while (rows.next()) {
    const double load = load_of(rows);
    const double wait = rows.number("wait_in_services");
    rows.require(wait >= 0 && wait <= 1e4, "expected a wait from 0 to 10,000 services");
    bench.add(fmt::format("{} rho {}: P(wait <= {})", file.name, load, wait),
              rows.number("p_wait_le"), stats::ConstantQueue(load).wait_at_most(wait), "");
  }
}

void exponential_services(Bench& bench, const File& file) {
  Rows rows(file.path, {"servers", "rho", "p_wait", "mean_wait_in_services"});
  Simulations simulations(bench, file);
  while (rows.next()) {
    const double load = load_of(rows);
    const std::int64_t servers = rows.whole("servers");
    rows.require(servers >= 1 && servers <= 10'000, "expected 1 to 10,000 servers");
    const stats::ExponentialQueue queue(static_cast<int>(servers), load);
    const std::string what = fmt::format("{} {} servers rho {}", file.name, servers, load);
    const double mean = rows.number("mean_wait_in_services");
    bench.add(what + ": P(wait)", rows.number("p_wait"), queue.probability_of_wait(), "");
    bench.add(what + ": mean wait", mean, queue.mean_wait(), "services");
    if (rows.has("p99_wait_in_services")) {
      bench.add(what + ": p99_wait", rows.number("p99_wait_in_services"), queue.wait_quantile(0.99),
                "services");
    }
    const auto exponential = [](Rng& rng) { return rng.exponential(); };
    add_wait_of_requests(bench, what, mean, queue.probability_of_wait(), static_cast<int>(servers),
                         load, exponential);
    simulations.add(what, mean, queue.probability_of_wait(), static_cast<int>(servers), load,
                    exponential);
  }
  simulations.say();
}

/// Mean latency of arrivals of `rate` at a server whose longest stage takes `stage` of `total`.
double latency(double rate, double total, double stage) {
  return total + stage * stats::ConstantQueue(rate * stage).mean_wait();
}

void two_models(Bench& bench, const File& file) {
  Rows rows(file.path, {"lambda_total_times_D", "share_of_first", "replicated_mean_latency",
                        "pipeline_mean_latency_overhead0", "pipeline_mean_latency_overhead10pct"});
  while (rows.next()) {
    const double rate = rows.number("lambda_total_times_D");
    const double share = rows.number("share_of_first");
    const bool serves =
        share >= 0 && share <= 1 && rate > 0 && rate * std::max({share, 1 - share, 0.55}) < 1;
    rows.require(serves, "the GPUs cannot serve so many requests");
    const std::string what = fmt::format("{} rate {} share {}", file.name, rate, share);
    bench.add(what + ": mean latency, a GPU for each", rows.number("replicated_mean_latency"),
              share * latency(share * rate, 1, 1) + (1 - share) * latency((1 - share) * rate, 1, 1),
              "services");
    bench.add(what + ": pipelined", rows.number("pipeline_mean_latency_overhead0"),
              latency(rate, 1, 0.5), "services");
    bench.add(what + ": pipelined with 10 % overhead",
              rows.number("pipeline_mean_latency_overhead10pct"), latency(rate, 1.1, 0.55),
              "services");
  }
}

}  // namespace
}  // namespace queueing_recipe

void register_queueing(Recipes& registry) {
  using namespace queueing_recipe;
  constexpr const char* kFrom = "closed forms worked out, part of the shared data";
  registry.add(
      {.name = "queueing",
       .summary =
           "Waits in M/D/1 and M/M/c by formula and by our simulator; two models on two GPUs",
       .paper = "Erlang; Pollaczek and Khinchine; Li et al., OSDI'23, section 3.3",
       .kind = Kind::closed_form,
       .needs =
           {{kConstant, kFrom}, {kDistribution, kFrom}, {kExponential, kFrom}, {kTwoModels, kFrom}},
       .make = [](Bench& bench) {
         bench.each(kConstant, [&](const File& file) { constant_services(bench, file); });
         bench.each(kDistribution, [&](const File& file) { distribution(bench, file); });
         bench.each(kExponential, [&](const File& file) { exponential_services(bench, file); });
         bench.each(kTwoModels, [&](const File& file) { two_models(bench, file); });
       }});
}

}  // namespace almanac::reproduce
