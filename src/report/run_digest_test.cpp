// SPDX-License-Identifier: Apache-2.0
#include "report/run_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/run_bins.h"
#include "report/run_document.h"
#include "report/run_findings.h"
#include "report/run_tiles.h"

namespace almanac::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct JobOf {
  Duration submit;
  int gpus;
  Duration run;
  const char* vc;
  const char* user;
};

/// Jobs on two virtual clusters: a of `nodes` nodes of 8 GPUs, b of one.
experiment::Prepared prepared(const std::vector<JobOf>& jobs,
                              std::vector<std::string> policies = {"fifo"},
                              std::uint32_t nodes = 1) {
  trace::Trace trace;
  for (const JobOf& each : jobs) {
    trace::Job job;
    job.id = trace.key(std::to_string(trace.jobs.size() + 1));
    job.request.submit = Time{each.submit};
    job.request.gpus = each.gpus;
    job.request.vc = trace.names.intern(each.vc);
    job.request.user = trace.names.intern(each.user);
    job.outcome.run = each.run;
    job.request.predicted = each.run;
    trace.jobs.push_back(job);
  }
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8}, nodes);
  cluster.add_vc("b");
  cluster.add_nodes({.gpus = 8}, 1);
  experiment::Experiment experiment;
  experiment.trace = "log.csv";
  experiment.policies = std::move(policies);
  auto made = experiment::prepare(experiment, std::move(trace), std::move(cluster));
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

/// Job 1 holds all of a for 1 h, job 2 waits for it for 50 min, job 3 has b for itself.
experiment::Prepared three_jobs(std::vector<std::string> policies = {"fifo"}) {
  return prepared({{0s, 8, 1h, "a", "ann"}, {10min, 4, 30min, "a", "bob"}, {1h, 2, 1h, "b", "ann"}},
                  std::move(policies));
}

PolicyDigest digest_of(const RunInput& input, const DigestPlan& plan, std::size_t run = 0) {
  const auto schedule = experiment::simulate_run(input.prepared(), run);
  EXPECT_TRUE(schedule);
  return digest(input, plan,
                experiment::summarize(input.prepared().runs[run].composition, input.trace(),
                                      *schedule, input.prepared().power),
                *schedule);
}

/// Keeps what the document is made from.
struct Report {
  explicit Report(experiment::Prepared given)
      : prepared(std::move(given)), input(prepared), plan(input) {
    for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
      digests.push_back(digest_of(input, plan, run));
    }
    document = run_document(input, plan, digests, {"almanac", "simulate", "--threads", "3"});
  }
  const figure::Figure& figure(const std::string& id) const {
    for (const figure::Section& section : document.sections) {
      for (const figure::Figure& figure : section.figures) {
        if (figure.id == id) return figure;
      }
    }
    throw std::out_of_range(id);
  }
  std::string words() const {
    std::string all;
    for (const figure::Finding& finding : document.findings) {
      all += finding.headline + " " + finding.detail + " " + finding.advice + "\n";
    }
    return all;
  }

  experiment::Prepared prepared;
  RunInput input;
  DigestPlan plan;
  std::vector<PolicyDigest> digests;
  figure::Document document;
};

TEST(RunBins, FitEachOther) {
  EXPECT_EQ(bin_width(Time{0s}, Time{59s}, 60), 1s);
  EXPECT_EQ(bin_width(Time{0s}, Time{60s}, 60), 5s) << "bin 60 would be the 61st";
  EXPECT_EQ(bin_width(Time{0s}, Time{400 * 24h}, 200), 96h);
  EXPECT_EQ(bin_of(Time{-1ms}, 1s), -1);
  EXPECT_EQ(bin_of(Time{-1s}, 1s), -1);
  EXPECT_EQ(bin_of(Time{999ms}, 1s), 0);
  Duration before = 1s;
  for (std::size_t most = 100'000; most > 2; most -= most / 7 + 1) {
    const Duration width = bin_width(Time{0s}, Time{90 * 24h}, most);
    EXPECT_EQ(width % before, Duration{0}) << most;
    before = width;
  }
}

