// SPDX-License-Identifier: Apache-2.0

/// \file
/// One job as sacct of each release prints it: columns and JSON differ, and what is read must not.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

struct SacctPrinted {
  const char* release;
  const char* text;
};

// Until 20.11 GPUs are in AllocGRES too; Reserved became Planned in 22.05; SubmitLine came
// in 21.08.
constexpr SacctPrinted kSacctTexts[] = {
    {"Slurm2011",
     "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
     "AllocTRES|AllocGRES|NNodes|NCPUS|NodeList|Reserved|Priority|Flags\n"
     "7|ann|lab|gpu|high|2026-11-01T08:00:00|2026-11-01T08:10:00|2026-11-01T08:40:00|"
     "2026-11-01T09:40:00|3600|120|CANCELLED by 2001|"
     "billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|gpu:4|1|16|g1|00:30:00|4000|"
     "SchedBackfill\n"},
    {"Slurm2108",
     "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
     "AllocTRES|NNodes|NCPUS|NodeList|Reserved|Priority|Flags|SubmitLine\n"
     "7|ann|lab|gpu|high|2026-11-01T08:00:00|2026-11-01T08:10:00|2026-11-01T08:40:00|"
     "2026-11-01T09:40:00|3600|120|CANCELLED by 2001|"
     "billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|1|16|g1|00:30:00|4000|"
     "SchedBackfill,StartRecieved|sbatch --gres=gpu:a100:4 a.sh\n"},
    {"Slurm2205",
     "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
     "AllocTRES|NNodes|NCPUS|NodeList|Planned|Priority|Flags|SubmitLine\n"
     "7|ann|lab|gpu|high|2026-11-01T08:00:00|2026-11-01T08:10:00|2026-11-01T08:40:00|"
     "2026-11-01T09:40:00|3600|120|CANCELLED by 2001|"
     "billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|1|16|g1|00:30:00|4000|"
     "SchedBackfill|sbatch --gres=gpu:a100:4 a.sh\n"},
    {"Slurm2411",
     "JobID|User|Account|Partition|QOS|QOSREQ|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|"
     "State|AllocTRES|NNodes|NCPUS|NodeList|Planned|Priority|Flags|Restarts|SubmitLine\n"
     "7|ann|lab|gpu|high|high|2026-11-01T08:00:00|2026-11-01T08:10:00|2026-11-01T08:40:00|"
     "2026-11-01T09:40:00|3600|120|CANCELLED by 2001|"
     "billing=16,cpu=16,gres/gpu=4,gres/gpu:a100=4,mem=65536M,node=1|1|16|g1|00:30:00|4000|"
     "StartedOnBackfill|0|sbatch --gres=gpu:a100:4 a.sh\n"},
};

/// `has_set_numbers`: numbers are objects with `set`, and states are lists.
std::string sacct_json_of(bool has_set_numbers) {
  const auto number = [&](std::int64_t value) {
    return has_set_numbers
               ? fmt::format(R"({{"set": true, "infinite": false, "number": {}}})", value)
               : fmt::format("{}", value);
  };
  return fmt::format(
      R"j({{"meta": {{}}, "errors": [], "jobs": [{{"job_id": 7, "user": "ann", "account": "lab",
      "partition": "gpu", "qos": "high", "nodes": "g1", "priority": {}, "restart_cnt": 0,
      "flags": ["STARTED_ON_BACKFILL"], "submit_line": "sbatch --gres=gpu:a100:4 a.sh",
      "array": {{"job_id": 0, "limits": {{"max": {{"running": {{"tasks": 0}}}}}}, "task_id": {},
                 "task": ""}},
      "state": {{"current": {}, "reason": "None"}},
      "time": {{"submission": 1793520000, "eligible": 1793520600, "start": 1793522400,
                "end": 1793526000, "elapsed": 3600, "suspended": 0, "limit": {}}},
      "tres": {{"requested": [], "allocated": [
        {{"type": "cpu", "name": "", "id": 1, "count": 16}},
        {{"type": "mem", "name": "", "id": 2, "count": 65536}},
        {{"type": "node", "name": "", "id": 4, "count": 1}},
        {{"type": "billing", "name": "", "id": 5, "count": 16}},
        {{"type": "gres", "name": "gpu", "id": 1001, "count": 4}},
        {{"type": "gres", "name": "gpu:a100", "id": 1002, "count": 4}}]}}}}]}})j",
      number(4000), has_set_numbers ? R"({"set": false, "infinite": false, "number": 0})" : "null",
      has_set_numbers ? R"(["CANCELLED"])" : R"("CANCELLED")", number(120));
}

void expect_the_job(const Trace& trace) {
  ASSERT_EQ(trace.jobs.size(), 1U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(trace.id(job.id), "7");
  EXPECT_EQ(trace.names[job.request.user], "ann");
  EXPECT_EQ(trace.names[job.request.account], "lab");
  EXPECT_EQ(trace.names[job.request.partition], "gpu");
  EXPECT_EQ(trace.names[job.request.qos], "high");
  EXPECT_EQ(job.request.gpus, 4);
  EXPECT_EQ(trace.names[job.request.gpu_type], "a100");
  EXPECT_EQ(job.request.nodes, 1);
  EXPECT_EQ(job.request.cpus, 16);
  EXPECT_EQ(job.request.memory_gb, 64);
  EXPECT_EQ(job.request.time_limit, 2h);
  EXPECT_EQ(job.request.submit - job.request.submitted, 10min) << "eligible later";
  EXPECT_EQ(job.outcome.start - job.request.submit, 30min);
  EXPECT_EQ(job.outcome.run, 1h);
  EXPECT_EQ(job.outcome.state, JobState::cancelled);
  EXPECT_EQ(job.outcome.priority, 4000);
  EXPECT_EQ(trace.names[job.outcome.node_list], "g1");
}

class SacctRelease : public testing::TestWithParam<SacctPrinted> {};

TEST_P(SacctRelease, PrintsTheSameJob) {
  const TemporaryFolder folder;
  const auto trace = read_trace(folder.write("sacct.txt", GetParam().text));
  ASSERT_TRUE(trace) << to_string(trace.error());
  expect_the_job(*trace);
}

INSTANTIATE_TEST_SUITE_P(Columns, SacctRelease, testing::ValuesIn(kSacctTexts),
                         [](const auto& each) { return std::string(each.param.release); });

/// Numbers alone until v0.0.38, with `set` from v0.0.39 on.
class SacctPlugin : public testing::TestWithParam<bool> {};

TEST_P(SacctPlugin, PrintsTheSameJob) {
  const TemporaryFolder folder;
  const auto trace = read_trace(folder.write("sacct.json", sacct_json_of(GetParam())));
  ASSERT_TRUE(trace) << to_string(trace.error());
  expect_the_job(*trace);
}

INSTANTIATE_TEST_SUITE_P(Numbers, SacctPlugin, testing::Bool());

}  // namespace
}  // namespace almanac::trace
