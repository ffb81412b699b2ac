// SPDX-License-Identifier: Apache-2.0
//
// The number of GPUs per job, by each of the algorithms, compared with a search through everything.
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "rules/elastic/best_deal.h"
#include "rules/elastic/deal_ahead.h"
#include "rules/elastic/genetic_search.h"
#include "rules/elastic/marginal_gain.h"
#include "rules/elastic/pareto.h"
#include "rules/elastic/typed_program.h"

namespace almanac::elastic {
namespace {

TEST(DealByGain, TheNextGpuShortensWhatIsLeftMost) {
  // Steps take 1 s / GPUs; the second job has more left.
  const auto step_s = [](int gpus) { return std::optional(1.0 / gpus); };
  const std::vector<GainSeeker> jobs{{.steps_left = 100, .most_gpus = 8, .step_s = step_s},
                                     {.steps_left = 320, .most_gpus = 8, .step_s = step_s}};
  // Gains of the 2nd, 3rd, 4th GPU: 50, 17, 8 and 160, 53, 27.
  EXPECT_EQ(deal_by_gain(jobs, 3), (std::vector{1, 2}));
  EXPECT_EQ(deal_by_gain(jobs, 4), (std::vector{1, 3}));
  EXPECT_EQ(deal_by_gain(jobs, 5), (std::vector{2, 3}));
}

TEST(DealByGain, StopsWhereNothingIsGained) {
  const auto slower = [](int gpus) { return std::optional(1.0 * gpus); };
  const std::vector<GainSeeker> jobs{{.steps_left = 10, .most_gpus = 8, .step_s = slower}};
  EXPECT_EQ(deal_by_gain(jobs, 8), std::vector{1});
  EXPECT_EQ(deal_by_gain(std::vector{jobs[0], jobs[0], jobs[0]}, 2), (std::vector{1, 1, 0}));
}

TEST(DealAhead, GpusGoWhereTheyAddMostSpeed) {
  // The second job gains nothing beyond one GPU.
  const std::vector<AheadJob> jobs{{.work_s = 10'000, .speeds = {0, 1, 1.9, 2.7, 3.4}},
                                   {.work_s = 10'000, .speeds = {0, 1, 1, 1, 1}}};
  EXPECT_EQ(deal_ahead(jobs, 4), (std::vector{3, 1}));
  EXPECT_EQ(deal_ahead({}, 4), std::vector<int>{});
}

TEST(DealAhead, AShortJobGoesFirstWhereNotAllHaveGpus) {
  const std::vector<AheadJob> jobs{{.work_s = 50'000, .speeds = {0, 1}},
                                   {.work_s = 500, .speeds = {0, 1}}};
  EXPECT_EQ(deal_ahead(jobs, 1), (std::vector{0, 1}));
}

TEST(DealAhead, NoJobRestartsForLessThanItCosts) {
  // A third GPU makes it 2 % faster, of which a restart in 900 s takes more.
  std::vector<AheadJob> jobs{
      {.work_s = 100'000, .speeds = {0, 1, 2, 2.04}, .present = 2, .present_speed = 2}};
  EXPECT_EQ(deal_ahead(jobs, 3), std::vector{2});
  jobs[0].speeds[3] = 3;
  EXPECT_EQ(deal_ahead(jobs, 3), std::vector{3});
}

TEST(DealAhead, GivesNoMoreThanThereIs) {
  Rng random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<AheadJob> jobs(1 + random.below(8));
    for (AheadJob& job : jobs) {
      job.work_s = 10 + 10'000 * random.uniform();
      job.speeds = {0};
      for (std::size_t gpus = 1; gpus <= 1 + random.below(8); ++gpus) {
        job.speeds.push_back(std::pow(static_cast<double>(gpus), random.uniform()));
      }
    }
    const std::vector<int> deal = deal_ahead(jobs, 6);
    int given = 0;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      given += deal[job];
      EXPECT_LT(deal[job], static_cast<int>(jobs[job].speeds.size()));
    }
    EXPECT_LE(given, 6);
  }
}

TEST(BestDeal, EqualsASearchThroughAllDeals) {
  Rng random(7);
  for (int round = 0; round < 200; ++round) {
    const int gpus = static_cast<int>(random.below(9));
    std::vector<std::vector<double>> worth(1 + random.below(4));
    for (auto& job : worth) {
      job.resize(1 + random.below(6));
      for (double& each : job) each = random.uniform();
    }
    double most = -1;
    const std::function<void(std::size_t, int, double)> all = [&](std::size_t job, int left,
                                                                  double sum) {
      if (job == worth.size()) {
        most = std::max(most, sum);
        return;
      }
      for (int own = 0; own <= left && own < static_cast<int>(worth[job].size()); ++own) {
        all(job + 1, left - own, sum + worth[job][static_cast<std::size_t>(own)]);
      }
    };
    all(0, gpus, 0);
    const std::vector<int> deal = best_deal(worth, gpus);
    double sum = 0;
    int given = 0;
    for (std::size_t job = 0; job < worth.size(); ++job) {
      sum += worth[job].at(static_cast<std::size_t>(deal[job]));
      given += deal[job];
    }
    EXPECT_LE(given, gpus);
    EXPECT_NEAR(sum, most, 1e-12);
  }
}

TEST(ChooseTypes, EqualsASearchThroughAllChoices) {
  Rng random(3);
  const std::vector<TypedConfiguration> configurations{{.type = 0, .gpus = 1},
                                                       {.type = 0, .gpus = 2},
                                                       {.type = 1, .gpus = 1},
                                                       {.type = 1, .gpus = 4}};
  const std::vector<int> gpus{3, 4};
  for (int round = 0; round < 100; ++round) {
    std::vector<TypedJob> jobs(1 + random.below(4));
    for (TypedJob& job : jobs) {
      for (std::size_t each = 0; each < configurations.size(); ++each) {
        job.goodputs.push_back(random.below(4) == 0 ? 0.0001 : 1 + 5 * random.uniform());
      }
      job.restart_factor = random.uniform();
      if (random.below(2) == 0) job.present = random.below(2);
    }
    jobs[0].is_frozen = jobs[0].present.has_value();
    double least = 1e300;
    const std::function<void(std::size_t, std::vector<int>, double)> all =
        [&](std::size_t job, std::vector<int> left, double sum) {
          if (left[0] < 0 || left[1] < 0) return;
          if (job == jobs.size()) {
            least = std::min(least, sum);
            return;
          }
          if (!jobs[job].is_frozen) all(job + 1, left, sum + 1.1);
          for (std::size_t each = 0; each < configurations.size(); ++each) {
            if (jobs[job].is_frozen && each != *jobs[job].present) continue;
            std::vector<int> rest = left;
            rest[configurations[each].type] -= configurations[each].gpus;
            all(job + 1, rest, sum + typed_cost(jobs[job], each, -0.5));
          }
        };
    all(0, gpus, 0);
    const auto found = choose_types(configurations, gpus, jobs);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->objective, least, 1e-6);
  }
}

TEST(ChooseTypes, SaysWhereFrozenJobsAreTooMany) {
  const std::vector<TypedConfiguration> one{{.type = 0, .gpus = 2}};
  const TypedJob frozen{.goodputs = {1}, .present = 0, .is_frozen = true};
  EXPECT_FALSE(choose_types(one, std::vector{3}, std::vector{frozen, frozen}));
}

TEST(RankAndCrowd, RanksAsDominationDoes) {
  Rng random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::array<double, 2>> points(1 + random.below(30));
    for (auto& [a, b] : points) {
      a = static_cast<double>(random.below(6));
      b = static_cast<double>(random.below(6));
    }
    const auto dominates = [](const auto& a, const auto& b) {
      return a[0] <= b[0] && a[1] <= b[1] && a != b;
    };
    std::vector<int> rank(points.size(), -1);
    for (std::size_t done = 0, at_rank = 0; done < points.size(); ++at_rank) {
      std::vector<std::size_t> front;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (rank[i] >= 0) continue;
        const bool is_beaten = std::any_of(points.begin(), points.end(), [&](const auto& other) {
          return rank[static_cast<std::size_t>(&other - points.data())] < 0 &&
                 dominates(other, points[i]);
        });
        if (!is_beaten) front.push_back(i);
      }
      for (const std::size_t i : front) rank[i] = static_cast<int>(at_rank);
      done += front.size();
    }
    const auto standings = rank_and_crowd(points);
    for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(standings[i].rank, rank[i]);
  }
}

SearchProblem three_jobs() {
  SearchProblem problem{.nodes = 3, .gpus_per_node = 4, .jobs = {{8, 1}, {8, 1}, {2, 1}}};
  problem.present.assign(9, 0);
  problem.speedup = [](std::size_t, int nodes, int gpus) {
    return std::pow(gpus, nodes > 1 ? 0.6 : 0.9);
  };
  return problem;
}

TEST(GeneticSearch, KeepsTheRules) {
  const SearchProblem problem = three_jobs();
  Rng random(1);
  const SearchResult found = search(problem, {problem.present}, random);
  for (const GpuMatrix& matrix : found.front) {
    for (std::size_t node = 0; node < 3; ++node) {
      int gpus = 0;
      int spread = 0;
      for (std::size_t job = 0; job < 3; ++job) {
        gpus += matrix[job * 3 + node];
        spread +=
            matrix[job * 3 + node] > 0 && std::count(&matrix[job * 3], &matrix[job * 3] + 3, 0) < 2;
      }
      EXPECT_LE(gpus, 4);
      EXPECT_LE(spread, 1);
    }
    EXPECT_LE(matrix[6] + matrix[7] + matrix[8], 2);
  }
}

TEST(GeneticSearch, FindsTheBestOfASmallCase) {
  // A whole node each for two jobs, and the two GPUs that the third may have.
  const SearchProblem problem = three_jobs();
  Rng random(2);
  const SearchResult found = search(problem, {problem.present}, random);
  Evaluator evaluate(problem);
  const double best = evaluate({4, 0, 0, 0, 4, 0, 0, 0, 2})[0];
  EXPECT_NEAR(evaluate(found.front[found.best])[0], best, 1e-12);
}

// The search remembers fewer speed-ups of a job than a node of 64 GPUs needs.
TEST(GeneticSearch, RemembersNoSpeedUpForAnother) {
  SearchProblem problem{.nodes = 2, .gpus_per_node = 64, .jobs = {{128, 1}, {128, 1}}};
  problem.present.assign(4, 0);
  problem.speedup = [](std::size_t job, int nodes, int gpus) {
    return static_cast<double>(job) + 0.3 * nodes + gpus;
  };
  Evaluator evaluate(problem);
  Rng random(4);
  for (int round = 0; round < 2000; ++round) {
    GpuMatrix matrix(4);
    for (std::uint8_t& each : matrix) each = static_cast<std::uint8_t>(random.below(65));
    double inverse = 0;
    for (std::size_t job = 0; job < 2; ++job) {
      const int on = (matrix[2 * job] > 0 ? 1 : 0) + (matrix[2 * job + 1] > 0 ? 1 : 0);
      const int gpus = matrix[2 * job] + matrix[2 * job + 1];
      inverse += 1 / ((gpus > 0 ? problem.speedup(job, on, gpus) / 64 : 0) + 1e-3);
    }
    EXPECT_NEAR(evaluate(matrix)[0], -2 / inverse, 1e-9);
  }
}

// A is half as fast as B on one GPU and gains nothing by more, B all of each: the plain mean is
// largest where B has all four; the fairer the mean, the more it minds that A has none.
TEST(GeneticSearch, TheLowerThePowerTheFairer) {
  SearchProblem problem{.nodes = 1, .gpus_per_node = 4, .jobs = {{4, 1}, {4, 1}}};
  problem.present = {1, 1};
  problem.speedup = [](std::size_t job, int, int gpus) { return job == 0 ? 0.5 : 1.0 * gpus; };
  for (const auto& [power, gpus_of_a] : {std::pair{1.0, 0}, {0.5, 1}, {0.0, 1}, {-4.0, 1}}) {
    problem.fairness = power;
    Evaluator evaluate(problem);
    const auto mean = [power = power](double a, double b) {
      const auto share = [](double speed) { return speed / 4 + 1e-3; };
      if (power == 0) return std::sqrt(share(a) * share(b));
      return std::pow((std::pow(share(a), power) + std::pow(share(b), power)) / 2, 1 / power);
    };
    EXPECT_NEAR(evaluate({1, 3})[0], -mean(0.5, 3), 1e-12) << power;
    EXPECT_NEAR(evaluate({0, 4})[0], -mean(0, 4), 1e-12) << power;
    EXPECT_EQ(mean(0.5, 3) > mean(0, 4), gpus_of_a == 1) << power;
  }
}

TEST(GeneticSearch, TheSameSeedFindsTheSame) {
  const SearchProblem problem = three_jobs();
  Rng one(9);
  Rng other(9);
  EXPECT_EQ(search(problem, {problem.present}, one).front,
            search(problem, {problem.present}, other).front);
}

}  // namespace
}  // namespace almanac::elastic
