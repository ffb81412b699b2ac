// SPDX-License-Identifier: Apache-2.0
#include "experiment/experiment.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/run_directory.h"
#include "experiment/run_notes.h"
#include "support/temporary_folder.h"

namespace almanac::experiment {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Given {
  std::vector<std::string> policies{"all"};
  std::string speed{};
  bool has_deadline = false;
};

Prepared prepared(const Given& given) {
  trace::Trace trace;
  trace::Job job;
  job.id = trace.key("1");
  job.request.gpus = 1;
  job.outcome.run = 1h;
  if (given.has_deadline) job.request.deadline = Time{2h};
  trace.jobs.push_back(job);
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8}, 1);
  Experiment experiment;
  experiment.policies = given.policies;
  experiment.speed = given.speed;
  auto made = prepare(experiment, std::move(trace), std::move(cluster));
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

constexpr const char* kNotElastic =
    "left out because no job is elastic (--elastic): dorm, dragon, elastic_tiresias, ffdl, hasten, "
    "lyra, ones, optimus, pollux, powerflow, sia, slaq";
constexpr const char* kNoTrials =
    "left out because no job is a trial of a sweep (group, metric): asha, hyperband, hyperdrive, "
    "hypersched, rubberband, themis_auction";
constexpr const char* kNoSignals =
    "left out because no signal is given (--signal): gaia, gavel_cost, stop_and_go";
constexpr const char* kNoPrices =
    "left out because no speed profiles are given (--speed) and no signal is given (--signal): "
    "cynthia";
constexpr const char* kNeither =
    "left out because no job is elastic (--elastic) and no signal is given (--signal): "
    "carbon_scaler";
constexpr const char* kNoTenants = "left out because the cluster has no tenants: hived, yarn_cs";
constexpr const char* kNoGuests =
    "left out because no speed profiles are given (--speed) and the cluster has no tenants: antman";

TEST(Experiment, LeavesOutOfAllWhatTheLogGivesNothingToDo) {
  const Prepared made = prepared({});
  EXPECT_THAT(
      made.left_out,
      ElementsAre("left out because no job has a deadline: chronus",
                  "left out because no speed profiles are given (--speed): coda, synergy_greedy, "
                  "synergy_opt, synergy_tune, afs, allox, gavel, gavel_packed, muri_l, muri_s",
                  "left out because no job has a deadline and no speed profiles are given "
                  "(--speed): elasticflow, genie, promise, thrift, oasis",
                  kNotElastic, kNoTrials, kNoSignals, kNoPrices, kNeither, kNoTenants, kNoGuests));
  for (const std::string& note : made.left_out) EXPECT_THAT(made.notes, Contains(note));
  EXPECT_EQ(made.experiment.policies[0], "almanac");
  EXPECT_EQ(made.experiment.policies[1], "fifo");
  EXPECT_EQ(made.experiment.policies.size(), made.runs.size());
  EXPECT_EQ(made.runs.size() + 42, all_policies().size());
  EXPECT_THAT(made.experiment.policies, Not(Contains("chronus")));
}

TEST(Experiment, WritesOutWhatBracesLeaveOpen) {
  EXPECT_THAT(parse_policies("fifo,,easy"), ElementsAre("fifo", "easy"));
  EXPECT_THAT(
      parse_policies("las:{1,22}:{3..5},fifo"),
      ElementsAre("las:1:3", "las:1:4", "las:1:5", "las:22:3", "las:22:4", "las:22:5", "fifo"));
  EXPECT_THAT(parse_policies("easy+{easy:{2,4},gpu_time}"),
              ElementsAre("easy+easy:2", "easy+easy:4", "easy+gpu_time"));
  // What does not close stays, for the registry to refuse by its name.
  EXPECT_THAT(parse_policies("las:{1,2"), ElementsAre("las:{1,2"));
  EXPECT_THAT(parse_policies("a},b"), ElementsAre("a}", "b"));
}

TEST(Experiment, KeepsWhatOneKindOfDataIsEnoughFor) {
  const Prepared due = prepared({.has_deadline = true});
  EXPECT_THAT(due.left_out,
              ElementsAre(HasSubstr("no speed profiles are given (--speed): coda, "), kNotElastic,
                          kNoTrials, kNoSignals, kNoPrices, kNeither, kNoTenants, kNoGuests));
  EXPECT_THAT(due.experiment.policies, Contains("chronus"));
  EXPECT_THAT(due.experiment.policies, Contains("elasticflow"));
  const Prepared fast = prepared({.speed = "public"});
  EXPECT_THAT(fast.left_out, ElementsAre("left out because no job has a deadline: chronus",
                                         kNotElastic, kNoTrials, kNoSignals, kNeither, kNoTenants));
  EXPECT_THAT(fast.experiment.policies, Contains("elasticflow"));
  EXPECT_THAT(prepared({.speed = "public", .has_deadline = true}).left_out,
              ElementsAre(kNotElastic, kNoTrials, kNoSignals, kNeither, kNoTenants));
}

TEST(Experiment, RunsWhatIsNamed) {
  const Prepared made = prepared({.policies = {"fifo", "chronus", "synergy_tune"}});
  EXPECT_THAT(made.left_out, IsEmpty());
  EXPECT_THAT(made.experiment.policies, ElementsAre("fifo", "chronus", "synergy_tune"));
  EXPECT_THAT(made.notes,
              Contains("chronus cannot use all of its features: no job has a deadline"));
  EXPECT_THAT(prepared({.policies = {"chronus"}, .has_deadline = true}).notes,
              Not(Contains(HasSubstr("cannot use all of its features"))));
}