TEST(RunInput, GroupsJobs) {
  const experiment::Prepared run = three_jobs();
  const RunInput input(run);
  const Grouping& users = input.by(By::user);
  EXPECT_THAT(users.names, ElementsAre("ann", "bob"));
  EXPECT_THAT(users.jobs, ElementsAre(2, 1));
  EXPECT_THAT(users.gpu_s, ElementsAre(8 * 3600 + 2 * 3600, 4 * 1800));
  EXPECT_THAT(input.by(By::size).jobs, ElementsAre(0, 2, 1, 0)) << "1, 2-4, 5-8, more GPUs";
  EXPECT_THAT(input.by(By::length).jobs, ElementsAre(0, 3, 0));
  EXPECT_EQ(input.vc(2), VcId{1});
}

TEST(RunDigest, CountsByHand) {
  const experiment::Prepared run = three_jobs();
  const RunInput input(run);
  const DigestPlan plan(input);
  const PolicyDigest made = digest_of(input, plan);
  // Completion: 60, 80 and 60 min. Wait: 0, 50 and 0 min.
  ASSERT_THAT(made.jct_s, SizeIs(100));
  EXPECT_DOUBLE_EQ(made.jct_s[49], 3600);
  EXPECT_DOUBLE_EQ(made.wait_s[49], 0);
  EXPECT_DOUBLE_EQ(made.wait_s[74], 1500) << "75 %: halfway from 0 to 50 min";
  const GroupTotals& users = made.totals[static_cast<std::size_t>(By::user)];
  EXPECT_DOUBLE_EQ(users[0].mean_wait_s(), 0);
  EXPECT_DOUBLE_EQ(users[1].mean_wait_s(), 3000);
  EXPECT_DOUBLE_EQ(users[1].jct_s, 4800);
  EXPECT_DOUBLE_EQ(made.held_gpu_s, 8 * 3600 + 4 * 1800 + 2 * 3600);
  EXPECT_DOUBLE_EQ(made.restart_gpu_s, 0);
  EXPECT_EQ(made.stopped_jobs, 0);
}

TEST(RunDigest, SaysWhatRestartsCost) {
  // srtf stops job 1 for job 2; it is charged 30 s for its 8 GPUs.
  const Report report(prepared({{0s, 8, 1h, "a", "ann"}, {10min, 8, 10min, "a", "bob"}}, {"srtf"}));
  EXPECT_EQ(report.digests[0].stopped_jobs, 1);
  EXPECT_DOUBLE_EQ(report.digests[0].restart_gpu_s, 8 * 30);
  EXPECT_THAT(report.words(), HasSubstr("srtf (oracle) preempts 1 job (1 preemption in all)"));
}

TEST(RunOccupancy, FillsTheBinsThatJobsTouch) {
  const Report report(three_jobs());
  const figure::Figure& map = report.figure("run_occupancy");
  // From 0 to 2 h in bins of 1 min, the 120 that fit and the one at 2 h: so 5 min.
  EXPECT_EQ(report.digests[0].occupancy.width, 5min);
  ASSERT_EQ(map.rows(), 2 * 25U);
  EXPECT_THAT(map["vc"].texts.front(), "a");
  EXPECT_DOUBLE_EQ(map["gpus_taken"].numbers[0], 1);
  EXPECT_DOUBLE_EQ(map["gpus_taken"].numbers[12], 0.5) << "from 1 h on, job 2";
  EXPECT_DOUBLE_EQ(map["gpus_taken"].numbers[18], 0) << "it ends at 1 h 30";
  EXPECT_DOUBLE_EQ(map["gpus_taken"].numbers[25 + 11], 0);
  EXPECT_DOUBLE_EQ(map["gpus_taken"].numbers[25 + 12], 0.25);
}

