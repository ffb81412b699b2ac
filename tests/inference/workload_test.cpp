// SPDX-License-Identifier: Apache-2.0

/// \file
/// A log that is made is like what it was learnt from.
#include "inference/workload/workload.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/request_log.h"
#include "inference/service.h"
#include "stats/correlation.h"
#include "stats/quantile.h"
#include "support/shared_data.h"
#include "table/output_file.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

/// Kolmogorov and Smirnov's distance of two samples, in units of what is exceeded by chance once
/// in a thousand times.
double apart(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double most = 0;
  for (const auto* values : {&a, &b}) {
    for (const double value : *values) {
      const auto part = [&](const std::vector<double>& of) {
        return static_cast<double>(std::upper_bound(of.begin(), of.end(), value) - of.begin()) /
               static_cast<double>(of.size());
      };
      most = std::max(most, std::abs(part(a) - part(b)));
    }
  }
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  constexpr double kOneInAThousand = 1.949;
  return most / (kOneInAThousand * std::sqrt(1 / n + 1 / m));
}

std::vector<double> column(const Requests& of, std::int32_t Request::*what) {
  std::vector<double> made;
  for (const Request& each : of.all) made.push_back(each.*what);
  return made;
}

/// The spread of the number of requests in pieces of so many seconds, by their mean.
double unevenness(const Requests& of, double seconds) {
  std::map<std::int64_t, double> counts;
  std::int64_t pieces = 0;
  for (const Request& each : of.all) {
    const auto piece = static_cast<std::int64_t>(each.arrival / 1e6 / seconds);
    counts[piece] += 1;
    pieces = std::max(pieces, piece + 1);
  }
  const double mean = static_cast<double>(of.size()) / static_cast<double>(pieces);
  double squares = static_cast<double>(pieces - std::ssize(counts)) * mean * mean;
  for (const auto& [piece, count] : counts) squares += (count - mean) * (count - mean);
  return std::sqrt(squares / static_cast<double>(pieces)) / mean;
}

/// The part of all blocks of prompts that an earlier prompt had.
double found_again(const Requests& of) {
  std::set<std::uint64_t> seen;
  double found = 0, all = 0;
  for (const Request& each : of.all) {
    const auto ids = of.ids(each);
    std::size_t same = 0;
    while (same < ids.size() && seen.contains(ids[same])) ++same;
    found += static_cast<double>(same);
    all += static_cast<double>(ids.size());
    seen.insert(ids.begin(), ids.end());
  }
  return all > 0 ? found / all : 0;
}

class Likeness : public testing::TestWithParam<const char*> {};

TEST_P(Likeness, HasTheLengthsRhythmAndSharedPromptsOfItsLog) {
  const auto path = shared_path("data/inference/" + std::string(GetParam()));
  if (!path) GTEST_SKIP() << "no data at hand";
  const auto log = read_requests(*path);
  ASSERT_TRUE(log) << log.error().message;
  const auto workload = fit_workload(*log);
  ASSERT_TRUE(workload) << workload.error().message;
  // A likeness is one draw: what varies from draw to draw is compared by the mean of several.
  constexpr std::uint64_t kSeeds = 8;
  std::map<double, double> unevennesses;
  double found = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Requests made = generate(*workload, seed);
    ASSERT_EQ(made.size(), log->size());
    EXPECT_LT(apart(column(made, &Request::prompt), column(*log, &Request::prompt)), 1);
    EXPECT_LT(apart(column(made, &Request::output), column(*log, &Request::output)), 1);
    EXPECT_NEAR(stats::spearman(column(made, &Request::prompt), column(made, &Request::output)),
                stats::spearman(column(*log, &Request::prompt), column(*log, &Request::output)),
                0.05);
    for (const double seconds : {10.0, 60.0, 300.0}) {
      unevennesses[seconds] += unevenness(made, seconds) / kSeeds;
    }
    found += found_again(made) / kSeeds;
  }
  for (const auto& [seconds, ours] : unevennesses) {
    const double theirs = unevenness(*log, seconds);
    EXPECT_NEAR(ours, theirs, 0.25 * theirs + 0.02) << seconds << " s";
  }
  EXPECT_NEAR(found, found_again(*log), 0.05);
}

