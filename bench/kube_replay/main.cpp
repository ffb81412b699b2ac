// SPDX-License-Identifier: Apache-2.0

/// \file
/// The live lever against the simulation of it, on a real log in one queue.
///
///   kube_replay LOG --gpus N [--from DATE] [--to DATE] [--mode default,almanac,backfill]
///               [--estimate proven|oracle]
///
/// Prints CSV: mode, mean wait of the live cluster, that of the simulation, their ratio, how many
/// times less than Kueue's default (live), writes for each job, and real seconds. Nodes are no
/// limit on either side: the queue's quota is.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cluster/read.h"
#include "experiment/experiment.h"
#include "kube_replay/replay.h"
#include "support/temporary_folder.h"
#include "text/datetime.h"
#include "trace/read.h"
#include "trace/select.h"

namespace almanac::replay {
namespace {

struct Options {
  std::string log{};
  int gpus = 0;
  std::string from{};
  std::string to{};
  std::vector<std::string> modes = {"default", "almanac", "backfill"};
  std::string estimate = "proven";
};

/// The jobs with GPUs of a window that ran, without what the replay does not have.
Result<trace::Trace> read_jobs(const Options& options) {
  auto read = trace::read_trace(options.log);
  if (!read) return read;
  trace::Sample window{.min_gpus = 1};
  for (const auto& [said, time] :
       {std::pair(&options.from, &window.from), std::pair(&options.to, &window.to)}) {
    if (said->empty()) continue;
    const std::optional<Time> read_time = text::parse_datetime(*said);
    if (!read_time) return fail(Code::usage, fmt::format("expected a date, found \"{}\"", *said));
    *time = *read_time;
  }
  if (auto kept = trace::keep_sample(*read, window); !kept) return tl::unexpected(kept.error());
  std::vector<std::uint32_t> order;
  for (std::uint32_t at = 0; at < read->jobs.size(); ++at) {
    const trace::Job& job = read->jobs[at];
    if (job.outcome.run > Duration{0} && job.request.gpus <= options.gpus) order.push_back(at);
  }
  if (order.empty()) return fail(Code::unavailable, "no job ran that the queue has GPUs for");
  trace::select_jobs(*read, order);
  for (trace::Job& job : read->jobs) {
    trace::Request asked;
    asked.submit = job.request.submit;
    asked.name = job.request.name;
    asked.user = job.request.user;
    asked.gpus = job.request.gpus;
    job.request = asked;
    const Duration run = job.outcome.run;
    job.outcome = {};
    job.outcome.run = run;
    job.outcome.state = trace::JobState::completed;
  }
  return read;
}

std::string queues_json(int gpus) {
  return fmt::format(
      R"({{"kind": "List", "items": [
          {{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {{"name": "default"}}, "spec": {{}}}},
          {{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {{"name": "all"}},
           "spec": {{"resourceGroups": [{{"coveredResources": ["nvidia.com/gpu"], "flavors": [
             {{"name": "default", "resources": [{{"name": "nvidia.com/gpu", "nominalQuota": {}}}]}}]}}]}}}}]}})",
      gpus);
}

Result<double> simulated_wait_s(const trace::Trace& log, const Options& options,
                                const std::string& mode) {
  const TemporaryFolder folder;
  experiment::Experiment asked;
  asked.trace = options.log;
  asked.cluster = fmt::format("{}x1", options.gpus);
  asked.queues = folder.write("queues.json", queues_json(options.gpus));
  asked.policies = {mode == "default" ? "kueue"
                                      : fmt::format("kueue:order={}+{}", mode, options.estimate)};
  asked.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  auto cluster = cluster::read_cluster(asked.cluster);
  if (!cluster) return tl::unexpected(cluster.error());
  auto copy = read_jobs(options);
  if (!copy) return tl::unexpected(copy.error());
  auto prepared = experiment::prepare(asked, std::move(*copy), std::move(*cluster));
  if (!prepared) return tl::unexpected(prepared.error());
  auto played = experiment::simulate_run(*prepared, 0);
  if (!played) return tl::unexpected(played.error());
  std::vector<Time> starts;
  for (std::size_t job = 0; job < log.jobs.size(); ++job) starts.push_back(played->jobs[job].start);
  return mean_wait_s(log, starts);
}

/// Knows the true run times: the comment of a job is "a/w-00000012" for the job at 12.
class Truth final : public predict::Estimator {
 public:
  Truth(const trace::Trace& log, const Names& names) : log_(log), names_(names) {}
  predict::Belief estimate(JobId, const trace::Request& request) override {
    const std::string_view name = names_[request.comment];
    const std::size_t job = std::stoul(std::string(name.substr(name.find("w-") + 2)));
    return {.run = log_.jobs[job].outcome.run};
  }

 private:
  const trace::Trace& log_;
  const Names& names_;
};

Result<void> run(const Options& options) {
  auto log = read_jobs(options);
  if (!log) return tl::unexpected(log.error());
  fmt::print(
      "mode,jobs,live_wait_s,simulated_wait_s,live_to_simulated,times_less,writes_per_job,real_"
      "s\n");
  double usual = 0;
  for (const std::string& mode : options.modes) {
    const TemporaryFolder folder;
    Course course{
        .quota = options.gpus, .is_strict = mode == "backfill", .has_lever = mode != "default"};
    if (options.estimate == "oracle") {
      course.estimator = [&](const Names& names) { return std::make_unique<Truth>(*log, names); };
    }
    const auto live = replay(*log, course, folder / "");
    if (!live) return tl::unexpected(live.error());
    const auto simulated = simulated_wait_s(*log, options, mode);
    if (!simulated) return tl::unexpected(simulated.error());
    const double wait = mean_wait_s(*log, live->starts);
    if (mode == "default") usual = wait;
    fmt::print("{},{},{:.1f},{:.1f},{:.3f},{:.2f},{:.2f},{:.1f}\n", mode, log->jobs.size(), wait,
               *simulated, wait / *simulated, usual / wait,
               static_cast<double>(live->writes) / static_cast<double>(log->jobs.size()),
               live->real_s);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace almanac::replay

int main(int argc, char** argv) {
  almanac::replay::Options options;
  CLI::App app("The live lever in a Kueue cluster against the simulation of it");
  app.add_option("log", options.log, "Job log")->required();
  app.add_option("--gpus", options.gpus, "Quota of the queue")->required();
  app.add_option("--from", options.from, "Submitted at this time or later");
  app.add_option("--to", options.to, "Submitted before this time");
  app.add_option("--mode", options.modes, "Of default, almanac and backfill")->delimiter(',');
  app.add_option("--estimate", options.estimate, "proven or oracle, on both sides");
  CLI11_PARSE(app, argc, argv);
  if (const auto done = almanac::replay::run(options); !done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 2;
  }
  return 0;
}