TEST(RunTimeline, KeepsMeansAndExtremes) {
  sim::Schedule schedule;
  for (int minute = 0; minute < 10; ++minute) {
    schedule.timeline.push_back({.at = Time{minute * 1min},
                                 .gpus_total = 8,
                                 .gpus_busy = minute % 5,
                                 .gpus_waiting = 10 * minute,
                                 .jobs_running = 1,
                                 .jobs_waiting = static_cast<std::uint32_t>(minute)});
  }
  const figure::Figure drawn = draw_timelines(std::vector{timeline_of("fifo", schedule, 2)});
  EXPECT_THAT(drawn["time_s"].numbers, ElementsAre(0, 300));
  EXPECT_THAT(drawn["gpus_busy"].numbers, ElementsAre(2, 2));
  EXPECT_THAT(drawn["gpus_busy_min"].numbers, ElementsAre(0, 0));
  EXPECT_THAT(drawn["gpus_busy_max"].numbers, ElementsAre(4, 4));
  EXPECT_THAT(drawn["jobs_waiting"].numbers, ElementsAre(2, 7));
  EXPECT_THAT(drawn["jobs_waiting_max"].numbers, ElementsAre(4, 9));
  EXPECT_THAT(drawn["gpus_waiting_max"].numbers, ElementsAre(40, 90));
  EXPECT_THAT(drawn["gpus_total"].numbers, ElementsAre(8, 8));
}

TEST(RunTimeline, BringsPoliciesToOneWidth) {
  sim::Schedule brief;
  sim::Schedule lengthy;
  for (int minute = 0; minute < 20; ++minute) {
    const sim::Sample sample{.at = Time{minute * 1min}, .gpus_total = 8, .gpus_busy = minute};
    if (minute < 10) brief.timeline.push_back(sample);
    lengthy.timeline.push_back(sample);
  }
  const Timeline narrow = timeline_of("brief", brief, 10);
  EXPECT_EQ(narrow.width, 1min);
  const figure::Figure drawn =
      draw_timelines(std::vector{narrow, timeline_of("lengthy", lengthy, 10)});
  EXPECT_THAT(drawn["policy"].texts,
              ElementsAre("brief", "brief", "lengthy", "lengthy", "lengthy", "lengthy"));
  EXPECT_THAT(drawn["gpus_busy"].numbers, ElementsAre(2, 7, 2, 7, 12, 17));
}

TEST(RunGantt, LaysJobsOntoTheirNodes) {
  // On the one node of a: jobs 1 and 2 at the same time, then 3, which waited for both.
  const Report report(prepared({{0s, 4, 1h, "a", "ann"},
                                {0s, 4, 2h, "a", "bob"},
                                {0s, 8, 1h, "a", "cem"},
                                {0s, 1, 1h, "b", "ann"}}));
  ASSERT_THAT(report.plan.windows, SizeIs(2));
  EXPECT_EQ(report.plan.windows[0].vc, VcId{0}) << "the larger backlog";
  EXPECT_DOUBLE_EQ(report.plan.windows[0].backlog_s, (4 * 3600 + 8 * 3600 + 8 * 3600) / 8.0);
  EXPECT_EQ(report.plan.windows[0].from, Time{0s}) << "not before the first job";
  EXPECT_EQ(report.plan.windows[0].until, Time{12h});
  const figure::Figure& gantt = report.figure("run_gantt");
  ASSERT_EQ(gantt.rows(), 4U);
  EXPECT_THAT(gantt["node"].texts, ElementsAre("node 0", "node 0", "node 0 (2)", "node 0"));
  EXPECT_THAT(gantt["from_s"].numbers, ElementsAre(0, 7200, 0, 0));
  EXPECT_THAT(gantt["until_s"].numbers, ElementsAre(3600, 10800, 7200, 3600));
  EXPECT_THAT(gantt["wait"].texts,
              ElementsAre("did not wait", "waited hours", "did not wait", "did not wait"));
  EXPECT_EQ(gantt["job"].texts[1], "job 3 of cem, 8 GPUs, waited 2h 00m");
}

