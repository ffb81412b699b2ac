// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/best_mix.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::policy {
namespace {

using Kinds = std::vector<JobKind>;

double worth_of(const Kinds& kinds, const JobMix& mix) {
  double worth = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::size_t choice = 0; choice < mix[kind].size(); ++choice) {
      worth += mix[kind][choice] * kinds[kind].choices[choice].throughput;
    }
  }
  return worth;
}

/// The best by trying all, a job at a time: cores and memory in use -> what is done at most.
double best_by_trying(const Kinds& kinds, std::int64_t cpu_milli, std::int64_t memory_mb) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> reached{{{0, 0}, 0.0}};
  for (const JobKind& kind : kinds) {
    for (int job = 0; job < kind.jobs; ++job) {
      decltype(reached) next;
      for (const auto& [used, worth] : reached) {
        for (const SizeChoice& choice : kind.choices) {
          const std::pair more{used.first + choice.cpu_milli, used.second + choice.memory_mb};
          if (more.first > cpu_milli || more.second > memory_mb) continue;
          const auto at = next.try_emplace(more, 0.0).first;
          at->second = std::max(at->second, worth + choice.throughput);
        }
      }
      reached = std::move(next);
    }
  }
  double best = -1;  // none fits
  for (const auto& [used, worth] : reached) best = std::max(best, worth);
  return best;
}

/// The same fast enough for a cluster: of all that comes to the same cores only what does more than
/// everything that takes less memory is kept.
double best_by_frontiers(const Kinds& kinds, std::int64_t cpu_milli, std::int64_t memory_mb) {
  using Frontier = std::map<std::int64_t, double>;            // memory -> worth, both rising
  std::map<std::int64_t, Frontier> reached{{0, {{0, 0.0}}}};  // by cores
  const auto add = [](Frontier& to, std::int64_t memory, double worth) {
    auto above = to.upper_bound(memory);
    if (above != to.begin() && std::prev(above)->second >= worth) return;
    while (above != to.end() && above->second <= worth) above = to.erase(above);
    to[memory] = worth;
  };
  for (const JobKind& kind : kinds) {
    for (int job = 0; job < kind.jobs; ++job) {
      decltype(reached) next;
      for (const auto& [cpus, frontier] : reached) {
        for (const SizeChoice& choice : kind.choices) {
          if (cpus + choice.cpu_milli > cpu_milli) continue;
          for (const auto& [memory, worth] : frontier) {
            if (memory + choice.memory_mb > memory_mb) break;
            add(next[cpus + choice.cpu_milli], memory + choice.memory_mb,
                worth + choice.throughput);
          }
        }
      }
      reached = std::move(next);
    }
  }
  double best = -1;  // none fits
  for (const auto& [cpus, frontier] : reached) {
    if (!frontier.empty()) best = std::max(best, frontier.rbegin()->second);
  }
  return best;
}

