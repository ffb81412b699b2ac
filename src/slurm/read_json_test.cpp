// SPDX-License-Identifier: Apache-2.0
#include "slurm/read_json.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slurm/fixture_data_test.h"

namespace almanac::slurm {
namespace {

Job job_of(const std::vector<Job>& jobs, std::uint32_t number) {
  const auto found = std::find_if(jobs.begin(), jobs.end(),
                                  [&](const Job& job) { return job.number == JobNumber{number}; });
  EXPECT_NE(found, jobs.end()) << number;
  return found == jobs.end() ? Job{} : *found;
}

TEST(ReadJson, ReadsJobsOf2205) {
  const auto jobs = read_jobs(fixture_data("squeue_22_05.json"));
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  const Job train = job_of(*jobs, 1);
  EXPECT_EQ(train.state, State::running);
  EXPECT_EQ(train.user, "ann");
  EXPECT_EQ(train.limit, 2h);
  EXPECT_EQ(train.gpus, 2);
  EXPECT_EQ(train.gpu_type, "v100");
  EXPECT_EQ(train.gpus_per_node, 2);
  ASSERT_EQ(train.holds.size(), 1U);
  EXPECT_EQ(train.holds[0].node, "g001");
  EXPECT_EQ(train.holds[0].gpus, 0b11U);
  EXPECT_EQ(train.holds[0].gpu_count, 2);
  EXPECT_EQ(train.holds[0].cpus, 4);
  EXPECT_EQ(train.holds[0].memory_gb, 400.0 / 1024);

  const Job gang = job_of(*jobs, 2);
  EXPECT_EQ(gang.state, State::pending);
  EXPECT_EQ(gang.reason, "Resources");
  EXPECT_EQ(gang.gpus, 16);
  EXPECT_EQ(gang.nodes, 2);
  EXPECT_EQ(gang.gpus_per_node, 8);
  EXPECT_EQ(gang.limit, kNoDuration);
  EXPECT_FALSE(gang.held);

  const Job task = job_of(*jobs, 4);
  EXPECT_EQ(task.array, JobNumber{3});
  EXPECT_EQ(task.task, 3);
  const Job rest = job_of(*jobs, 3);
  EXPECT_EQ(rest.tasks, "5-9%2");
  EXPECT_FALSE(rest.task);
  EXPECT_EQ(rest.start, kNoTime);

  const Job held = job_of(*jobs, 6);
  EXPECT_TRUE(held.held);
  EXPECT_EQ(held.partition, "vc2,all");

  const Job failed = job_of(*jobs, 8);
  EXPECT_EQ(failed.state, State::ended);
  EXPECT_EQ(failed.outcome, trace::JobState::failed);
  EXPECT_TRUE(failed.holds.empty());

  const Job after = job_of(*jobs, 9);
  EXPECT_EQ(after.dependency, "afterok:1(unfulfilled)");
  EXPECT_EQ(after.licences, "matlab:2");
  EXPECT_EQ(after.required_nodes, "g004");
  EXPECT_TRUE(after.exclusive);
  EXPECT_EQ(job_of(*jobs, 11).het, JobNumber{10});
  EXPECT_EQ(read_release(fixture_data("squeue_22_05.json")).value(), "22.05.8");
}

TEST(ReadJson, ReadsJobsOfLaterReleases) {
  const auto jobs = read_jobs(fixture_data("jobs_24_05.json"));
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  const Job train = job_of(*jobs, 71);
  EXPECT_EQ(train.state, State::running);
  EXPECT_EQ(train.limit, 2h);
  EXPECT_EQ(train.restarts, 1);
  EXPECT_EQ(train.comment, "ours");
  ASSERT_EQ(train.holds.size(), 2U);
  EXPECT_EQ(train.holds[0].cpus, 6);
  EXPECT_EQ(train.holds[1].cpus, 2);
  EXPECT_EQ(train.holds[1].gpus, 0xf0U);
  EXPECT_EQ(train.holds[0].memory_gb, 2);
  const Job array = job_of(*jobs, 80);
  EXPECT_TRUE(array.held);
  EXPECT_FALSE(array.task);
  EXPECT_EQ(array.tasks, "3-9%2");
  EXPECT_TRUE(array.exclusive);
  EXPECT_EQ(array.limit, kNoDuration);
  EXPECT_EQ(array.gpus, 1) << "as asked, where gres/gpu is not accounted";
  EXPECT_EQ(job_of(*jobs, 81).state, State::completing);
  EXPECT_EQ(job_of(*jobs, 81).holds.size(), 1U);

  const auto older = read_jobs(fixture_data("jobs_23_11.json"));
  ASSERT_TRUE(older) << to_string(older.error());
  const Job task = job_of(*older, 64);
  EXPECT_EQ(task.state, State::configuring);
  EXPECT_EQ(task.task, 4);
  EXPECT_EQ(task.holds[0].cpus, 8) << "four cores of two threads";
  EXPECT_EQ(task.holds[0].gpus, 0b1000U);
  EXPECT_EQ(task.limit, kNoDuration);
}

TEST(ReadJson, ReadsJobsOf2511) {
  const auto jobs = read_jobs(fixture_data("jobs_25_11.json"));
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  const Job train = job_of(*jobs, 91);
  EXPECT_EQ(train.state, State::running);
  EXPECT_EQ(train.gpus, 8) << "--gpus, where gres/gpu is not accounted";
  EXPECT_EQ(train.nodes, 2) << "as allocated, not as requested";
  EXPECT_EQ(train.limit, 2h);
  EXPECT_EQ(train.out, "/home/ann/slurm-%j.out");
  ASSERT_EQ(train.holds.size(), 2U);
  EXPECT_EQ(train.holds[0].gpus, 0x0fU);
  EXPECT_EQ(train.holds[1].gpus, 0xf0U);
  EXPECT_EQ(train.holds[0].cpus, 3);
  EXPECT_EQ(train.holds[1].cpus, 1);
  EXPECT_EQ(train.holds[0].memory_gb, 1.5);
  const Job later = job_of(*jobs, 92);
  EXPECT_EQ(later.state, State::pending);
  EXPECT_EQ(later.reason, "BeginTime");
  EXPECT_EQ(later.eligible - later.submit, 1h);
  EXPECT_EQ(later.gpus, 2);
  EXPECT_EQ(later.gpu_type, "h100");
  EXPECT_EQ(later.limit, kNoDuration);
  EXPECT_FALSE(later.held);
  EXPECT_TRUE(later.holds.empty());
  const Job slow = job_of(*jobs, 94);
  EXPECT_EQ(slow.state, State::ended);
  EXPECT_EQ(slow.outcome, trace::JobState::timeout);
  EXPECT_TRUE(slow.holds.empty()) << "job_resources still lists what it had";
}

TEST(ReadJson, ReadsTheClusterOf2511) {
  const auto nodes = read_nodes(fixture_data("nodes_25_11.json"));
  ASSERT_TRUE(nodes) << to_string(nodes.error());
  ASSERT_EQ(nodes->size(), 4U);
  EXPECT_EQ((*nodes)[0].gpus, 8);
  EXPECT_EQ((*nodes)[0].gpu_type, "h100");
  EXPECT_EQ((*nodes)[0].memory_gb, 512);
  EXPECT_TRUE((*nodes)[1].busy) << "a job is completing";
  EXPECT_FALSE((*nodes)[1].drained) << "planned for a job";
  EXPECT_TRUE((*nodes)[2].drained);
  EXPECT_EQ((*nodes)[2].reason, "fan 2 has stopped");
  EXPECT_TRUE((*nodes)[3].drained);
  EXPECT_EQ((*nodes)[3].gpu_type, "");
  const auto partitions = read_partitions(fixture_data("partitions_25_11.json"));
  ASSERT_TRUE(partitions) << to_string(partitions.error());
  ASSERT_EQ(partitions->size(), 2U);
  EXPECT_EQ((*partitions)[0].nodes.size(), 4U);
  EXPECT_EQ((*partitions)[0].max_time, 48h);
  EXPECT_TRUE((*partitions)[0].up);
  EXPECT_TRUE((*partitions)[1].nodes.empty());
  EXPECT_EQ((*partitions)[1].max_time, kNoDuration);
  EXPECT_FALSE((*partitions)[1].up);
}

TEST(ReadJson, ReadsAccountingOf2511) {
  const auto rows = read_accounting(fixture_data("accounting_25_11.json"));
  ASSERT_TRUE(rows) << to_string(rows.error());
  EXPECT_EQ(rows->unread, 0);
  ASSERT_EQ(rows->jobs.size(), 1U) << "the other one still runs";
  const Job& ended = rows->jobs[0];
  EXPECT_EQ(ended.number, JobNumber{90});
  EXPECT_EQ(ended.user, "ann");
  EXPECT_EQ(ended.outcome, trace::JobState::completed);
  EXPECT_EQ(ended.gpus, 4);
  EXPECT_EQ(ended.gpu_type, "") << "requested without a type";
  EXPECT_EQ(ended.ran, 30s);
  EXPECT_EQ(ended.start - ended.submit, 30s);
  EXPECT_EQ(ended.limit, 1h);
}

TEST(ReadJson, ReadsNodes) {
  const auto nodes = read_nodes(fixture_data("sinfo_22_05.json"));
  ASSERT_TRUE(nodes) << to_string(nodes.error());
  ASSERT_EQ(nodes->size(), 3U);
  const Node& busy = (*nodes)[0];
  EXPECT_EQ(busy.name, "g001");
  EXPECT_EQ(busy.gpus, 8);
  EXPECT_EQ(busy.gpu_type, "v100");
  EXPECT_TRUE(busy.busy);
  EXPECT_EQ(busy.partitions, (std::vector<std::string>{"vc1", "all"}));
  EXPECT_EQ((*nodes)[1].power, Power::powering_up) << "woken, though still powered down";
  EXPECT_EQ((*nodes)[1].shards, 16);
  EXPECT_FALSE((*nodes)[1].drained);
  EXPECT_TRUE((*nodes)[2].drained);
  EXPECT_EQ((*nodes)[2].reason, "bad fan");

  const auto later = read_nodes(fixture_data("nodes_24_05.json"));
  ASSERT_TRUE(later) << to_string(later.error());
  EXPECT_EQ((*later)[0].features, "a100,ib");
  EXPECT_EQ((*later)[0].memory_gb, 512);
  EXPECT_TRUE((*later)[1].drained);
  EXPECT_TRUE((*later)[1].reserved);
  EXPECT_EQ((*later)[2].power, Power::powering_down);
  EXPECT_EQ((*later)[2].gpus, 0);
}

TEST(ReadJson, ReadsPartitionsReservationsLicences) {
  const auto partitions = read_partitions(fixture_data("rest_partitions_22_05.json"));
  ASSERT_TRUE(partitions) << to_string(partitions.error());
  EXPECT_EQ((*partitions)[0].nodes, (std::vector<std::string>{"g001", "g002"}));
  EXPECT_TRUE((*partitions)[0].is_default);
  EXPECT_TRUE((*partitions)[0].up);
  EXPECT_EQ((*partitions)[0].max_time, kNoDuration);
  const auto later = read_partitions(fixture_data("partitions_24_05.json"));
  ASSERT_TRUE(later) << to_string(later.error());
  EXPECT_EQ((*later)[0].nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ((*later)[0].max_time, 48h);
  EXPECT_EQ((*later)[0].priority_tier, 10);
  EXPECT_TRUE((*later)[1].up) << "draining, it starts those that wait";
  EXPECT_FALSE(
      read_partitions(R"({"partitions": [{"name": "x", "state": "INACTIVE"}]})").value()[0].up);
  const auto reservations = read_reservations(fixture_data("rest_reservations_22_05.json"));
  ASSERT_TRUE(reservations) << to_string(reservations.error());
  EXPECT_EQ((*reservations)[0].name, "maint");
  EXPECT_EQ((*reservations)[0].end - (*reservations)[0].start, 1h);
  EXPECT_EQ(read_licences(fixture_data("rest_licenses_22_05.json")).value(),
            (std::vector<Licence>{{.name = "matlab", .total = 10, .used = 0}}));
}

TEST(ReadJson, ReadsAccountingOfJobsThatHaveEnded) {
  const auto rows = read_accounting(fixture_data("sacct_22_05.json"));
  ASSERT_TRUE(rows) << to_string(rows.error());
  const std::vector<Job>* const jobs = &rows->jobs;
  EXPECT_EQ(rows->unread, 0);
  ASSERT_EQ(jobs->size(), 3U) << "two run yet";
  EXPECT_EQ(job_of(*jobs, 8).outcome, trace::JobState::failed);
  const Job cancelled = job_of(*jobs, 10);
  EXPECT_EQ(cancelled.outcome, trace::JobState::cancelled);
  EXPECT_EQ(cancelled.het, JobNumber{10});
  EXPECT_EQ(cancelled.start, kNoTime) << "never ran";
}

TEST(ReadJson, ReadsARunThatWasFollowedByAnotherAsPreempted) {
  const auto rows = read_accounting(R"({"jobs": [{"job_id": 7, "state": {"current": ["REQUEUED"]},
    "time": {"submission": 100, "start": 110, "end": 120, "elapsed": 10}}]})");
  ASSERT_TRUE(rows) << to_string(rows.error());
  EXPECT_EQ(job_of(rows->jobs, 7).state, State::ended);
  EXPECT_EQ(job_of(rows->jobs, 7).outcome, trace::JobState::preempted);
}

