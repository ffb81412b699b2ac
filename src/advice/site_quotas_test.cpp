// SPDX-License-Identifier: Apache-2.0

/// \file
/// A site with quotas: its accounting, made up, and what is played of it.
#include <utility>

#include <gtest/gtest.h>

#include "advice/advise.h"
#include "advice/candidates.h"
#include "advice/site.h"

namespace almanac::advice {
namespace {

constexpr Time kFirst{24h * 19'000};
constexpr int kSixWeeks = 42;

/// A Slurm that tells accounting, and nothing else.
class Told final : public manager::Link {
 public:
  std::vector<manager::Job> rows;

  manager::Abilities can() const override { return {}; }
  std::string_view way() const override { return "told"; }
  Result<manager::Site> site() override { return manager::Site{}; }
  Result<manager::News> news() override { return manager::News{}; }
  std::vector<Result<void>> change(std::span<const manager::JobChange>) override { return {}; }
  Result<void> end(manager::JobNumber, manager::Fate) override { return {}; }
  Result<void> power(std::span<const std::string>, bool) override { return {}; }
  Result<void> weigh(std::span<const std::string>, std::uint32_t) override { return {}; }
  Result<void> ended(Time, Time, const manager::TakeEnded& take) override {
    for (manager::Job row : rows) {
      if (auto taken = take(std::move(row)); !taken) return taken;
    }
    return {};
  }

  void add(const std::string& account, Time submit, Duration wait) {
    const Time start = submit + wait;
    rows.push_back({.number = manager::JobNumber{static_cast<std::uint32_t>(rows.size() + 1)},
                    .name = "job",
                    .user = "of_" + account,
                    .account = account,
                    .partition = "p",
                    .qos = "normal",
                    .state = manager::State::ended,
                    .outcome = trace::JobState::completed,
                    .submit = submit,
                    .start = start,
                    .end = start + 1h,
                    .ran = 1h,
                    .gpus = 2});
  }
};

/// Of two accounts, vision may have 2 of 16 GPUs. Each morning come four jobs of it, of 2 GPUs for
/// an hour, and behind them one of speech: one after another those ran, this at once.
Told mornings() {
  Told site;
  for (int day = 0; day < kSixWeeks; ++day) {
    const Time morning = kFirst + day * 24h + 8h;
    for (int each = 0; each < 4; ++each)
      site.add("vision", morning + each * 1s, each * 1h - each * 1s);
    site.add("speech", morning + 10s, 0s);
  }
  return site;
}

Result<Advice> advise_on(std::vector<manager::Quota> quotas, bool tells_quotas = true) {
  Told site = mornings();
  const manager::Limits limits{.quotas = std::move(quotas)};
  auto past =
      past_of(site, kFirst, kFirst + kSixWeeks * 24h, accounting::VcFrom::partition, limits);
  if (!past) return tl::unexpected(past.error());
  cluster::Cluster nodes = cluster::uniform(2, 8);
  // Whole days.
  Question question{.weeks = 24h * 28 - 1h,
                    .policies = candidates("fifo,sjf,qssf,drf,conservative").value(),
                    .conditions = {.seed = 1}};
  if (tells_quotas) question.conditions.quotas = std::move(past->quotas);
  return advise(std::move(past->log), nodes, question);
}

/// 0, 1, 2 and 3 hours, but for the seconds between the submissions, and 0.
constexpr double kMeanWait_s = (1 + 2 + 3) * 3600.0 / 5;

TEST(AdviceOfASiteWithQuotas, PlaysThemUnderEveryPolicyAndUnderStockSlurm) {
  const auto advice =
      advise_on({{.account = "vision", .gpus = 2},
                 {.account = "vision", .user = "ann", .gpus = manager::Quota::kAny}});
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_EQ(advice->quotas, 1) << "the other one is no limit";
  EXPECT_NEAR(advice->real->avg_wait_s, kMeanWait_s, 3);
  EXPECT_NEAR(advice->stock.avg_wait_s, kMeanWait_s, 3);
  ASSERT_EQ(advice->outcomes.size(), 5U);
  for (const Outcome& outcome : advice->outcomes) {
    EXPECT_NEAR(outcome.figures.avg_wait_s, kMeanWait_s, 3) << outcome.policy;
  }
  ASSERT_EQ(advice->cautions.size(), 1U) << "quotas are known";
  EXPECT_TRUE(advice->cautions[0].starts_with("simulated with predicted run times"));
}

TEST(AdviceOfASiteWithQuotas, SaysWhereTheyAreNotKnownAndIsUnlikeTheTruth) {
  const auto advice = advise_on({}, false);
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_FALSE(advice->quotas);
  EXPECT_LT(advice->stock.avg_wait_s, 3);
  EXPECT_FALSE(advice->reproduces);
  EXPECT_TRUE(advice->recommendation.starts_with("No recommendation: the simulation does not"));
  ASSERT_EQ(advice->cautions.size(), 2U);
  EXPECT_TRUE(advice->cautions[1].starts_with("simulated with predicted run times"));
  EXPECT_NE(advice->cautions[0].find("GPU quotas were not simulated"), std::string::npos);
}

TEST(AdviceOfASiteWithQuotas, CountsWhomTheTreeOfAccountsAndTheQosSay) {
  // All jobs of the QOS together: the five of a morning one after another.
  const auto advice = advise_on({{.qos = "normal", .gpus = 2}, {.account = "speech", .gpus = 0}});
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_NEAR(advice->stock.avg_wait_s, (1 + 2 + 3 + 4) * 3600.0 / 5, 5)
      << "a quota of the QOS is asked instead of those of accounts";
}

TEST(AdviceOfASiteWithQuotas, LeavesOutWhoAsksMoreThanAQuotaHas) {
  const auto advice = advise_on({{.account = "vision", .gpus = 1}});
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_EQ(advice->jobs, 28);
  EXPECT_EQ(advice->never, 4 * 28);
  EXPECT_NE(advice->cautions.back().find("or more GPUs than a quota allows"), std::string::npos);
}

}  // namespace
}  // namespace almanac::advice
