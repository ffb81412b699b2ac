// SPDX-License-Identifier: Apache-2.0

/// \file
/// CODA's parts where little is measured, as on a machine: what is not known is not acted upon, and
/// what is known later is.
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coda/blindfold.h"
#include "coda/recorded.h"
#include "experiment/profile.h"
#include "perf/catalogue_file.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "sim/simulation.h"
#include "support/play.h"

namespace almanac {
namespace {

/// When a job was given how many cores: at its start, and whenever that changed.
using Given = std::map<std::uint32_t, std::vector<std::pair<Duration, double>>>;

Given play(Case input, const Glimpse::Known& known) {
  const auto composition = policy::registry().compose(input.policy);
  auto catalogue = perf::read_catalogue("public");
  EXPECT_TRUE(composition && catalogue);
  const schedule::SpeedBook speeds(input.cluster, input.trace, std::move(*catalogue));
  input.options.truth.speeds = &speeds;
  auto made = experiment::make_policy(*composition, input.trace);
  EXPECT_TRUE(made);
  Given given;
  Blindfold blindfolded(**made, known);
  Watched watched(
      blindfolded, [](const policy::View&, const policy::Plan&) {},
      [&](const policy::View& view, const policy::Plan& plan) {
        for (const policy::Plan::Change& change : plan.changes()) {
          if (change.num_grants == 0) continue;
          const double cores = plan.grants(change).front().cpu_milli / 1e3;
          given[static_cast<std::uint32_t>(index(change.job))].emplace_back(view.now - Time{},
                                                                            cores);
        }
      });
  sim::simulate(input.trace, input.cluster, watched, input.options);
  return given;
}

Case one_node(const char* policy, int gpus, double bandwidth_gbs = 0) {
  Case made;
  made.policy = policy;
  made.cluster.add_vc("all");
  made.cluster.takes_every_job = true;
  made.cluster.add_nodes({.gpus = gpus, .cpus = 28, .bandwidth_gbs = bandwidth_gbs}, 1);
  return made;
}

TEST(Unmeasured, JobKeepsWhatItAsks) {
  for (const char* policy : {"fifo+adaptive", "coda"}) {
    Case input = one_node(policy, 1);
    add_job(input.trace, {.id = "A", .gpus = 1, .run = 2h, .model = "resnet-50", .cpus = 8});
    const Given given = play(std::move(input), [](JobId, Time) { return false; });
    EXPECT_EQ(given.at(0), Given::mapped_type({{0s, 8}})) << policy;
  }
}

TEST(Unmeasured, SearchBeginsOnceItIsMeasured) {
  Case input = one_node("fifo+adaptive", 1);
  add_job(input.trace, {.id = "A", .gpus = 1, .run = 2h, .model = "shufflenet", .cpus = 16});
  const Given given = play(std::move(input), [](JobId, Time now) { return now >= Time{10min}; });
  const auto& cores = given.at(0);
  ASSERT_GT(cores.size(), 1U);
  EXPECT_EQ(cores[0], std::pair(Duration{0s}, 16.0));
  EXPECT_EQ(cores[1], std::pair(Duration{630s}, 8.0)) << "the first trial that ends after 600 s";
  EXPECT_LT(cores.back().second, 16);
  EXPECT_GT(cores.back().second, 8) << "8 are too few for it";
}

TEST(Unmeasured, JobsThatAreMeasuredTeachThoseOfTheirName) {
  Case input = one_node("fifo+adaptive", 1);
  for (int at = 0; at < 3; ++at) {
    add_job(input.trace, {.id = std::to_string(at),
                          .submit = at * 2h,
                          .gpus = 1,
                          .run = 1h,
                          .user = "ann",
                          .name = at < 2 ? "train" : "other",
                          .model = "shufflenet",
                          .cpus = 16});
  }
  const Given given = play(std::move(input), [](JobId job, Time) { return job == JobId{0}; });
  EXPECT_LT(given.at(0).back().second, 16);
  EXPECT_EQ(given.at(1), Given::mapped_type({{2h, given.at(0).back().second}}));
  EXPECT_EQ(given.at(2), Given::mapped_type({{4h, 16}})) << "nothing says that it is like those";
}

TEST(Unmeasured, JobThatStartedWithTooFewGetsTheRestWhenItIsFree) {
  Case input = one_node("fifo+adaptive", 2);
  add_job(input.trace, {.id = "A", .gpus = 0, .run = 30min, .cpus = 26});
  add_job(input.trace, {.id = "B", .gpus = 1, .run = 2h, .model = "resnet-50", .cpus = 6});
  const Given given = play(std::move(input), [](JobId, Time) { return false; });
  EXPECT_EQ(given.at(1), Given::mapped_type({{0s, 2}, {30min, 6}}));
}

/// A hog that asks 1.5 times what the node's memory can give beside a job that suffers.
Given beside_a_hog(const Glimpse::Known& known) {
  Case input = one_node("fifo+halve", 1, 100);
  add_job(input.trace, {.id = "H", .gpus = 0, .run = 1h, .cpus = 16, .bandwidth_gbs = 150});
  add_job(input.trace,
          {.id = "A", .submit = 60s, .gpus = 1, .run = 10min, .cpus = 4, .bandwidth_gbs = 6});
  return play(std::move(input), known);
}

TEST(Unmeasured, NobodyIsHalvedWhereNothingIsKnown) {
  EXPECT_EQ(beside_a_hog([](JobId, Time) { return false; }).at(0), Given::mapped_type({{0s, 16}}));
  // What the hog draws is known, whether the job suffers is not.
  EXPECT_EQ(beside_a_hog([](JobId job, Time) { return job != JobId{1}; }).at(0),
            Given::mapped_type({{0s, 16}}));
}

TEST(Unmeasured, HogIsHalvedOnceItIsMeasured) {
  const auto given = beside_a_hog([](JobId, Time now) { return now >= Time{3min}; }).at(0);
  ASSERT_GT(given.size(), 2U);
  EXPECT_GE(given[1].first, 3min);
  EXPECT_LE(given[1].first, 3min + 5s) << "it looks as often as there may be news";
  EXPECT_EQ(given[1].second, 8);
  EXPECT_EQ(given.back().second, 16) << "and has its cores back when the job has ended";
}

}  // namespace
}  // namespace almanac