TEST(ReadJson, LosesNoRecordOfAccountingToOneThatCannotBeRead) {
  const auto rows = read_accounting(R"({"jobs": [
    {"job_id": 7, "state": {"current": ["BRAND_NEW"]},
     "time": {"submission": 100, "start": 110, "end": 120, "elapsed": 10}},
    {"job_id": 8, "state": {"current": ["COMPLETED"]}, "time": {"end": 120}}]})");
  ASSERT_TRUE(rows) << to_string(rows.error());
  ASSERT_EQ(rows->jobs.size(), 1U);
  EXPECT_EQ(job_of(rows->jobs, 7).outcome, trace::JobState::unknown);
  EXPECT_EQ(rows->unread, 1) << "without a submission";
}

TEST(ReadJson, TellsWhereABatchJobWrites) {
  const auto jobs = read_jobs(R"({"jobs": [
    {"job_id": 1, "job_state": "FAILED", "batch_flag": true, "group_id": 100,
     "current_working_directory": "/home/ann", "standard_output": "/logs/1.out",
     "standard_error": "errors/%j"},
    {"job_id": 2, "job_state": "FAILED", "batch_flag": true,
     "current_working_directory": "/home/ann", "standard_output": null},
    {"job_id": 3, "job_state": "FAILED", "batch_flag": true, "array_job_id": 3,
     "array_task_id": 4, "current_working_directory": "/home/ann"},
    {"job_id": 4, "job_state": "FAILED", "batch_flag": false,
     "current_working_directory": "/home/ann"}]})");
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  EXPECT_EQ(job_of(*jobs, 1).gid, 100U);
  EXPECT_EQ(job_of(*jobs, 1).out, "/logs/1.out");
  EXPECT_EQ(job_of(*jobs, 1).err, "/home/ann/errors/%j");
  EXPECT_EQ(job_of(*jobs, 2).out, "/home/ann/slurm-%j.out");
  EXPECT_EQ(job_of(*jobs, 3).out, "/home/ann/slurm-%A_%a.out");
  EXPECT_EQ(job_of(*jobs, 4).out, "") << "it writes to a terminal";
}

