// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every policy on four fixed sets of jobs gives the schedule that tests/signature.txt remembers,
/// with any number of threads, compiler and machine. ALMANAC_BLESS=1 writes the file anew: a change
/// of schedule is then a changed line in a review.
#include "sim/signature.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "policy/registry.h"
#include "support/long_run.h"
#include "support/play.h"

namespace almanac {
namespace {

struct JobSet {
  const char* name;
  std::function<Case()> make;
};

/// `count` jobs; `fill` sets what makes the set special.
Case random_jobs(std::uint64_t seed, int count, std::uint64_t most_between_s,
                 const std::function<void(Rng&, JobSpec&)>& fill) {
  Case made;
  Rng rng(seed);
  std::int64_t now = 0;
  for (int job = 0; job < count; ++job) {
    now += static_cast<std::int64_t>(rng.below(most_between_s + 1));
    const auto run = static_cast<std::int64_t>(1 + rng.below(60) * rng.below(60));
    const auto spare = static_cast<std::int64_t>(rng.below(1800));
    const std::string id = std::to_string(job);
    JobSpec spec{.id = id,
                 .submit = now * 1s,
                 .gpus = 1,
                 .run = run * 1s,
                 .user = rng.below(3) == 0 ? "ann" : "bob",
                 .name = rng.below(2) == 0 ? "train" : "test",
                 .limit = (run + spare) * 1s,
                 .predicted = (run + spare / 2) * 1s};
    fill(rng, spec);
    add_job(made.trace, spec);
  }
  return made;
}

/// One large virtual cluster, jobs of one to forty GPUs.
Case gangs() {
  Case made = random_jobs(1, 1000, 60, [](Rng& rng, JobSpec& spec) {
    constexpr int kSizes[] = {1, 1, 1, 2, 4, 8, 8, 12, 16, 40};
    spec.gpus = kSizes[rng.below(10)];
  });
  made.cluster = cluster::uniform(10, 8);
  return made;
}

/// Four virtual clusters whose sizes change, and many jobs submitted in one second.
Case tenants() {
  Case made = random_jobs(2, 1000, 40, [](Rng& rng, JobSpec& spec) {
    constexpr std::string_view kVcs[] = {"a", "b", "c", "d"};
    spec.vc = kVcs[rng.below(4)];
    spec.gpus = static_cast<int>(1 + rng.below(8));
    if (rng.below(50) == 0) spec.run = 0s;
    spec.submit = spec.submit / 1min * 1min;
  });
  for (const char* vc : {"a", "b", "c", "d"}) {
    made.cluster.add_vc(vc);
    made.cluster.add_nodes({.gpus = 8}, 4);
  }
  made.cluster.changes = {{.at = Time::min(), .vc = VcId{0}, .nodes = 3},
                          {.at = Time{3h}, .vc = VcId{1}, .nodes = 1},
                          {.at = Time{5h}, .vc = VcId{0}, .nodes = 4},
                          {.at = Time{8h}, .vc = VcId{1}, .nodes = 4}};
  return made;
}

/// Nodes of unlike size and GPU type; some jobs can never run.
Case mixture() {
  Case made = random_jobs(3, 1000, 120, [](Rng& rng, JobSpec& spec) {
    constexpr std::string_view kTypes[] = {"", "", "V100", "A100", "V100|A100", "H100"};
    spec.gpu_type = kTypes[rng.below(6)];
    spec.gpus = static_cast<int>(1 + rng.below(rng.below(8) == 0 ? 20 : 4));
  });
  made.cluster.takes_every_job = true;
  made.cluster.add_vc("all");
  made.cluster.add_nodes({.gpus = 4, .gpu_type = "V100"}, 3);
  made.cluster.add_nodes({.gpus = 8, .gpu_type = "A100"}, 2);
  made.cluster.add_nodes({.gpus = 2, .gpu_type = "V100"}, 3);
  return made;
}

/// Nodes whose cores and memory bandwidth run out; GPU jobs of known models and CPU jobs, which run
/// at the rate that what they get allows.
Case sharers() {
  Case made = random_jobs(4, 1000, 40, [](Rng& rng, JobSpec& spec) {
    constexpr std::string_view kModels[] = {"alexnet", "m5", "resnet-50", "lm", ""};
    spec.gpus = static_cast<int>(rng.below(5));
    spec.cpus = static_cast<float>(1 + rng.below(12));
    spec.model = kModels[rng.below(5)];
    spec.reference_cpus = std::numeric_limits<float>::infinity();
    spec.bandwidth_gbs = static_cast<float>(rng.below(40));
  });
  made.cluster.takes_every_job = true;
  made.cluster.add_vc("all");
  made.cluster.add_nodes({.gpus = 4, .cpus = 24, .memory_gb = 256, .bandwidth_gbs = 100}, 10);
  made.speed = "public";
  return made;
}

/// Jobs that ask parts of a GPU.
Case parts() {
  Case made = random_jobs(5, 1000, 30, [](Rng& rng, JobSpec& spec) {
    spec.gpus = static_cast<int>(1 + rng.below(rng.below(4) == 0 ? 8 : 1));
    if (spec.gpus == 1) spec.gpu_share = static_cast<float>(1 + rng.below(20)) / 20;
    spec.cpus = static_cast<float>(1 + rng.below(6));
  });
  made.cluster.takes_every_job = true;
  made.cluster.add_vc("all");
  made.cluster.add_nodes({.gpus = 4, .cpus = 24}, 5);
  return made;
}

struct Task {
  const JobSet* jobs;
  std::string policy;
};

std::string signature_line(const Task& task) {
  Case input = task.jobs->make();
  input.policy = task.policy;
  const Result<Played> played = play(input);
  if (!played) return to_string(played.error());
  return fmt::format("{:016x}  {} {}\n", sim::signature(input.trace, played->result),
                     task.jobs->name, task.policy);
}

/// All policies on all sets, in the order of the rows of the file.
std::vector<Task> all_tasks() {
  static const JobSet kSets[] = {{"gangs", gangs},
                                 {"tenants", tenants},
                                 {"mixture", mixture},
                                 {"sharers", sharers},
                                 {"parts", parts}};
  std::vector<Task> tasks;
  for (const JobSet& jobs : kSets) {
    for (const policy::Composition& known : policy::registry().policies()) {
      tasks.push_back({&jobs, known.name});
    }
    for (const char* composed : {"fifo+random", "easy+easy:4+oracle", "conservative+oracle"}) {
      tasks.push_back({&jobs, composed});
    }
  }
  for (const char* composed : {"fifo+harmless", "coda+harmless", "synergy_tune+harmless"}) {
    tasks.push_back({&kSets[3], composed});
  }
  return tasks;
}

/// The signatures of `tasks`, in order, computed by `threads` threads.
std::vector<std::string> signatures(const std::vector<Task>& tasks, unsigned threads) {
  std::vector<std::string> lines(tasks.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < tasks.size(); at = next++) {
      lines[at] = signature_line(tasks[at]);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned worker = 0; worker < threads; ++worker) workers.emplace_back(work);
  workers.clear();
  return lines;
}

std::string signature_path() {
  const char* source = std::getenv("ALMANAC_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/signature.txt";
}

TEST(Signature, IsTheOneRemembered) {
  std::string now;
  for (const std::string& line : signatures(all_tasks(), 1)) now += line;
  if (std::getenv("ALMANAC_BLESS") != nullptr) std::ofstream(signature_path()) << now;
  std::ifstream file(signature_path());
  std::ostringstream remembered;
  remembered << file.rdbuf();
  EXPECT_EQ(remembered.str(), now) << "if the schedule should change: ALMANAC_BLESS=1";
}

// Of every seventh row, because each was computed once already; of all in a long run.
TEST(Signature, IsTheSameWithAnyNumberOfThreads) {
  const std::vector<Task> all = all_tasks();
  std::ifstream file(signature_path());
  std::vector<std::string> remembered;
  for (std::string line; std::getline(file, line);) remembered.push_back(line + '\n');
  ASSERT_EQ(remembered.size(), all.size());
  const std::size_t step = is_long_run() ? 1 : 7;
  std::vector<Task> some;
  std::vector<std::string> expected;
  for (std::size_t at = 0; at < all.size(); at += step) {
    some.push_back(all[at]);
    expected.push_back(remembered[at]);
  }
  EXPECT_EQ(expected, signatures(some, 8));
}

}  // namespace
}  // namespace almanac