TEST(RunGantt, KeepsTheJobsWithMostGpuTime) {
  std::vector<JobOf> jobs;
  for (int at = 0; at < 30; ++at) jobs.push_back({at * 1min, 1, 1min, "a", "ann"});
  jobs.push_back({40min, 8, 10h, "a", "bob"});
  const experiment::Prepared run = prepared(jobs);
  const RunInput input(run);
  const GanttLimits limits{.vcs = 1, .bars = 20};
  const auto windows = gantt_windows(input, limits);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].until - windows[0].from, 3h + 40min)
      << "three hours on both sides at least, however many jobs come, from the first on";
  const auto schedule = experiment::simulate_run(run, 0);
  const auto bars = gantt_of(input, windows, *schedule, limits);
  EXPECT_EQ(bars.back().job, 30U);
  EXPECT_EQ(bars.back().until, windows[0].until) << "cut at the window";
  EXPECT_THAT(gantt_of(input, windows, *schedule, {.vcs = 1, .bars = 3}), SizeIs(3));
}

TEST(RunDocument, ComparesWithTheFirst) {
  // Job 2 is long and first in line behind job 1; sjf lets job 3 pass it.
  const Report report(
      prepared({{0s, 8, 1h, "a", "ann"}, {1min, 8, 10h, "a", "bob"}, {2min, 8, 1h, "a", "cem"}},
               {"fifo", "sjf+given"}));
  // fifo: 60, 659, 718 min; sjf: 60, 719, 118 min.
  EXPECT_EQ(report.document.findings.front().headline,
            "Under sjf+given the average job finishes after 4h 59m, 38 % sooner than under fifo "
            "(7h 59m).");
  EXPECT_THAT(report.words(), Not(HasSubstr("true run times")));
  const figure::Figure& lengths = report.figure("run_lengths");
  EXPECT_THAT(lengths["length"].texts, ElementsAre("15 min to 6 h", "over 6 h"));
  EXPECT_THAT(lengths["avg_wait_s:fifo"].numbers, ElementsAre(658 * 60 / 2, 59 * 60));
  EXPECT_THAT(lengths["avg_wait_s:sjf+given"].numbers, ElementsAre(58 * 60 / 2, 119 * 60));
  const figure::Figure& side = report.figure("run_comparison");
  EXPECT_THAT(side["policy"].texts, ElementsAre("fifo", "sjf+given"));
  EXPECT_DOUBLE_EQ(side["waited"].numbers[0], 2 / 3.0);
}

/// As above; what the orders that know how long jobs run gain is plain.
experiment::Prepared short_behind_long(std::vector<std::string> policies) {
  return prepared({{0s, 8, 1h, "a", "ann"}, {1min, 8, 10h, "a", "bob"}, {2min, 8, 1h, "a", "cem"}},
                  std::move(policies));
}

TEST(RunDocument, DoesNotRecommendAnOracle) {
  const Report beside(short_behind_long({"fifo", "sjf"}));
  EXPECT_EQ(beside.document.findings.front().headline,
            "No deployable policy has a shorter mean completion time than fifo (7h 59m).");
  EXPECT_THAT(beside.words(),
              HasSubstr("the oracle sjf reaches a mean completion time of 4h 59m."));
  const figure::Figure& side = beside.figure("run_comparison");
  EXPECT_THAT(side["caution"].texts, ElementsAre("", "oracle"));
  EXPECT_THAT(side["needs"].texts, ElementsAre("", "true run times"));
  EXPECT_THAT(side.caption, HasSubstr("An oracle uses true run times"));
  // The first is better than what can be chosen, but is no choice itself.
  EXPECT_EQ(Report(short_behind_long({"sjf", "fifo"})).document.findings.front().headline,
            "Of the deployable policies, fifo has the shortest mean completion time: 7h 59m.");
  const Report only(short_behind_long({"sjf", "srtf"}));
  EXPECT_THAT(only.words(), HasSubstr("Every policy here is an oracle: it uses true run times"));
}

TEST(RunDocument, NamesWhatIsDrawnAtFirst) {
  const figure::Compared compared =
      Report(short_behind_long({"fifo", "sjf", "sjf+given"})).document.compared;
  EXPECT_EQ(compared.baseline, "fifo");
  EXPECT_EQ(compared.best, "sjf");
  EXPECT_EQ(compared.best_choice, "sjf+given") << "as good, and told nothing";
  ASSERT_THAT(compared.policies, SizeIs(3));
  EXPECT_EQ(compared.policies[1].caution, "oracle");
  EXPECT_EQ(compared.policies[2].caution, "");
}