TEST(ReadJson, TakesNoNumberOfAJobForAMissingOne) {
  for (const std::uint32_t number : {65'534U, 65'535U}) {
    const auto jobs = read_jobs(
        fmt::format(R"({{"jobs": [{{"job_id": {0}, "job_state": "PENDING", "array_job_id": {0},
                    "array_task_id": {0}, "user_id": {0}, "priority": {0}}}]}})",
                    number));
    ASSERT_TRUE(jobs) << to_string(jobs.error());
    const Job job = job_of(*jobs, number);
    EXPECT_EQ(job.array, JobNumber{number});
    EXPECT_EQ(job.task, static_cast<std::int32_t>(number));
    EXPECT_EQ(job.uid, number) << "the user nobody is not root";
    EXPECT_EQ(job.priority, number);
    EXPECT_FALSE(job.held);
  }
}

TEST(ReadJson, TakesAnyWishForNoMoreThanAMillion) {
  const auto jobs = read_jobs(R"({"jobs": [{"job_id": 1, "job_state": "PENDING",
    "node_count": 1000000, "tres_per_node": "gres/gpu:1000000,gres/shard:1000000"}]})");
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  EXPECT_EQ(job_of(*jobs, 1).gpus, 1'000'000);
  EXPECT_EQ(job_of(*jobs, 1).shards, 1'000'000);
}