TEST_P(Likeness, IsServedAsItsLogIs) {
  const auto path = shared_path("data/inference/" + std::string(GetParam()));
  if (!path) GTEST_SKIP() << "no data at hand";
  const auto log = read_requests(*path);
  ASSERT_TRUE(log);
  const auto workload = fit_workload(*log);
  ASSERT_TRUE(workload);
  // Where neither all nor none is in time, so that a log that is calmer or wilder would show.
  Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  service.replicas = 2;
  const Objective objective{.first_token = 5e5, .per_token = 5e4};
  const auto attained = [&](const Requests& requests) {
    return summarize(requests, *play(service, requests), objective).attainment();
  };
  std::vector<double> drawn;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    drawn.push_back(attained(generate(*workload, seed)));
  std::sort(drawn.begin(), drawn.end());
  const double theirs = attained(*log);
  EXPECT_GT(theirs, drawn.front() - 0.05);
  EXPECT_LT(theirs, drawn.back() + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Logs, Likeness,
                         testing::Values("azure_llm_2023_code.csv.gz",
                                         "mooncake_conversation.csv.gz"));

/// What a file of parameters says.
constexpr const char* kMine = R"(
[span]
hours = 48
requests = 20000
day = [1,1,1,1,1,1, 1,1,1,1,1,1, 3,3,3,3,3,3, 1,1,1,1,1,1]
[[tenant]]
name = "search"
requests = 3
prompt = {median = 2000, spread = 0.5, most = 8000}
common_tokens = 1024
[[tenant]]
name = "chat"
requests = 1
follow = 0.5
follow_part = [0.5, 0.9]
follow_age_s = [10, 100]
bursts = [[64, 0.5], [1, 0.5]]
)";

