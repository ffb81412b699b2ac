// SPDX-License-Identifier: Apache-2.0

/// \file
/// A fleet that is recommended serves what follows the log, and no smaller one would.
#include "inference/sizing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/request_log.h"
#include "inference/workload/servegen.h"
#include "inference/workload/workload.h"
#include "support/shared_data.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

Service of_8b() {
  return {
      .model = *find_model("llama-3.1-8b"), .board = *find_board("h100"), .router = "least_tokens"};
}
constexpr Objective kObjective{.first_token = 500e3, .per_token = 25e3};

double attained(Service service, int replicas, int prefill, const Requests& requests,
                const Objective& objective) {
  service.replicas = replicas;
  service.prefill = prefill;
  return summarize(requests, *play(service, requests), objective).attainment();
}

/// A log of `count` requests that come as bursts, twice as many every few minutes.
Requests bursty(std::int64_t count, double hours, double spread) {
  Workload made = plain_workload();
  made.hours = hours;
  made.requests = count;
  made.tenants.front().bursts = {{hours * 3600, spread / 3}, {60, spread}, {1, spread}};
  return generate(made, 11);
}

TEST(Size, IsTheFewestReplicasForALog) {
  const Requests requests = bursty(4000, 0.1, 0.1);
  for (const bool split : {false, true}) {
    const auto found =
        size_fleet(of_8b(), requests, {.objective = kObjective, .split = split, .confidence = 0});
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ(found->for_log, found->replicas);
    EXPECT_EQ(found->drawn, 0);
    const double best = attained(of_8b(), found->replicas, found->prefill, requests, kObjective);
    EXPECT_GE(best, 0.9);
    // All that are smaller, divided in every way.
    for (int replicas = 1; replicas <= found->replicas; ++replicas) {
      const int first = split ? 1 : 0, end = split ? replicas : 1;
      for (int prefill = first; prefill < end; ++prefill) {
        const double seen = attained(of_8b(), replicas, prefill, requests, kObjective);
        EXPECT_LE(seen, best) << replicas << " " << prefill;
        EXPECT_TRUE(seen < 0.9 || replicas == found->replicas) << replicas << " " << prefill;
      }
    }
  }
}

TEST(Size, IsTheFewestReplicasForALogAndWhatMayFollow) {
  for (const double spread : {0.0, 0.2}) {
    const Requests requests = bursty(3000, 0.1, spread);
    const auto found = size_fleet(of_8b(), requests, {.objective = kObjective});
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ(found->drawn, 20);
    EXPECT_GE(found->served, 19);
    // By brute force: so many of the same draws are served, and fewer with any fleet that is
    // smaller.
    const auto learnt = fit_workload(requests);
    ASSERT_TRUE(learnt);
    for (int replicas = 1; replicas <= found->replicas; ++replicas) {
      int served = 0;
      for (std::uint64_t draw = 1; draw <= 20; ++draw) {
        const Requests next = generate(following(*learnt, draw), draw);
        served += attained(of_8b(), replicas, 0, next, kObjective) >= 0.9;
      }
      const bool log = attained(of_8b(), replicas, 0, requests, kObjective) >= 0.9;
      EXPECT_EQ(log && served >= 19, replicas == found->replicas) << replicas;
      EXPECT_TRUE(served == found->served || replicas < found->replicas) << served;
    }
  }
}

TEST(Size, OfAShortLogIsNoLoadThatWasNeverSeen) {
  // Eight minutes whose bursts are over within seconds: halves of it differ by that alone.
  const Requests requests = bursty(2400, 8.0 / 60, 0.35);
  const auto learnt = fit_workload(requests);
  ASSERT_TRUE(learnt);
  const double peak = learnt->tenants.front().requests_peak;
  EXPECT_GT(peak, 1);
  EXPECT_LT(peak, 8);
  for (std::uint64_t draw = 1; draw <= 200; ++draw) {
    const Workload next = following(*learnt, draw);
    EXPECT_LE(static_cast<double>(next.requests), peak * 2400 + 1) << draw;
    EXPECT_LE(
        next.tenants.front().prompt.quantile(0.5),
        learnt->tenants.front().prompt_peak * learnt->tenants.front().prompt.quantile(0.5) + 1);
  }
}

