// SPDX-License-Identifier: Apache-2.0

/// \file
/// Scheduling cycles a second of room kueue, with queues that stay full: for each workload that
/// ends, another one is submitted.
///
///   kueue_bench [--cycles 100000] [--queues 10] [--waiting 1000] [--running 100] [--shapes 8]
///               [--seed 1]
///
/// Prints CSV, a line for each kind of cluster:
/// kind,cycles,admitted,preempted,seconds,cycles_per_s. Processor time of cycles, ends and
/// submissions.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/rng.h"
#include "kueue/scheduler.h"

namespace almanac::bench {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

struct Options {
  std::int64_t cycles = 100'000;
  int queues = 10;
  int waiting = 1000;  ///< In each queue.
  int running = 100;   ///< GPUs of each queue.
  int shapes = 8;      ///< Requests of 1 to so many GPUs.
  std::uint64_t seed = 1;
};

struct Kind {
  const char* name;
  std::function<void(kueue::Setup&)> change;
  bool has_priorities = false;
};

const std::vector<Kind>& kinds() {
  using kueue::Preempts;
  const auto each = [](auto change) {
    return [change](kueue::Setup& setup) {
      for (kueue::ClusterQueue& queue : setup.queues) change(queue);
    };
  };
  static const std::vector<Kind> all{
      {"alone", each([](kueue::ClusterQueue& queue) { queue.cohort = ""; })},
      {"strict", each([](kueue::ClusterQueue& queue) {
         queue.cohort = "";
         queue.is_strict = true;
       })},
      {"cohort", [](kueue::Setup&) {}},
      {"fair", [](kueue::Setup& setup) { setup.is_fair = true; }},
      {"reclaim",
       each([](kueue::ClusterQueue& queue) { queue.reclaim_within_cohort = Preempts::any; })},
      {"priorities", each([](kueue::ClusterQueue& queue) {
         queue.reclaim_within_cohort = Preempts::any;
         queue.within_queue = Preempts::lower_priority;
       }),
       true},
      {"fair reclaim",
       [](kueue::Setup& setup) {
         setup.is_fair = true;
         for (kueue::ClusterQueue& queue : setup.queues) {
           queue.reclaim_within_cohort = Preempts::any;
         }
       }},
  };
  return all;
}

class Cluster {
 public:
  Cluster(const Options& options, const Kind& kind)
      : options_(options),
        kind_(kind),
        rng_(options.seed),
        scheduler_(kueue::Scheduler::make(setup_of(options, kind)).value()) {
    for (int queue = 0; queue < options.queues; ++queue) {
      for (int each = 0; each < options.waiting; ++each) submit(queue);
    }
  }

  void run() {
    std::vector<std::string_view> heads = scheduler_.heads();
    for (std::int64_t at = 0; at < options_.cycles; ++at) {
      const kueue::Cycle cycle = scheduler_.cycle(at);
      for (const kueue::Preempted& each : cycle.preempted) std::erase(running_, each.workload);
      for (const kueue::Admitted& each : cycle.admitted) running_.push_back(each.workload);
      admitted_ += std::ssize(cycle.admitted);
      preempted_ += std::ssize(cycle.preempted);
      std::vector<std::string_view> next = scheduler_.heads();
      const bool is_quiet = cycle.admitted.empty() && cycle.preempted.empty();
      if (is_quiet && (next.empty() || next == heads)) {
        end_one();
        next = scheduler_.heads();
      }
      heads = std::move(next);
    }
  }
  std::int64_t admitted() const { return admitted_; }
  std::int64_t preempted() const { return preempted_; }

 private:
  static kueue::Setup setup_of(const Options& options, const Kind& kind) {
    kueue::Setup setup;
    setup.flavors.push_back({.name = "default"});
    for (int at = 0; at < options.queues; ++at) {
      kueue::ClusterQueue& queue = setup.queues.emplace_back();
      queue.name = fmt::format("q{}", at);
      queue.cohort = "all";
      queue.groups.emplace_back().flavors.push_back({"default", {{kGpu, {options.running}}}});
    }
    kind.change(setup);
    return setup;
  }

  void submit(int queue) {
    const auto shapes = static_cast<std::uint64_t>(options_.shapes);
    kueue::Submission made{
        .name = fmt::format("{:010}", next_++),
        .queue = fmt::format("q{}", queue),
        .created = next_,
        .priority = kind_.has_priorities ? static_cast<std::int64_t>(rng_.below(3)) : 0};
    made.pod_sets.push_back(
        {.name = "main", .requests = {{kGpu, 1 + static_cast<std::int64_t>(rng_.below(shapes))}}});
    queue_of_.push_back(queue);
    if (!scheduler_.submit(std::move(made))) std::abort();
  }

  /// The one that was admitted first of those that still run. Its queue gets another.
  void end_one() {
    if (running_.empty()) return;
    const std::string name = running_.front();
    running_.pop_front();
    const int queue = queue_of_[std::stoul(name)];
    scheduler_.remove(name);
    submit(queue);
  }

  const Options& options_;
  const Kind& kind_;
  Rng rng_;
  kueue::Scheduler scheduler_;
  std::deque<std::string> running_{};
  std::vector<int> queue_of_{};
  std::int64_t next_ = 0;
  std::int64_t admitted_ = 0, preempted_ = 0;
};

void run(const Options& options, const std::string& only) {
  fmt::print("kind,cycles,admitted,preempted,seconds,cycles_per_s\n");
  for (const Kind& kind : kinds()) {
    if (!only.empty() && only != kind.name) continue;
    Cluster cluster(options, kind);
    const std::clock_t begun = std::clock();
    cluster.run();
    const double took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    fmt::print("{},{},{},{},{:.2f},{:.0f}\n", kind.name, options.cycles, cluster.admitted(),
               cluster.preempted(), took, static_cast<double>(options.cycles) / took);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace almanac::bench

int main(int argc, char** argv) {
  almanac::bench::Options options;
  std::string only;
  CLI::App app("Scheduling cycles a second of room kueue");
  app.add_option("--cycles", options.cycles, "Cycles of each kind");
  app.add_option("--queues", options.queues, "ClusterQueues");
  app.add_option("--waiting", options.waiting, "Workloads that wait in each");
  app.add_option("--running", options.running, "GPUs of each");
  app.add_option("--shapes", options.shapes, "Requests of 1 to so many GPUs");
  app.add_option("--seed", options.seed, "Of the requests");
  app.add_option("--kind", only, "One kind only");
  CLI11_PARSE(app, argc, argv);
  almanac::bench::run(options, only);
  return 0;
}
