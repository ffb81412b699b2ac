// SPDX-License-Identifier: Apache-2.0
//
// GPUs and power limits of a few jobs, beside a search through everything: on the speeds and draws
// measured of Zeus' jobs where they are at hand, else on a curve.
#include "rules/elastic/power_deal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "energy/power_file.h"
#include "energy/power_fit.h"
#include "support/shared_data.h"

namespace almanac::elastic {
namespace {

/// What a GPU draws and how fast it is, by rising limit.
struct Limited {
  double limit_w;
  double draw_w;
  double speed;
};
using Board = std::vector<Limited>;

std::vector<Board> measured_boards() {
  std::vector<Board> made;
  for (const char* type : {"v100", "a40", "rtx6000", "p100"}) {
    const auto file = shared_path(std::string("data/profiles/zeus/summary_power_") + type + ".csv");
    if (!file) continue;
    const auto profile = energy::read_power_profile(*file);
    EXPECT_TRUE(profile) << to_string(profile.error());
    for (const energy::PowerJob& job : profile->jobs) {
      Board& board = made.emplace_back();
      for (const energy::PowerRow& row : job.rows) {
        board.push_back({row.limit_w, row.draw_w, job.rows.back().time_s / row.time_s});
      }
    }
  }
  return made;
}

std::vector<Board> boards() {
  std::vector<Board> made = measured_boards();
  if (!made.empty()) return made;
  std::cout << "no measured curves (shared data/profiles/zeus): on those of dgx1\n";
  const energy::PowerModel model = energy::read_power("dgx1").value();
  for (const double use : {0.02, 0.5, 0.75, 1.0}) {
    Board& board = made.emplace_back();
    for (int watts = 120; watts <= 300; watts += 30) {
      board.push_back({watts * 1.0, 42 + model.gpu_w(use, watts), model.gpu_speed(use, watts)});
    }
  }
  return made;
}

struct Puzzle {
  std::vector<std::vector<PowerWay>> jobs;
  std::vector<std::vector<double>> limits;  // of each way, as part of the highest
  int gpus = 0;
  double watts = 0;
};

Puzzle draw(const std::vector<Board>& boards, Rng& rng) {
  Puzzle made;
  const auto jobs = 1 + rng.below(4);
  made.gpus = static_cast<int>(jobs) << rng.below(4);
  double most = 0;
  for (std::uint64_t job = 0; job < jobs; ++job) {
    const Board& board = boards[rng.below(boards.size())];
    const double work_s = std::exp(5 + 5 * rng.uniform());
    const double exchange = 0.5 * rng.uniform();
    made.jobs.emplace_back();
    made.limits.emplace_back();
    for (int gpus = 1; gpus <= 8; gpus *= 2) {
      for (const Limited& each : board) {
        const double step = 1 / each.speed + exchange * std::log2(gpus);
        made.jobs.back().push_back({gpus, gpus * (60 + each.draw_w), work_s * step / gpus});
        made.limits.back().push_back(each.limit_w / board.back().limit_w);
      }
    }
    most = std::max(most, 60 + board.back().draw_w);
  }
  made.watts = made.gpus * most * (0.4 + 0.6 * rng.uniform());
  return made;
}

/// The least sum of times that is possible with the ways that `may` lets through; infinite = none.
double search(const Puzzle& puzzle, const std::function<bool(std::size_t, std::size_t)>& may) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<double> ahead(puzzle.jobs.size() + 1, 0);  // what later jobs take at least
  for (std::size_t job = puzzle.jobs.size(); job-- > 0;) {
    const auto soonest =
        std::min_element(puzzle.jobs[job].begin(), puzzle.jobs[job].end(),
                         [](const PowerWay& a, const PowerWay& b) { return a.left_s < b.left_s; });
    ahead[job] = ahead[job + 1] + soonest->left_s;
  }
  const std::function<void(std::size_t, int, double, double)> go = [&](std::size_t job, int gpus,
                                                                       double watts, double sum) {
    if (sum + ahead[job] >= best) return;
    if (job == puzzle.jobs.size()) {
      best = sum;
      return;
    }
    for (std::size_t way = 0; way < puzzle.jobs[job].size(); ++way) {
      const PowerWay& each = puzzle.jobs[job][way];
      if (each.gpus > gpus || each.watts > watts || !may(job, way)) continue;
      go(job + 1, gpus - each.gpus, watts - each.watts, sum + each.left_s);
    }
  };
  go(0, puzzle.gpus, puzzle.watts, 0);
  return best;
}

TEST(DealPower, IsNearTheBestOfAllAndAheadOfAnyFixedLimit) {
  const std::vector<Board> all = boards();
  Rng rng(1);
  constexpr int kCases = 500;
  int waits = 0;
  int far = 0;
  int behind_fixed = 0;
  double gaps = 0;
  for (int at = 0; at < kCases; ++at) {
    const Puzzle puzzle = draw(all, rng);
    const std::vector<int> ways = deal_power(puzzle.jobs, puzzle.gpus, puzzle.watts);
    const double best = search(puzzle, [](std::size_t, std::size_t) { return true; });
    if (std::isinf(best) || std::count(ways.begin(), ways.end(), -1) > 0) {
      ++waits;
      continue;
    }
    double sum = 0;
    double watts = 0;
    int gpus = 0;
    for (std::size_t job = 0; job < ways.size(); ++job) {
      const PowerWay& way = puzzle.jobs[job][static_cast<std::size_t>(ways[job])];
      sum += way.left_s;
      watts += way.watts;
      gpus += way.gpus;
    }
    ASSERT_LE(gpus, puzzle.gpus);
    ASSERT_LE(watts, puzzle.watts + 1e-6);
    ASSERT_GE(sum, best * (1 - 1e-12));
    gaps += sum / best - 1;
    far += sum > 1.02 * best ? 1 : 0;
    double fixed = std::numeric_limits<double>::infinity();
    for (int limit = 4; limit <= 10; ++limit) {
      fixed = std::min(fixed, search(puzzle, [&](std::size_t job, std::size_t way) {
                         return std::abs(puzzle.limits[job][way] - limit / 10.0) < 0.051;
                       }));
    }
    behind_fixed += sum > fixed * (1 + 1e-9) ? 1 : 0;
  }
  std::cout << far << " of " << kCases - waits << " more than 2 % above the best, mean "
            << 100 * gaps / kCases << " % above; " << behind_fixed
            << " above the best deal of one limit for all\n";
  EXPECT_LE(waits, kCases / 5) << "of the smallest budgets";
  EXPECT_LE(far, kCases / 100);
  EXPECT_LE(behind_fixed, kCases / 100);
  EXPECT_LT(gaps / kCases, 0.001);
}

TEST(DealPower, BeginsWhereEnergyIsLeastAndRisesWithTheBudget) {
  // On 100 W it takes 100 s, 10 kJ; on 50 W 150 s, 7.5 kJ; on 20 W 600 s, 12 kJ.
  const std::vector<PowerWay> ways{{1, 20, 600}, {1, 50, 150}, {1, 100, 100}, {2, 100, 75}};
  const auto deal = [&](std::size_t jobs, int gpus, double watts) {
    return deal_power(std::vector<std::vector<PowerWay>>(jobs, ways), gpus, watts);
  };
  EXPECT_EQ(deal(1, 2, 50), (std::vector{1}));
  EXPECT_EQ(deal(1, 1, 100), (std::vector{2}));
  EXPECT_EQ(deal(1, 2, 100), (std::vector{3})) << "as much power, and sooner";
  EXPECT_EQ(deal(2, 4, 150), (std::vector{3, 1}));
  EXPECT_EQ(deal(2, 2, 60), (std::vector{1, -1})) << "10 W are too little for the other";
  EXPECT_EQ(deal(2, 2, 5), (std::vector{0, -1})) << "the first always runs";
  EXPECT_EQ(deal(3, 2, 1000), (std::vector{2, 2, -1})) << "there are two GPUs";
}

}  // namespace
}  // namespace almanac::elastic