TEST(Size, SaysWhatItTriesWhileItRuns) {
  std::vector<std::string> heard;
  const SizeQuestion asked{.objective = kObjective,
                           .progress = [&](const std::string& text) { heard.push_back(text); }};
  const auto size = size_fleet(of_8b(), bursty(3000, 0.1, 0.2), asked);
  ASSERT_TRUE(size) << to_string(size.error());
  EXPECT_THAT(heard,
              testing::Contains(fmt::format("{} replicas: enough for this log", size->for_log)));
}

TEST(Size, OfAPlanIsTheFewestCopiesOfEachPartThatServeEachOfItsModels) {
  Requests requests = bursty(2400, 0.01, 0.1);
  requests.models = {"llama-3.1-8b", "qwen2.5-7b", "mistral-7b"};
  for (RequestId id = 0; id < requests.size(); ++id) {
    requests.all[id].model = id % 4 == 0 ? 1 : id % 4 == 1 ? 2 : 0;
  }
  Plan plan;
  for (const std::string& name : requests.models) {
    plan.names.push_back(name);
    plan.models.push_back(*find_model(name));
  }
  // Two models share a GPU, the third has one of its own.
  plan.groups = {{.first = 0, .last = 0, .models = {0, 1}}, {.first = 1, .last = 1, .models = {2}}};
  const Service service{.board = *find_board("h100"), .router = "round_robin"};
  const SizeQuestion asked{.objective = kObjective, .confidence = 0};
  const auto sized = size_plan(service, requests, plan, asked);
  ASSERT_TRUE(sized) << to_string(sized.error());
  ASSERT_EQ(sized->parts.size(), 2U);
  const int shared = sized->parts[0].size.replicas, own = sized->parts[1].size.replicas;
  EXPECT_EQ(sized->plan.gpus(), shared + own);
  EXPECT_GT(shared, own);
  const auto least = [&](int with, int alone) {
    Plan tried = plan;
    tried.groups.clear();
    for (std::int64_t gpu = 0; gpu < with + alone; ++gpu) {
      tried.groups.push_back({.first = gpu, .last = gpu, .models = {2}});
      if (gpu < with) tried.groups.back().models = {0, 1};
    }
    const auto outcomes = play_placed(service, requests, tried);
    double worst = 1;
    for (const std::string& name : plan.names) {
      const auto part = part_of(name, requests, *outcomes);
      worst = std::min(worst, summarize(part.requests, part.outcomes, kObjective).attainment());
    }
    return worst;
  };
  EXPECT_GE(least(shared, own), 0.9);
  for (int fewer = 1; fewer < shared; ++fewer) EXPECT_LT(least(fewer, own), 0.9) << fewer;
  for (int fewer = 1; fewer < own; ++fewer) EXPECT_LT(least(shared, fewer), 0.9) << fewer;
}

TEST(Size, SaysWhatALogDoesNotTellOfTheNextDay) {
  Requests log;
  log.tenants = {"client 1", "client 2"};
  const auto spread = [&](double hours) {
    log.all.clear();
    for (int each = 0; each <= 100; ++each) {
      log.all.push_back({.arrival = 3.6e9 * hours * each / 100,
                         .prompt = each % 2 == 0 ? 900 : 100,
                         .output = 10,
                         .tenant = static_cast<std::uint32_t>(each % 2)});
    }
    return doubts_of_span(log);
  };
  EXPECT_THAT(spread(2), testing::ElementsAre(HasSubstr("2h 00m, and other hours"),
                                              HasSubstr("client 1 has 89 % of the tokens")));
  EXPECT_THAT(spread(30),
              testing::ElementsAre(HasSubstr("too short to compare two days"), testing::_));
  EXPECT_THAT(spread(72), testing::IsEmpty());
}

