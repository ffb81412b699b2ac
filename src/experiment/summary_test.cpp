// SPDX-License-Identifier: Apache-2.0
#include "experiment/summary.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::experiment {
namespace {

std::string row_of(const char* policy) {
  Summary summary;
  summary.policy = policy;
  return to_csv_row(summary);
}

TEST(Summary, QuotesNamesInCsvWhereTheyNeedIt) {
  EXPECT_TRUE(row_of("fifo+easy:2").starts_with("fifo+easy:2,0,0,"));
  EXPECT_TRUE(row_of("mine, slower").starts_with("\"mine, slower\",0,0,"));
  EXPECT_TRUE(row_of("the \"best\"").starts_with("\"the \"\"best\"\"\",0,0,"));
}

TEST(Summary, TellsABoundFromAChoice) {
  const auto of = [](const policy::Composition& policy) {
    return summarize(policy, trace::Trace(), sim::Schedule(), energy::PowerModel());
  };
  const Summary fifo = of({.name = "fifo"});
  EXPECT_FALSE(fifo.bound);
  EXPECT_TRUE(fifo.needs.empty()) << "nothing asks its estimate";
  EXPECT_EQ(marked_name(fifo), "fifo");
  const Summary srtf = of({.name = "srtf", .order = "srtf", .pass = "by_rank"});
  EXPECT_TRUE(srtf.bound);
  EXPECT_EQ(srtf.needs, (std::vector<std::string>{"true run times", "checkpoints"}));
  EXPECT_EQ(marked_name(srtf), "srtf (oracle)");
  const Summary learned =
      of({.name = "mine", .estimate = "learned", .order = "srtf", .pass = "by_rank"});
  EXPECT_FALSE(learned.bound);
  EXPECT_NE(to_csv_row(srtf).find(",true,true,"), std::string::npos) << "a bound, and complete";
  EXPECT_NE(to_csv_row(learned).find(",false,true,"), std::string::npos);
  sim::Schedule cut;
  cut.interrupted = true;
  const Summary incomplete = summarize({.name = "easy"}, trace::Trace(), cut, energy::PowerModel());
  EXPECT_FALSE(incomplete.complete);
  EXPECT_EQ(marked_name(incomplete), "easy (interrupted)");
}

/// Two nodes of four GPUs: two hours on with three GPUs in use, then one node sleeps for an hour.
sim::Schedule two_nodes() {
  sim::Schedule schedule;
  schedule.begin = Time{};
  schedule.finish = Time{3h};
  schedule.busy_gpu_s = 3 * 2 * 3600;
  schedule.nodes = {.on_gpu_s = 8.0 * 2 * 3600 + 4 * 3600 - 4 * 300,
                    .booting_gpu_s = 4 * 300,
                    .asleep_gpu_s = 4 * 3600,
                    .asleep_node_s = 3600,
                    .wake_ups = 1,
                    .nodes_woken = 2};
  schedule.sleep_bound = {.asleep_gpu_s = 4 * 2 * 3600, .booting_gpu_s = 4 * 600};
  schedule.held_back = {.jobs = 2, .waited = 10min};
  return schedule;
}

TEST(Summary, AccountsForTheEnergyOfNodes) {
  const energy::PowerModel power{
      .name = "even",
      .gpus = 4,
      .idle_w = 400,
      .full_w = 1200,
      .booting_w = 500,
      .asleep_w = 40,
      .facility = {.pue = 1.5, .price_per_kwh = 0.2, .currency = "EUR", .kg_co2_per_kwh = 0.5}};
  const Summary made = summarize({.name = "fifo"}, trace::Trace(), two_nodes(), power);
  // On: 5 node-hours less 300 s at 400 W. GPUs: 6 GPU-hours of 200 W. Boot: 300 s. Asleep: 1 h.
  const double joules = (5 * 3600 - 300) * 400.0 + 6 * 3600 * 200.0 + 300 * 500.0 + 3600 * 40.0;
  EXPECT_DOUBLE_EQ(made.energy_j, joules);
  // An hour at 360 W less, and a boot of 300 s that drew 100 W more than idling.
  EXPECT_DOUBLE_EQ(made.energy_saved_j, 3600 * 360.0 - 300 * 100.0);
  // Of 6 node-hours 2 asleep and 600 s booting.
  EXPECT_DOUBLE_EQ(made.energy_bound_j,
                   (4 * 3600 - 600) * 400.0 + 6 * 3600 * 200.0 + 600 * 500.0 + 2 * 3600 * 40.0);
  EXPECT_DOUBLE_EQ(made.facility_kwh, joules / 3.6e6 * 1.5);
  EXPECT_DOUBLE_EQ(made.cost, made.facility_kwh * 0.2);
  EXPECT_DOUBLE_EQ(made.kg_co2, made.facility_kwh * 0.5);
  EXPECT_DOUBLE_EQ(made.nodes_asleep, 1.0 / 3);
  EXPECT_DOUBLE_EQ(made.wake_ups_a_day, 8);
  EXPECT_DOUBLE_EQ(made.nodes_woken_a_day, 16);
  sim::Schedule limited = two_nodes();
  limited.spared_gpu_s = 3600;
  EXPECT_DOUBLE_EQ(summarize({.name = "fifo"}, trace::Trace(), limited, power).energy_j,
                   joules - 3600 * 200.0);
  EXPECT_EQ(made.jobs_held_back, 2U);
  EXPECT_DOUBLE_EQ(made.avg_hold_s, 300);
}

TEST(Summary, BillsPowerAtThePriceAndCarbonOfTheMoment) {
  const energy::PowerModel power{
      .name = "even",
      .gpus = 1,
      .idle_w = 400,
      .full_w = 1000,
      .booting_w = 500,
      .asleep_w = 40,
      .facility = {.pue = 2, .price_per_kwh = 0.2, .currency = "EUR", .kg_co2_per_kwh = 0.3}};
  sim::Schedule schedule = two_nodes();
  // An hour idle before the first value, then a GPU in use for an hour at 500 g and one at 100 g.
  schedule.signal_uses = {
      {.name = sim::kCarbonSignal,
       .stretches = {{500, {.on = 3600, .busy = 3600}}, {100, {.on = 3600, .busy = 3600}}},
       .unvalued = {.on = 3600}},
      {.name = "price/A", .held_weighted = 2.5 * 7200, .held_gpu_s = 7200},
      {.name = "reserved/A", .held_weighted = 0.5 * 4 * 3600, .held_gpu_s = 4 * 3600}};
  const Summary made = summarize({.name = "fifo"}, trace::Trace(), schedule, power);
  EXPECT_DOUBLE_EQ(made.kg_co2, 2 * (0.6 * 1.0 + 0.4 * 0.3));
  EXPECT_DOUBLE_EQ(made.cost, made.facility_kwh * 0.2) << "no signal called price";
  EXPECT_DOUBLE_EQ(made.jobs_kg_co2, 2 * 0.6 * 0.6) << "600 W of the GPU, which is twice that";
  EXPECT_DOUBLE_EQ(made.gpu_cost, 5 + 2);
  ASSERT_EQ(made.gpu_costs.size(), 2U);
  EXPECT_EQ(made.gpu_costs[0].type, "A");
  EXPECT_DOUBLE_EQ(made.gpu_costs[0].gpu_h, 2);
  EXPECT_EQ(made.gpu_costs[1].type, "reserved/A");
  EXPECT_DOUBLE_EQ(made.gpu_costs[1].cost, 2);
  EXPECT_TRUE(std::isnan(summarize({.name = "fifo"}, trace::Trace(), two_nodes(), power).gpu_cost));
}

TEST(Summary, ASignalThatNeverChangesGivesTheDigitsOfTheConstant) {
  const energy::PowerModel power{
      .name = "even",
      .gpus = 4,
      .idle_w = 400,
      .full_w = 1200,
      .booting_w = 500,
      .asleep_w = 40,
      .facility = {.pue = 1.58, .price_per_kwh = 0.0806, .kg_co2_per_kwh = 0.48}};
  sim::Schedule schedule = two_nodes();
  const Summary without = summarize({.name = "fifo"}, trace::Trace(), schedule, power);
  const sim::PoweredUse all{.on = schedule.nodes.on_gpu_s,
                            .booting = schedule.nodes.booting_gpu_s,
                            .asleep = schedule.nodes.asleep_gpu_s,
                            .busy = schedule.busy_gpu_s};
  schedule.signal_uses = {{.name = sim::kCarbonSignal, .stretches = {{480, all}}},
                          {.name = sim::kPriceSignal, .stretches = {{0.0806, all}}}};
  const Summary with = summarize({.name = "fifo"}, trace::Trace(), schedule, power);
  EXPECT_EQ(with.kg_co2, without.kg_co2);
  EXPECT_EQ(with.cost, without.cost);
  EXPECT_EQ(with.jobs_kg_co2, without.jobs_kg_co2);
  EXPECT_EQ(with.jobs_cost, without.jobs_cost);
}

/// Five jobs of 100 s submitted at 0: ends at 90 s, 100 s, 125 s and 300 s, and one that runs yet.
sim::Schedule five_ends() {
  std::vector<policy::Progress> progress(5);
  const Time ends[] = {Time(90s), Time(100s), Time(125s), Time(300s)};
  for (std::size_t job = 0; job < 5; ++job) {
    progress[job].phase = job < 4 ? policy::Phase::ended : policy::Phase::running;
    progress[job].start = Time{};
    if (job < 4) progress[job].end = ends[job];
  }
  sim::Schedule schedule;
  schedule.finish = Time(400s);
  schedule.jobs = sim::JobResults(std::move(progress), schedule.finish);
  return schedule;
}

trace::Trace due_at_100_s() {
  trace::Trace trace;
  for (std::uint64_t id = 0; id < 5; ++id) {
    trace::Job job;
    job.id = trace::JobKey{id};
    job.request.gpus = 1;
    job.request.deadline = Time(100s);
    job.outcome.run = 100s;
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST(Summary, TellsWhichDeadlinesWereMet) {
  trace::Trace trace = due_at_100_s();
  trace.jobs[2].request.value = 4;
  trace.jobs[2].request.worthless_at = Time(150s);  // ends halfway: worth 2
  const Summary made = summarize({.name = "fifo"}, trace, five_ends(), energy::PowerModel());
  EXPECT_EQ(made.deadline_jobs, 5U);
  EXPECT_DOUBLE_EQ(made.guarantee, 2.0 / 5);
  EXPECT_DOUBLE_EQ(made.avg_tardiness_s, (0 + 0 + 25 + 200) / 4.0);
  EXPECT_DOUBLE_EQ(made.value_earned, 1 + 1 + 2);
  EXPECT_DOUBLE_EQ(made.value_possible, 4 + 4);
}

TEST(Summary, HasNoGuaranteeWithoutADeadline) {
  trace::Trace trace = due_at_100_s();
  for (trace::Job& job : trace.jobs) job.request.deadline = kNoTime;
  const Summary made = summarize({.name = "fifo"}, trace, five_ends(), energy::PowerModel());
  EXPECT_EQ(made.deadline_jobs, 0U);
  EXPECT_TRUE(std::isnan(made.guarantee));
  EXPECT_TRUE(std::isnan(made.avg_tardiness_s));
  EXPECT_TRUE(std::isnan(made.p99_tardiness_s));
  EXPECT_TRUE(std::isnan(made.value_earned));
  EXPECT_TRUE(std::isnan(made.value_possible));
}

TEST(Summary, TellsThePowerOfAMoment) {
  const energy::PowerModel power{
      .gpus = 4, .idle_w = 400, .full_w = 1200, .booting_w = 500, .asleep_w = 40};
  const sim::Sample sample{.gpus_busy = 3, .gpus_on = 8, .gpus_booting = 4, .gpus_asleep = 2};
  EXPECT_DOUBLE_EQ(power_w(sample, power), 2 * 400.0 + 500 + 0.5 * 40 + 3 * 200);
  sim::Sample limited = sample;
  limited.gpus_spared = 0.5;
  EXPECT_DOUBLE_EQ(power_w(limited, power), power_w(sample, power) - 0.5 * 200);
}

}  // namespace
}  // namespace almanac::experiment