TEST(BestMixTest, GivesCoresToWhomTheyHelpMost) {
  // 12 cores: four times 3. One job gains 1.94 with 12 cores, but then no other fits; with 9 for
  // the second kind and 1 each for those that need no more, all fit.
  const Kinds kinds{{.jobs = 1, .choices = {{3'000, 1, 1.0}, {9'000, 1, 2.4}, {12'000, 1, 2.94}}},
                    {.jobs = 3, .choices = {{1'000, 1, 1.0}, {3'000, 1, 1.0}}}};
  const auto mix = best_mix(kinds, 12'000, 100);
  ASSERT_TRUE(mix);
  EXPECT_EQ(*mix, (JobMix{{0, 1, 0}, {3, 0}}));
}

TEST(BestMixTest, MemoryBindsLikeCores) {
  const Kinds kinds{{.jobs = 2, .choices = {{1'000, 10, 1.0}, {1'000, 30, 2.0}}}};
  EXPECT_EQ(*best_mix(kinds, 2'000, 40), (JobMix{{1, 1}}));
  EXPECT_EQ(*best_mix(kinds, 2'000, 60), (JobMix{{0, 2}}));
}

TEST(BestMixTest, SaysWhenNothingFits) {
  const Kinds kinds{{.jobs = 3, .choices = {{3'000, 1, 1.0}}}};
  EXPECT_FALSE(best_mix(kinds, 8'999, 100));
  EXPECT_TRUE(best_mix(kinds, 9'000, 100));
  EXPECT_EQ(best_mix(Kinds{}, 0, 0), JobMix{});
}

TEST(BestMixTest, NeverTakesWhatBringsNothing) {
  const Kinds kinds{
      {.jobs = 2, .choices = {{24'000, 9, 1.15}, {4'000, 9, 1.15}, {9'000, 9, 1.15}}}};
  EXPECT_EQ(*best_mix(kinds, 100'000, 100), (JobMix{{0, 2, 0}}));
}

RC_GTEST_PROP(BestMixTest, IsTheBestThereIs, ()) {
  Kinds kinds;
  const int num_kinds = *rc::gen::inRange(1, 4);
  for (int kind = 0; kind < num_kinds; ++kind) {
    JobKind made{.jobs = *rc::gen::inRange(1, 4), .choices = {}};
    const int choices = *rc::gen::inRange(1, 6);
    for (int choice = 0; choice < choices; ++choice) {
      made.choices.push_back({.cpu_milli = 1'000 * *rc::gen::inRange(0, 13),
                              .memory_mb = 500 * *rc::gen::inRange(0, 6),
                              .throughput = *rc::gen::inRange(1, 300) / 100.0});
    }
    kinds.push_back(std::move(made));
  }
  const std::int64_t cpu_milli = 1'000 * *rc::gen::inRange(0, 60);
  const std::int64_t memory_mb = 500 * *rc::gen::inRange(0, 20);
  const auto mix = best_mix(kinds, cpu_milli, memory_mb);
  const double best = best_by_trying(kinds, cpu_milli, memory_mb);
  RC_ASSERT(mix.has_value() == (best >= 0));
  if (!mix) return;
  RC_ASSERT(std::abs(worth_of(kinds, *mix) - best) <= 1e-6);
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    int jobs = 0;
    for (std::size_t choice = 0; choice < kinds[kind].choices.size(); ++choice) {
      const int each = (*mix)[kind][choice];
      RC_ASSERT(each >= 0);
      jobs += each;
      cpus += each * kinds[kind].choices[choice].cpu_milli;
      memory += each * kinds[kind].choices[choice].memory_mb;
    }
    RC_ASSERT(jobs == kinds[kind].jobs);
  }
  RC_ASSERT(cpus <= cpu_milli);
  RC_ASSERT(memory <= memory_mb);
  RC_ASSERT(best_mix(kinds, cpu_milli, memory_mb) == mix);
}

/// Four servers of 8 GPUs, 24 cores and 500 GB, filled by count with jobs of random models: what
/// the size `opt` asks each lease.
RC_GTEST_PROP(BestMixTest, IsTheBestForFourServers, ()) {
  constexpr int kGpus = 32;
  constexpr std::int64_t kCores = 3 * kGpus;
  constexpr std::int64_t kMemoryOfGpu = 62'500;
  Kinds kinds;
  for (int gpus = 0; gpus < kGpus;) {
    const int wide = std::min(kGpus - gpus, 1 << *rc::gen::inRange(0, 4));
    const int jobs = *rc::gen::inRange(1, (kGpus - gpus) / wide + 1);
    // What it needs for its proportional share, then more cores for less and less gain; some gain
    // by memory too.
    const int share = *rc::gen::inRange(1, 4);
    JobKind made{.jobs = jobs, .choices = {{1'000 * share * wide, kMemoryOfGpu * wide / 3, 1}}};
    double worth = 1;
    for (int cores = share; cores < 12 && *rc::gen::inRange(0, 4) > 0;) {
      cores += *rc::gen::inRange(1, 4);
      worth += *rc::gen::inRange(1, 500) / 1000.0;
      const int memory = *rc::gen::inRange(1, 5);
      made.choices.push_back({1'000 * cores * wide, kMemoryOfGpu * wide * memory / 3, worth});
    }
    kinds.push_back(std::move(made));
    gpus += jobs * wide;
  }
  const auto mix = best_mix(kinds, 1'000 * kCores, kMemoryOfGpu * kGpus);
  const double best = best_by_frontiers(kinds, 1'000 * kCores, kMemoryOfGpu * kGpus);
  RC_ASSERT(mix.has_value());
  RC_ASSERT(std::abs(worth_of(kinds, *mix) - best) <= 1e-6);
}

}  // namespace
}  // namespace almanac::policy