/// So many requests on each day, which come evenly in its first hours.
struct Day {
  int requests = 200;
  double hours = 24;
};
Requests days(const std::vector<Day>& told) {
  Requests made;
  for (std::size_t day = 0; day < told.size(); ++day) {
    for (int each = 0; each < told[day].requests; ++each) {
      const double hour = told[day].hours * each / told[day].requests;
      made.all.push_back({.arrival = 3.6e9 * (24 * static_cast<double>(day) + hour),
                          .prompt = 1000,
                          .output = 100});
    }
  }
  return made;
}

TEST(Size, IsForTheFollowingDayWhereDaysBeforeWereForeseen) {
  Service service = of_8b();
  service.limits.sequences = 1;  // so that a few requests a second are a load
  const auto sized = [&](const std::vector<Day>& each) {
    return *size_fleet(service, days(each), {.objective = {.first_token = 5e6}});
  };
  const Size alike = sized({{200}, {206}, {197}, {203}});
  EXPECT_THAT(alike.doubts, testing::IsEmpty());
  EXPECT_STREQ(alike.valid_for(), "next day");
  // All requests of a day within a minute: nothing before it told of that.
  const Size changed = sized({{200}, {206}, {197}, {203, 0.015}, {200}});
  EXPECT_THAT(changed.doubts, testing::ElementsAre(HasSubstr("the log before day 4")));
  EXPECT_STREQ(changed.valid_for(), "this log only");
  EXPECT_THAT(sized({{200}}).doubts,
              testing::ElementsAre(HasSubstr("too short to compare two days")));
}

TEST(Size, ServesEachDayOfALogAsAsked) {
  const Requests log = days({{1000}, {9000}});
  std::vector<Outcome> outcomes(log.size(), Outcome{.first_token = 0, .finish = 0});
  for (RequestId id = 0; id < log.size(); ++id) {
    outcomes[id].first_token = outcomes[id].finish = log[id].arrival + 1;
    if (id < 500) outcomes[id].first_token = outcomes[id].finish = log[id].arrival + 9e6;
  }
  const Objective objective{.first_token = 5e6};
  EXPECT_DOUBLE_EQ(summarize(log, outcomes, objective).attainment(), 0.95);
  EXPECT_DOUBLE_EQ(attained_each_day(log, outcomes, objective), 0.5);
}

TEST(Size, SaysWhyItRecommendsNothing) {
  const Requests requests = bursty(4000, 0.02, 0.1);
  const auto found = size_fleet(of_8b(), requests, {.objective = kObjective, .most = 2});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("with 2 replicas fewer than 90 % of the requests"));
  Requests few = requests;
  few.all.resize(5);
  EXPECT_THAT(
      to_string(size_fleet(of_8b(), few, {.objective = kObjective}).error()),
      HasSubstr(
          "a log cannot be resampled if it has too few requests to learn from (--confidence 0"));
  Service large = of_8b();
  large.model = *find_model("llama-3.1-70b");
  EXPECT_THAT(
      to_string(size_fleet(large, requests, {.objective = kObjective}).error()),
      HasSubstr(
          "does not fit on 1 h100: its weights take 141.1 GB, and 75.4 GB can be used (90 % of "
          "85.9 GB, less activations) (use --gpus 2 or more"));
}