TEST(ReadJson, ReadsNamesThatAreNoText) {
  const auto jobs =
      read_jobs("{\"jobs\": [{\"job_id\": 1, \"job_state\": \"PENDING\", \"name\": \"caf\xe9\"}]}");
  ASSERT_TRUE(jobs) << to_string(jobs.error());
  EXPECT_EQ(job_of(*jobs, 1).name, "caf\xEF\xBF\xBD");
  EXPECT_EQ(read_jobs("{\"jobs\": [\xe9]}").error().code, Code::corrupt);
}

TEST(ReadJson, RefusesWhatIsNotSlurms) {
  EXPECT_EQ(read_jobs("").error().code, Code::corrupt);
  EXPECT_EQ(read_jobs("{\"jobs\": [").error().code, Code::corrupt);
  EXPECT_EQ(read_jobs("{}").error().code, Code::invalid);
  EXPECT_EQ(read_jobs(R"({"jobs": [{"job_state": "RUNNING"}]})").error().code, Code::invalid);
  EXPECT_EQ(read_jobs(R"({"jobs": [{"job_id": 1, "job_state": "ODD"}]})").error().code,
            Code::invalid);
  EXPECT_EQ(read_nodes(R"({"nodes": [{}]})").error().code, Code::invalid);
}

TEST(ReadJson, SaysWhatSlurmSaysWentWrong) {
  EXPECT_EQ(read_trouble(R"({"errors": [{"error": "Invalid job id specified"}, {}]})").value(),
            "Invalid job id specified");
  EXPECT_EQ(read_trouble(R"({"errors": []})").value(), "");
}

}  // namespace
}  // namespace almanac::slurm