TEST(RunDocument, DrawsEveryPolicyOfAGroup) {
  const Report report(short_behind_long({"fifo", "sjf", "sjf+given"}));
  EXPECT_THAT(report.figure("run_lengths").charts[0].y,
              ElementsAre("avg_wait_s:fifo", "avg_wait_s:sjf", "avg_wait_s:sjf+given"));
  const figure::Figure& side = report.figure("run_comparison");
  EXPECT_EQ(side.compared, "policy");
  EXPECT_TRUE(report.figure("run_bars").charts[0].sorted);
  EXPECT_EQ(side["avg_wait_s"].better, "less");
}

TEST(RunDocument, DrawsARangeAsABand) {
  const Report report(three_jobs());
  const figure::Chart& taken = report.figure("run_timeline").charts[1];
  EXPECT_THAT(taken.y, ElementsAre("gpus_busy", "gpus_total"));
  ASSERT_TRUE(taken.band);
  EXPECT_EQ(taken.band->low, "gpus_busy_min");
  EXPECT_EQ(taken.band->high, "gpus_busy_max");
}

TEST(RunDocument, SaysThatTheNodesAreAssumedAndDrawsNoSleepOfNodesThatNeverSlept) {
  const Report report(three_jobs());
  const figure::Figure& energy = report.figure("run_energy");
  EXPECT_THAT(energy.charts[0].y, ElementsAre("energy_kwh", "bound_kwh"));
  EXPECT_THAT(energy.caption, HasSubstr("Power model dgx1, assumed (choose another with --power)"));
  experiment::Prepared told = three_jobs();
  told.experiment.power = "helios";
  EXPECT_THAT(Report(std::move(told)).figure("run_energy").caption, Not(HasSubstr("assumed")));
}

TEST(RunDocument, DoesNotMentionOraclesIfThereAreNone) {
  const Report report(short_behind_long({"fifo", "sjf+given"}));
  EXPECT_THAT(report.words(), Not(HasSubstr("oracle")));
  EXPECT_THAT(report.words(), Not(HasSubstr("true run times")));
  EXPECT_THAT(report.figure("run_comparison").caption, Not(HasSubstr("oracle")));
}

TEST(RunDocument, RecommendsNoPolicyThatNeedsCheckpointsAndSaysWhatOneWouldReach) {
  // srtf stops job 2 for job 3, and so does chronus, at the end of a lease; both believe the log.
  const std::vector<JobOf> jobs = {
      {0s, 8, 10h, "a", "ann"}, {30min, 8, 1h, "a", "bob"}, {2h, 8, 1h, "a", "cem"}};
  const Report report(
      prepared(jobs, {"fifo", "srtf+given", "chronus+given", "sjf+given", "sjf", "chronus"}));
  const std::string advice = report.document.findings.front().advice;
  EXPECT_EQ(best_policy(report.digests), 0U);
  EXPECT_EQ(report.document.compared.best_choice, "fifo");
  EXPECT_EQ(report.document.tiles[0].value, "fifo");
  EXPECT_THAT(advice, HasSubstr("srtf+given preempts jobs. If every job can resume from a "
                                "checkpoint, it is faster"));
  EXPECT_THAT(advice, Not(HasSubstr("chronus")));
  for (const std::size_t stopping : {1U, 2U, 5U}) {
    EXPECT_GT(report.digests[stopping].summary.preemptions, 0U) << stopping;
  }
  const Report all_stop(prepared(jobs, {"las", "srtf+given"}));
  EXPECT_EQ(all_stop.document.tiles[0].value, "srtf+given") << "no other policy was simulated";
  EXPECT_THAT(all_stop.document.findings.front().advice,
              HasSubstr("srtf+given preempts jobs, so they must be able to resume"));
}