TEST(Size, SaysWhatElseTakesMemory) {
  // States of 49,082,368 bytes each, for 256 sequences.
  Service recurrent = of_8b();
  recurrent.model = *find_model("nemotron-3-nano-30b-a3b");
  EXPECT_EQ(
      to_string(size_fleet(recurrent, bursty(100, 1, 0.1), {.objective = kObjective}).error()),
      "nemotron-3-nano-30b-a3b does not fit on 1 h100: its weights take 63.2 GB, the states of "
      "256 sequences 12.6 GB, and 68.7 GB can be used (90 % of 85.9 GB, less activations) (use "
      "--gpus 2 or more, or GPUs with more memory, or fewer --sequences)");
  recurrent.limits.sequences = 64;
  EXPECT_TRUE(
      size_fleet(recurrent, bursty(100, 1, 0.1), {.objective = kObjective, .confidence = 0}));
}

TEST(Size, RefusesGpusThatCannotDivideTheHeads) {
  Service three = of_8b();
  three.model = *find_model("llama-3.1-70b");
  three.gpus = 3;
  const auto found = size_fleet(three, bursty(100, 1, 0.1), {.objective = kObjective});
  EXPECT_EQ(to_string(found.error()),
            "3 GPUs cannot divide the 64 attention heads of llama-3.1-70b equally (use 2, 4, 8, "
            "16, 32, 64 GPUs per replica)")
      << "it does not fit on one";
}

/// 24 query heads and 8 KV heads.
TEST(Size, DividesKvHeadsOrCopiesThem) {
  const Model model = *find_model("llama-3.2-3b");
  EXPECT_TRUE(check_division(model, 8));
  EXPECT_TRUE(check_division(model, 24)) << "three GPUs have a copy of each KV head";
  EXPECT_FALSE(check_division(model, 3)) << "8 KV heads";
  EXPECT_FALSE(check_division(model, 16)) << "24 query heads";
}

TEST(Size, SaysThatNoNumberOfReplicasIsEnough) {
  const auto found =
      size_fleet(of_8b(), bursty(4000, 0.02, 0.1), {.objective = {.first_token = 1}, .most = 1000});
  EXPECT_THAT(to_string(found.error()),
              HasSubstr("no number of replicas is enough: only 0 % of the requests would meet the "
                        "objective even on an idle replica"));
}