/// One job on an A100 and an H100, with a signal `carbon` and another one.
Result<Prepared> with_signals(const std::string& policy, const std::string& other) {
  const TemporaryFolder folder;
  const std::string values = folder.write("values.csv", "time,value\n0,1\n");
  trace::Trace trace;
  trace::Job& job = trace.jobs.emplace_back();
  job.id = trace.key("1");
  job.request.gpus = 1;
  job.outcome.run = 1h;
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 1, .gpu_type = "A100"}, 1);
  cluster.add_nodes({.gpus = 1, .gpu_type = "H100"}, 1);
  Experiment experiment;
  experiment.policies = {policy};
  experiment.signals = {"carbon=" + values, other + "=" + values};
  return prepare(experiment, std::move(trace), std::move(cluster));
}

TEST(Experiment, RefusesASignalThatIsNotGiven) {
  EXPECT_TRUE(with_signals("gaia:signal=2", "price"));
  const auto refused = with_signals("gaia:signal=3", "price");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("reads signal 3"));
  EXPECT_THAT(refused.error().message, HasSubstr("carbon, price"));
}

TEST(Experiment, SaysThatThereAreNoGpusOfAContract) {
  const auto notes = [](const std::string& policy, const std::string& signal) {
    const auto made = with_signals(policy, signal);
    EXPECT_TRUE(made) << made.error().message;
    return made->notes;
  };
  const auto finds_none = Contains(HasSubstr("finds n"));
  EXPECT_THAT(notes("gaia", "price/H100"), Not(finds_none));
  EXPECT_THAT(notes("gaia:buys=reserved", "reserved/A100"), Not(finds_none));
  EXPECT_THAT(notes("gaia:buys=reserved", "price/H100"),
              Contains(HasSubstr("finds nothing reserved")));
  EXPECT_THAT(notes("gaia:buys=spot", "price/H100"), Contains(HasSubstr("finds no spot GPUs")));
}

TEST(Experiment, RefusesAJobOfMoreNodesThanAreCounted) {
  trace::Trace trace;
  trace::Job& job = trace.jobs.emplace_back();
  job.id = trace.key("1");
  job.request.gpus = 600'000;
  Experiment experiment;
  experiment.policies = {"easy"};
  const auto made = prepare(experiment, std::move(trace), cluster::uniform(75'000, 8));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "job 1 requests 600000 GPUs, more than 65535 nodes of 8 GPUs have");
}

TEST(RunNotes, TellArrayTasksFromJobsThatDependOnAnother) {
  trace::Trace trace;
  for (const char* const id : {"7_1", "7_2", "70_1"}) {
    trace::Job& job = trace.jobs.emplace_back();
    job.id = trace.key(id);
    job.request.gpus = 1;
    job.outcome.run = 1h;
  }
  trace.jobs[1].request.after = trace.jobs[2].request.after = trace.jobs[0].id;
  std::vector<std::string> notes;
  note_what_is_left_out(trace, cluster::uniform(1, 8), notes);
  EXPECT_THAT(
      notes, ElementsAre("1 job depends on another: each joins the queue when it was eligible, but "
                         "not before the other has ended",
                         "1 array task waits for a place in its array: each joins the queue when "
                         "it was eligible, but not before another task of its array has ended"));
}

// The log has jobs 1 to 6 in this order: 2 and 3 name an earlier one.
TEST(RunNotes, NameTheDependenciesThatAreNotFollowed) {
  trace::Trace trace;
  trace.path = "log.csv";
  const std::map<std::string, std::string> after{{"1", "2"}, {"2", "1"}, {"3", "1"},
                                                 {"4", "9"}, {"5", "8"}, {"6", "6"}};
  for (const auto& [id, other] : after) {
    trace::Job& job = trace.jobs.emplace_back();
    job.id = trace.key(id);
    job.request.gpus = 1;
    job.request.after = trace.key(other);
    job.outcome.run = 1h;
  }
  std::vector<std::string> notes;
  note_what_is_left_out(trace, cluster::uniform(1, 8), notes);
  EXPECT_THAT(
      notes,
      ElementsAre("log.csv: 2 jobs do not wait for the job in column after, because it is not in "
                  "the log (first: job 4)",
                  "log.csv: 2 jobs do not wait for the job in column after, because it is "
                  "submitted later, or the jobs wait for each other in a cycle (first: job 1)",
                  "2 jobs depend on another: each joins the queue when it was eligible, but not "
                  "before the other has ended"));
}

TEST(Experiment, RefusesQueuesOfKueueThatNoPolicyReads) {
  trace::Trace trace;
  trace.jobs.emplace_back().request.gpus = 1;
  Experiment experiment;
  experiment.policies = {"easy"};
  experiment.queues = "queues.json";
  const auto made = prepare(experiment, std::move(trace), cluster::uniform(1, 8));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "--queues requires policy kueue, and none of the policies is it");
}

TEST(Experiment, IsTheSameByTheNamesThatRan) {
  const Prepared all = prepared({});
  const Prepared again = prepared({.policies = all.experiment.policies});
  EXPECT_EQ(configuration_hash(again), configuration_hash(all));
  EXPECT_THAT(again.left_out, IsEmpty());
}

}  // namespace
}  // namespace almanac::experiment