TEST(RunDocument, ComparesAlmanacWithTheNextPolicyAndRecommendsItAmongEquals) {
  const Report report(short_behind_long({"almanac", "fifo", "sjf+given"}));
  EXPECT_THAT(report.figure("run_comparison")["policy"].texts,
              ElementsAre("almanac", "fifo", "sjf+given"));
  EXPECT_EQ(report.document.compared.baseline, "fifo");
  EXPECT_EQ(report.document.tiles[1].label, "Gain over fifo");
  EXPECT_THAT(report.words(), HasSubstr("than under fifo"));

  std::vector<PolicyDigest> digests = report.digests;
  const auto set = [&](std::size_t at, double wait_s) {
    digests[at].summary.avg_wait_s = wait_s;
    digests[at].summary.avg_jct_s = 3600 + wait_s;
  };
  set(1, 9000);
  set(2, 5000);
  set(0, 5099);
  EXPECT_EQ(best_policy(digests), 0U) << "2 % of the wait are no difference";
  set(0, 5101);
  EXPECT_EQ(best_policy(digests), 2U);
  set(0, 4000);
  digests[0].summary.preemptions = 7;
  EXPECT_EQ(best_policy(digests), 0U) << "it stops marked jobs only";
}

TEST(RunDocument, SaysNothingOfStopsWhereTheBestStopsNothing) {
  const Report report(short_behind_long({"fifo", "sjf+given", "srtf"}));
  EXPECT_THAT(report.document.findings.front().advice, IsEmpty());
}

TEST(RunDocument, PraisesNothingThatWasInterrupted) {
  const Report report(short_behind_long({"fifo", "sjf+given"}));
  std::vector<PolicyDigest> digests = report.digests;
  EXPECT_EQ(best_policy(digests), 1U);
  digests[1].summary.complete = false;
  EXPECT_EQ(best_policy(digests), 0U);
  for (int turn = 0; turn < 2; ++turn, std::swap(digests[0], digests[1])) {
    const auto findings = run_findings(report.input, digests);
    EXPECT_EQ(findings[0].headline, "The run was interrupted: sjf+given after 3 of 3 jobs.");
    EXPECT_EQ(findings[1].headline,
              "Under fifo the average job finishes 7h 59m after its submission.");
    for (std::size_t at = 1; at < findings.size(); ++at) {
      EXPECT_THAT(findings[at].headline + findings[at].detail + findings[at].advice,
                  Not(HasSubstr("sjf")));
    }
  }
  digests[0].summary.complete = false;
  EXPECT_THAT(run_findings(report.input, digests), SizeIs(1)) << "nothing came to its end";
}

TEST(RunDocument, NamesWhoLoses) {
  // 40 short jobs pass 20 long ones, all on one node.
  std::vector<JobOf> jobs = {{0s, 8, 1h, "a", "ann"}};
  for (int at = 0; at < 20; ++at) jobs.push_back({1s, 8, 7h, "a", "bob"});
  for (int at = 0; at < 40; ++at) jobs.push_back({2s, 8, 10min, "a", "cem"});
  const Report report(prepared(jobs, {"fifo", "sjf+given"}));
  EXPECT_THAT(report.words(),
              HasSubstr("The largest loss is that of jobs that run over 6 h: a mean wait"));
  EXPECT_THAT(report.words(), HasSubstr("Other losses: jobs of user bob"));
}

TEST(RunDocument, NamesNobodyOfFewJobs) {
  // bob's one job loses; one job is no average.
  const Report report(
      prepared({{0s, 8, 1h, "a", "ann"}, {1min, 8, 10h, "a", "bob"}, {2min, 8, 1h, "a", "cem"}},
               {"fifo", "sjf+given"}));
  EXPECT_THAT(report.words(), Not(HasSubstr("No group of jobs")));
  EXPECT_THAT(report.words(), Not(HasSubstr("largest loss")));
}