/// Of 1,000 requests 170 have prompts that take longer than the objective, on an idle replica too.
/// A sample within 10 points of the share does not say so; all requests do.
TEST(Size, SaysSoIfAnIdleReplicaMissesTheShareByAFewPoints) {
  Requests requests;
  for (int each = 0; each < 1000; ++each) {
    requests.all.push_back(
        {.arrival = 1e6 * each, .prompt = each / 10 % 100 < 17 ? 60'000 : 100, .output = 2});
  }
  const auto found = size_fleet(of_8b(), requests,
                                {.objective = {.first_token = 1e6}, .most = 4, .confidence = 0});
  ASSERT_FALSE(found);
  EXPECT_THAT(
      to_string(found.error()),
      testing::AllOf(HasSubstr("no number of replicas is enough: only 83 % of the requests"),
                     testing::Not(HasSubstr("--most"))));
}

/// Exactly one request in ten misses the objective on an idle replica: the share of 90 % has no
/// room for any other, nor for a resampled log with more such requests.
TEST(Size, SaysWhatAnIdleReplicaReachesIfThatIsHardlyEnough) {
  Requests requests;
  for (int each = 0; each < 1000; ++each) {
    requests.all.push_back(
        {.arrival = 1e6 * each, .prompt = each % 10 == 3 ? 60'000 : 100, .output = 2});
  }
  const auto found = size_fleet(of_8b(), requests, {.objective = {.first_token = 1e6}, .most = 2});
  ASSERT_FALSE(found);
  EXPECT_THAT(to_string(found.error()),
              testing::AllOf(HasSubstr("even on an idle replica only 90 % of this log's do"),
                             testing::Not(HasSubstr("--most"))));
}

/// Every tenth request misses the objective on an idle replica. A sample of every tenth request
/// would consist of these alone, or of none.
TEST(Size, SamplesLogsWhoseRequestsAlternate) {
  for (const int kind : {0, 3}) {
    Requests requests;
    for (int each = 0; each < 1000; ++each) {
      requests.all.push_back(
          {.arrival = 1e6 * each, .prompt = each % 10 == kind ? 60'000 : 100, .output = 2});
    }
    const auto size = size_fleet(of_8b(), requests,
                                 {.objective = {.first_token = 1e6}, .share = 0.95, .most = 2});
    ASSERT_FALSE(size);
    EXPECT_THAT(to_string(size.error()),
                HasSubstr("no number of replicas is enough: only 90 % of the requests"));
  }
}

/// A log in two: what a fleet is sized for, and what then comes.
struct Halves {
  Requests first{}, second{};
};
Halves halved(const Requests& log) {
  Halves made;
  const Micros middle = (log.all.front().arrival + log.all.back().arrival) / 2;
  made.first = made.second = log;
  std::erase_if(made.first.all, [&](const Request& each) { return each.arrival >= middle; });
  std::erase_if(made.second.all, [&](const Request& each) { return each.arrival < middle; });
  for (Request& each : made.second.all) each.arrival -= middle;
  return made;
}
Requests faster(Requests log, double times) {
  for (Request& each : log.all) each.arrival /= times;
  return log;
}

void expect_enough(const std::string& what, const Service& service, const Objective& objective,
                   const Requests& before, const Requests& after) {
  const auto size = size_fleet(service, before, {.objective = objective});
  ASSERT_TRUE(size) << what << ": " << to_string(size.error());
  const double seen = attained(service, size->replicas, size->prefill, after, objective);
  std::printf("%s: %d replicas (%d), %.3f\n", what.c_str(), size->replicas, size->for_log, seen);
  EXPECT_GE(seen, 0.9) << what << ": " << size->replicas << " replicas, " << size->for_log
                       << " for the log alone";
}

TEST(Size, IsEnoughForTheOtherHalfOfAPublishedLog) {
  const auto code = shared_path("data/inference/azure_llm_2023_code.csv.gz");
  const auto conversation = shared_path("data/inference/mooncake_conversation.csv.gz");
  if (!code || !conversation) GTEST_SKIP() << "no data at hand";
  const auto azure = read_requests(*code), mooncake = read_requests(*conversation);
  ASSERT_TRUE(azure && mooncake);
  for (const double rate : {1.0, 4.0}) {
    const Halves halves = halved(faster(*azure, rate));
    const std::string what = "azure code, " + std::to_string(static_cast<int>(rate)) + " times";
    expect_enough(what, of_8b(), kObjective, halves.first, halves.second);
    expect_enough(what + ", second half first", of_8b(), kObjective, halves.second, halves.first);
  }
  Service large{.model = *find_model("llama-3.1-70b"), .board = *find_board("h100"), .gpus = 4};
  const Halves halves = halved(*mooncake);
  expect_enough("mooncake", large, {.first_token = 30e6, .per_token = 100e3}, halves.first,
                halves.second);
}

/// Hours `from` to `to` of ServeGen's clients, at a rate so that `count` requests come in an hour
/// on average over all of their days.
Requests servegen_hours(const ServegenClients& clients, double rate_scale, int from, int to) {
  Requests made;
  for (double start = 3600.0 * from; start < 3600.0 * to; start += kServegenWindow) {
    double rate = 0;
    for (const auto& [id, client] : clients) {
      const auto rhythm = client.rhythms.find(start);
      if (rhythm != client.rhythms.end()) rate += rhythm->second.rate;
    }
    if (rate <= 0) continue;
    for (const auto& each :
         generate_servegen(clients, start, rate * rate_scale, static_cast<std::uint64_t>(start))) {
      const auto tokens = [&](const char* field) {
        const auto found = each.fields.find(field);
        return found == each.fields.end() ? 1 : std::max(1, static_cast<int>(found->second));
      };
      made.all.push_back({.arrival = 1e6 * (each.at - 3600.0 * from),
                          .prompt = tokens("input_tokens"),
                          .output = tokens("output_tokens")});
    }
  }
  std::stable_sort(made.all.begin(), made.all.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  return made;
}

TEST(Size, IsEnoughForTheNextDayWhereTheLogAloneIsNot) {
  const auto folder = shared_path("data/inference/servegen");
  if (!folder) GTEST_SKIP() << "no data at hand";
  // One request at a time, so that ten thousand a day are a load.
  Service service{.model = *find_model("llama-3.1-70b"), .board = *find_board("h100"), .gpus = 2};
  service.limits.sequences = 1;
  const Objective objective{.first_token = 10e6, .per_token = 100e3};
  const auto clients = read_servegen(*folder, "m-large");
  ASSERT_TRUE(clients);
  constexpr double kScale = 1e-3;
  int log_alone = 0;
  std::vector<std::string> missed;
  Requests before = servegen_hours(*clients, kScale, 0, 24);
  for (int day = 1; day < 7; ++day) {
    Requests today = servegen_hours(*clients, kScale, 24 * day, 24 * (day + 1));
    const auto size = size_fleet(service, before, {.objective = objective});
    ASSERT_TRUE(size) << to_string(size.error());
    const double seen = attained(service, size->replicas, size->prefill, today, objective);
    const double alone = attained(service, size->for_log, 0, today, objective);
    const std::string what = fmt::format(
        "day {}: {} then {} requests, {} replicas serve {:.3f}, {} for the log alone {:.3f}", day,
        before.size(), today.size(), size->replicas, seen, size->for_log, alone);
    std::printf("%s\n", what.c_str());
    if (seen < 0.9) missed.push_back(what);
    log_alone += alone >= 0.9;
    before = std::move(today);
  }
  EXPECT_THAT(missed, testing::IsEmpty());
  EXPECT_LT(log_alone, 6) << "the log alone would have done: these days tell nothing";
}

/// Every step takes 100 ms, whatever is in it.
class TenthOfASecond final : public StepTime {
 public:
  Micros operator()(const Batch&) const override { return 1e5; }
};

/// A replica that computes one request of one token at a time: 10 per second.
Service ten_per_second() {
  Service made = of_8b();
  made.measured = std::make_shared<const TenthOfASecond>();
  made.limits.sequences = 1;
  return made;
}

Requests evenly(int count, double per_s) {
  Requests made;
  for (int each = 0; each < count; ++each) {
    made.all.push_back({.arrival = 1e6 * each / per_s, .prompt = 10, .output = 1});
  }
  return made;
}

TEST(LoadCurve, TellsTheRateThatEachFleetCarries) {
  // Evenly spaced requests wait for nothing up to 10 per second and replica.
  const Requests requests = evenly(1000, 5);
  const std::vector<int> sizes{1, 2, 4};
  const auto curve = load_curve(ten_per_second(), requests, {.first_token = 150e3}, 0.99, sizes);
  ASSERT_TRUE(curve) << to_string(curve.error());
  ASSERT_EQ(curve->size(), 3U);
  for (const LoadPoint& each : *curve) {
    EXPECT_NEAR(each.requests_per_s / (10.0 * each.replicas), 1, 0.04) << each.replicas;
    EXPECT_NEAR(each.times_log / (2.0 * each.replicas), 1, 0.04) << each.replicas;
  }
  // A fleet that could take all 40 requests of a log at once carries no more than 10 a second each.
  const auto few = load_curve(ten_per_second(), evenly(40, 5), {.first_token = 150e3}, 0.99,
                              std::vector<int>{64});
  ASSERT_TRUE(few) << to_string(few.error());
  EXPECT_NEAR(few->front().requests_per_s / 640, 1, 0.05);
  // A log may be much faster than one replica.
  const auto fast =
      load_curve(ten_per_second(), evenly(1000, 50'000), {.first_token = 150e3}, 0.99, sizes);
  ASSERT_TRUE(fast) << to_string(fast.error());
  EXPECT_NEAR(fast->front().requests_per_s / 10, 1, 0.04);
  // No rate is slow enough for what an idle replica misses.
  const auto none = load_curve(ten_per_second(), requests, {.first_token = 50e3}, 0.99, sizes);
  ASSERT_TRUE(none) << to_string(none.error());
  EXPECT_EQ(none->back().requests_per_s, 0);
  const auto idle = play_idle(ten_per_second(), requests, {.first_token = 50e3});
  ASSERT_TRUE(idle) << to_string(idle.error());
  EXPECT_EQ(idle->requests, 100U);
  EXPECT_EQ(idle->first_token.p90, 1e5);
  EXPECT_EQ(idle->attainment(), 0);
}

/// Every second of 1,000 requests has a prompt that takes longer than the objective.
TEST(LoadCurve, SeesBothKindsOfRequestsThatAlternate) {
  Requests requests;
  for (int each = 0; each < 1000; ++each) {
    requests.all.push_back(
        {.arrival = 1e6 * each, .prompt = each % 2 == 0 ? 100 : 60'000, .output = 2});
  }
  const auto idle = play_idle(of_8b(), requests, {.first_token = 1e6});
  ASSERT_TRUE(idle) << to_string(idle.error());
  EXPECT_NEAR(idle->attainment(), 0.5, 0.05);
}

TEST(LoadCurve, SizesArePowersOfTwoAndBothAnswers) {
  EXPECT_THAT(curve_sizes(2, 24), testing::ElementsAre(1, 2, 4, 8, 16, 24));
  EXPECT_THAT(curve_sizes(3, 5), testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(curve_sizes(1, 1), testing::ElementsAre(1));
}

TEST(IdealFleet, HasTheFewestReplicasOfEachMinute) {
  // 90 requests in the first minute, none in the second, 30 in the third; a replica answers 1 per
  // second: 2, 0 and 1 replicas, or 2, 1 and 1 if one must stay.
  Requests requests = evenly(90, 1.5);
  for (int each = 0; each < 30; ++each) {
    requests.all.push_back({.arrival = 120e6 + each * 2e6, .prompt = 10, .output = 1});
  }
  const IdealFleet ideal = ideal_fleet(requests, 1, 0);
  ASSERT_EQ(ideal.steps.size(), 3U);
  EXPECT_EQ(ideal.steps[0].replicas, 2);
  EXPECT_EQ(ideal.steps[1].replicas, 0);
  EXPECT_EQ(ideal.steps[2].replicas, 1);
  EXPECT_EQ(ideal.peak, 2);
  EXPECT_EQ(ideal.replica_s, 180);
  EXPECT_EQ(ideal_fleet(requests, 1, 1).replica_s, 240);
}

TEST(Objective, CountsTheWholeAnswer) {
  const Request request{.arrival = 1e6, .prompt = 10, .output = 11};
  const Outcome outcome{.first_token = 1.5e6, .finish = 2.5e6};
  EXPECT_TRUE(meets(request, outcome, {.end_to_end = 1.5e6}));
  EXPECT_FALSE(meets(request, outcome, {.end_to_end = 1.4e6}));
  EXPECT_TRUE(meets(request, outcome, {.first_token = 0.5e6, .per_token = 0.1e6}));
}

TEST(Fleets, RejectWhatTheModelCannotHold) {
  Service service = ten_per_second();
  service.model.positions = 100;
  Requests requests = evenly(2, 1);
  requests.all[0].prompt = 90;
  requests.all[0].output = 10;
  requests.all[1].prompt = 91;
  requests.all[1].output = 10;
  const auto outcomes = play(service, requests);
  ASSERT_TRUE(outcomes) << to_string(outcomes.error());
  EXPECT_NE((*outcomes)[0].finish, kNever);
  EXPECT_EQ((*outcomes)[1].finish, kNever);
}

}  // namespace
}  // namespace almanac::inference