TEST(Workload, MakesWhatItsFileSays) {
  const auto workload = parse_workload(kMine, "mine.toml");
  ASSERT_TRUE(workload) << workload.error().message;
  const Requests made = generate(*workload, 3);
  ASSERT_EQ(made.size(), 20'000);
  EXPECT_THAT(made.tenants, testing::ElementsAre("search", "chat"));
  std::size_t search = 0, busy = 0, common = 0;
  std::uint64_t head = 0;
  for (const Request& each : made.all) {
    busy += static_cast<int>(each.arrival / 3.6e9) % 24 / 6 == 2;
    if (each.tenant != 0) continue;
    ASSERT_LE(each.prompt, 8000);
    if (search++ == 0) head = made.ids(each).front();
    common += made.ids(each).front() == head;
  }
  EXPECT_EQ(search, 15'000);
  EXPECT_EQ(common, search);  // 1,024 tokens, which all begin with
  // Six hours of weight 3 among eighteen of weight 1: half of all.
  EXPECT_NEAR(static_cast<double>(busy), 10'000, 400);
}

TEST(Workload, IsWrittenSoThatItReadsBackAndMakesTheSameLog) {
  const auto workload = parse_workload(kMine, "mine.toml");
  ASSERT_TRUE(workload);
  const auto again = parse_workload(to_toml(*workload), "again.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_toml(*again), to_toml(*workload));
  const Requests one = generate(*again, 7), other = generate(*again, 7),
                 third = generate(*again, 8);
  const auto arrivals = [](const Requests& of) {
    std::vector<double> made;
    for (const Request& each : of.all) made.push_back(each.arrival);
    return made;
  };
  EXPECT_EQ(arrivals(one), arrivals(other));
  EXPECT_EQ(one.blocks, other.blocks);
  EXPECT_NE(arrivals(one), arrivals(third));
}

TEST(Workload, TellsAPoissonProcessFromBursts) {
  // Of a Poisson process no spread is left once its own is taken off; of requests that come in
  // pairs at one instant all that is, for short stretches.
  Requests calm, pairs;
  Rng rng(5);
  for (double at = 0; calm.size() < 4000;) {
    at += rng.exponential() * 1e6;
    calm.all.push_back({.arrival = at, .prompt = 100, .output = 10});
    for (int twice = 0; twice < 2; ++twice) {
      pairs.all.push_back({.arrival = 2 * at, .prompt = 100, .output = 10});
    }
  }
  const auto of_calm = fit_workload(calm), of_pairs = fit_workload(pairs);
  ASSERT_TRUE(of_calm);
  ASSERT_TRUE(of_pairs);
  for (const Burst& each : of_calm->tenants.front().bursts) {
    // So many stretches that chance leaves little.
    if (each.seconds > 100 || each.seconds < 10) continue;
    EXPECT_LT(each.spread, 0.06) << each.seconds;
  }
  EXPECT_GT(of_pairs->tenants.front().bursts.back().spread, 0.45);
}

TEST(Workload, ComesBackFromItsOwnTable) {
  const auto workload = parse_workload(kMine, "mine.toml");
  ASSERT_TRUE(workload);
  const Requests made = generate(*workload, 1);
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / "generated_requests.csv.gz").string();
  ASSERT_TRUE(save_requests(made, path));
  const auto read = read_requests_by_model(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), made.size());
  for (RequestId id = 0; id < made.size(); ++id) {
    ASSERT_THAT(read->ids((*read)[id]), testing::ElementsAreArray(made.ids(made[id]))) << id;
  }
  EXPECT_EQ(read->tenants.size(), 2);
  const auto learnt = fit_workload(*read);
  ASSERT_TRUE(learnt);
  ASSERT_EQ(learnt->tenants.size(), 2);
  const auto search = std::find_if(learnt->tenants.begin(), learnt->tenants.end(),
                                   [](const Tenant& each) { return each.name == "search"; });
  ASSERT_NE(search, learnt->tenants.end());
  EXPECT_EQ(search->common_tokens, 1024);
}

TEST(Workload, KeepsTheBlocksOfItsLog) {
  // Some 1,000 tokens each, of which all share the first 192: too few for a block of 512.
  std::string log = "arrival_s,prompt_tokens,output_tokens,block_ids\n";
  for (int each = 0; each < 40; ++each) {
    const int prompt = 960 + 16 * (each % 5);
    log += fmt::format("{}.5,{},9,0-11 {}-{}\n", each, prompt, 1000 * (each + 1),
                       1000 * (each + 1) + prompt / 16 - 13);
  }
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / "small_blocks.csv").string();
  ASSERT_TRUE(table::write_file(path, log));
  const auto read = read_requests(path);
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->tokens_per_block, 16);
  const auto learnt = fit_workload(*read);
  ASSERT_TRUE(learnt);
  EXPECT_EQ(learnt->tenants.front().common_tokens, 192);
  const auto again = parse_workload(to_toml(*learnt), "again.toml");
  ASSERT_TRUE(again) << to_string(again.error());
  const Requests made = generate(*again, 1);
  EXPECT_EQ(made.tokens_per_block, 16);
  EXPECT_EQ(made.all.front().blocks, (made.all.front().prompt + 15U) / 16U);
  EXPECT_EQ(made.ids(made.all[0])[11], made.ids(made.all[1])[11]);
  EXPECT_NE(made.ids(made.all[0])[12], made.ids(made.all[1])[12]);
}

TEST(Workload, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, said] : std::map<std::string, std::string>{
           {"[span]\nhour = 1\n", "unknown key hour"},
           {"[span]\nday = [1, 2]\n", "24 hours"},
           {"[[tenant]]\nprompt = [5, 3]\n", "ascend"},
           {"[[tenant]]\nfollow = 0.5\n", "follow_part"},
           {"[[tenant]]\nbursts = [[1, 0.7]]\n", "between 0 and 0.5"},
           {"[[tenant]]\nrequests = 0\n", "no tenant has requests"}}) {
    const auto read = parse_workload(text, "mine.toml");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(said)) << text;
    EXPECT_EQ(read.error().where.file, "mine.toml");
  }
  Requests few;
  few.all.resize(5, {.prompt = 1});
  EXPECT_THAT(fit_workload(few).error().message, HasSubstr("too few"));
  few.all.resize(50, {.prompt = 1});
  EXPECT_THAT(fit_workload(few).error().message, HasSubstr("the same instant"));
}

}  // namespace
}  // namespace almanac::inference