TEST(RunDocument, SaysWhenNobodyLoses) {
  std::vector<JobOf> jobs = {{0s, 8, 1h, "a", "ann"}, {1s, 8, 1h, "a", "bob"}};
  for (int at = 0; at < 40; ++at) jobs.push_back({2s, 4, 10min, "a", "cem"});
  const Report report(prepared(jobs, {"fifo", "sjf+given"}));
  EXPECT_THAT(report.words(),
              HasSubstr("No group of jobs waits notably longer under sjf+given than under fifo"));
}

TEST(RunTiles, NameTheBestItsGainAndWhoLoses) {
  // 40 short jobs of cem pass 20 long ones of bob.
  std::vector<JobOf> jobs = {{0s, 8, 1h, "a", "ann"}};
  for (int at = 0; at < 20; ++at) jobs.push_back({1s, 8, 7h, "a", "bob"});
  for (int at = 0; at < 40; ++at) jobs.push_back({2s, 8, 10min, "a", "cem"});
  const Report report(prepared(jobs, {"fifo", "sjf+given", "sjf"}));
  const auto& tiles = report.document.tiles;
  ASSERT_THAT(tiles, SizeIs(3));
  EXPECT_EQ(tiles[0].label, "Recommended policy");
  EXPECT_EQ(tiles[0].value, "sjf+given");
  EXPECT_EQ(tiles[1].label, "Gain over fifo");
  EXPECT_THAT(tiles[1].value, HasSubstr("% shorter wait"));
  EXPECT_THAT(tiles[1].detail, HasSubstr("No confidence interval: the log has too few"));
  EXPECT_EQ(tiles[2].label, "Who loses");
  EXPECT_EQ(tiles[2].value, "1 of 3 users");
  EXPECT_THAT(tiles[2].detail, HasSubstr("user bob: "));
}

TEST(RunTiles, RecommendNoPolicyUnderWhichJobsNeverEnd) {
  const Report report(short_behind_long({"fifo", "sjf+given"}));
  std::vector<PolicyDigest> digests = report.digests;
  EXPECT_EQ(run_tiles(report.input, digests)[0].value, "sjf+given");
  digests[1].summary.finished = 2;
  digests[1].summary.never_ended = 1;
  EXPECT_EQ(run_tiles(report.input, digests)[0].value, "fifo");
  std::swap(digests[0].summary.finished, digests[1].summary.finished);
  std::swap(digests[0].summary.never_ended, digests[1].summary.never_ended);
  const auto tiles = run_tiles(report.input, digests);
  EXPECT_EQ(tiles[1].value, "not comparable");
  EXPECT_THAT(tiles[1].detail,
              HasSubstr("The means cover 3 jobs under sjf+given, but 2 jobs under fifo."));
}

TEST(RunTiles, SayWhatIsMissing) {
  const auto values = [](std::vector<std::string> policies) {
    const Report report(short_behind_long(std::move(policies)));
    std::vector<std::string> all;
    for (const figure::Tile& tile : report.document.tiles) all.push_back(tile.value);
    return all;
  };
  EXPECT_THAT(values({"fifo"}), ElementsAre("fifo", "not known", "not known"));
  EXPECT_THAT(values({"fifo", "sjf"}), ElementsAre("fifo", "none", "nobody"))
      << "only an oracle is better";
  EXPECT_THAT(values({"sjf", "fifo"}), ElementsAre("fifo", "none", "nobody"));
  EXPECT_THAT(values({"sjf", "srtf"}), ElementsAre("none", "sjf", "not known"));
  EXPECT_THAT(Report(prepared({{0s, 64, 1h, "a", "ann"}})).document.tiles, IsEmpty());
}

TEST(RunGain, HasAnIntervalWhereDaysTellAndNoneOtherwise) {
  WaitsByDay before;
  WaitsByDay after;
  for (int day = 0; day < 30; ++day) {
    before[day] = {.jobs = 10, .wait_s = 1000.0 + 100 * (day * 7 % 11)};
    after[day] = {.jobs = 10, .wait_s = 500.0 + 70 * (day * 5 % 7)};
  }
  const auto interval = gain_interval(before, after);
  ASSERT_TRUE(interval);
  EXPECT_LT(interval->from, interval->to);
  double was = 0;
  double is = 0;
  for (const auto& [day, waits] : before) was += waits.wait_s;
  for (const auto& [day, waits] : after) is += waits.wait_s;
  EXPECT_GT(1 - is / was, interval->from);
  EXPECT_LT(1 - is / was, interval->to);
  after[3].jobs = 9;
  EXPECT_FALSE(gain_interval(before, after)) << "other jobs finished";
  EXPECT_FALSE(gain_interval({{0, {10, 100}}, {1, {10, 100}}}, {{0, {10, 50}}, {1, {10, 60}}}))
      << "two days tell nothing";
}

TEST(RunTradeoff, DrawsOneMarkForEachPolicyAndOraclesHollow) {
  const Report report(short_behind_long({"fifo", "sjf", "sjf+given"}));
  const figure::Figure& figure = report.figure("run_tradeoff");
  EXPECT_THAT(figure["policy"].texts, ElementsAre("fifo", "sjf+given", "sjf"));
  EXPECT_THAT(figure["role"].texts, ElementsAre("Baseline", "Recommended policy", "Oracles"));
  EXPECT_THAT(figure["oracle"].texts, ElementsAre("", "", "oracle"));
  ASSERT_THAT(figure.charts, SizeIs(1)) << "no policy preempted";
  EXPECT_EQ(figure.charts[0].hollow, "oracle");
  EXPECT_EQ(figure.charts[0].labels, "policy");
  EXPECT_TRUE(report.document.sections.front().leads);
}

TEST(RunDocument, LeavesThreadsOutOfTheCommand) {
  EXPECT_EQ(Report(three_jobs()).document.provenance.command, "almanac simulate");
}

TEST(RunDocument, SpeaksOfOneJob) {
  const Report report(prepared({{0s, 8, 1h, "a", "ann"}}));
  EXPECT_EQ(report.document.findings.front().headline,
            "Under fifo the average job finishes 1h 00m after its submission.");
  EXPECT_THAT(report.words(), HasSubstr("No job waits under fifo"));
  EXPECT_THAT(report.words(), Not(HasSubstr("GPU allocation"))) << "no time in which jobs arrive";
  EXPECT_THAT(report.document.absent, SizeIs(3))
      << "one virtual cluster is named, and one user, who shares with nobody";
  EXPECT_EQ(report.figure("run_gantt").rows(), 1U);
}

TEST(RunDocument, SpeaksOfNoJobThatCanStart) {
  const Report report(prepared({{0s, 64, 1h, "a", "ann"}, {0s, 1, 1h, "c", "ann"}}));
  EXPECT_EQ(report.document.findings.front().headline, "No job finished.");
  EXPECT_THAT(report.words(), HasSubstr("2 jobs can never start on this cluster."));
  EXPECT_EQ(report.figure("run_jct_cdf").rows(), 0U);
  EXPECT_THAT(report.plan.windows, IsEmpty());
  EXPECT_THAT(report.words(), Not(HasSubstr("nan")));
}

TEST(RunDocument, SpeaksOfJobsThatHadNotFinished) {
  const experiment::Prepared run = three_jobs();
  const RunInput input(run);
  const DigestPlan plan(input);
  PolicyDigest made = digest_of(input, plan);
  made.summary.finished = 1;
  made.summary.never_ended = 2;
  EXPECT_THAT(run_findings(input, {made})[1].headline, "Under fifo 2 jobs did not finish.");
}

TEST(RunDocument, NeedsNoVirtualCluster) {
  const Report report(prepared({{0s, 8, 1h, "", "ann"}, {0s, 8, 1h, "", "bob"}}, {"fifo"}));
  EXPECT_EQ(report.input.cluster().vcs.size(), 1U) << "merged";
  ASSERT_THAT(report.document.absent, SizeIs(2));
  EXPECT_EQ(report.document.absent[0].id, "run_vcs");
  EXPECT_EQ(report.document.absent[1].id, "run_occupancy");
  EXPECT_EQ(report.figure("run_gantt").rows(), 2U);
}

}  // namespace
}  // namespace almanac::report
