// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Reads `content` as the format that it looks like, which must be `format`.
Trace read(std::string_view content, std::string_view format) {
  const TemporaryFolder folder;
  auto trace = read_trace(folder.write("t", content));
  if (!trace) {
    ADD_FAILURE() << to_string(trace.error());
    return {};
  }
  EXPECT_EQ(trace->format, format);
  return std::move(*trace);
}

std::string error(std::string_view content) {
  const TemporaryFolder folder;
  const auto trace = read_trace(folder.write("t", content));
  return trace ? "no error" : to_string(trace.error());
}

std::string_view name(const Trace& trace, NameId id) { return trace.names[id]; }

TEST(Helios, ReadsTheLogAsReleased) {
  const Trace trace = read(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n"
      "301,u1,vcA,16,48,2,TIMEOUT,2020-04-01 00:00:10,2020-04-01 00:01:10,2020-04-01 "
      "01:01:10,3600,60\n"
      "302,u2,vcB,0,4,1,NODE_FAIL,2020-04-01 00:00:11,2020-04-01 00:00:11,2020-04-01 "
      "00:00:12,1,0\n",
      "helios");
  const Job& job = trace.jobs.at(0);
  EXPECT_EQ(job.request.submit, Time(1585699210s));
  EXPECT_EQ(job.outcome.start, Time(1585699270s));
  EXPECT_EQ(job.outcome.run, 1h);
  EXPECT_EQ(job.request.gpus, 16);
  EXPECT_EQ(job.request.cpus, 48);
  EXPECT_EQ(job.request.nodes, 2);
  EXPECT_EQ(job.outcome.state, JobState::timeout);
  EXPECT_EQ(name(trace, job.request.vc), "vcA");
  EXPECT_EQ(trace.jobs.at(1).outcome.state, JobState::node_fail);
  EXPECT_EQ(trace.jobs.at(1).request.gpus, 0);
}

TEST(Helios, ReadsTheLogAsRebuilt) {
  const Trace trace = read(
      "log_row,job_id,submit_time,user,gpu_num,cpu_num,node_num,state,duration,clamped_48h\n"
      "7,,2020-05-28 00:00:00,d1,0,1,1,COMPLETED,87,0\n"
      "8,900,2020-05-28 00:00:01,d1,8,,,,172800,1\n",
      "helios");
  EXPECT_EQ(trace.id(trace.jobs.at(0).id), "log-7");
  EXPECT_EQ(trace.jobs.at(1).outcome.state, JobState::unknown);
  EXPECT_THAT(
      trace.notes,
      ElementsAre("jobs whose duration is only known to be at least 48 h (treated as 48 h): 1",
                  "jobs without a job_id (named log-N after their log_row): 1"));
}

TEST(Helios, TakesASuspendedRow) {
  EXPECT_EQ(read("job_id,submit_time,gpu_num,duration,state\n1,2020-05-28 00:00:00,1,5,SUSPENDED\n",
                 "helios")
                .jobs.at(0)
                .outcome.state,
            JobState::running);
}

TEST(Helios, DerivesTheStartFromTheQueue) {
  const Trace trace =
      read("job_id,submit_time,gpu_num,duration,queue\n1,2020-05-28 00:00:00,1,5,90\n", "helios");
  EXPECT_EQ(trace.jobs.at(0).outcome.start - trace.jobs.at(0).request.submit, 90s);
}

TEST(Acme, TakesTheRunTimeOfKalosFromStartAndEnd) {
  // Its duration counts from submission: 10 s of waiting and 8 s of running are 18.
  const Trace trace = read(
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,"
      "submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n"
      "dlc1,u1,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 "
      "11:01:08+00:00,2023-05-17 11:01:16+00:00,2023-05-17 11:01:16+00:00,,18,10.0,1152.0\n"
      "dlc2,u1,8,64,960,1000,100.0,Other,CANCELLED,2023-05-17 11:28:42+00:00,2023-05-17 "
      "11:28:54+00:00,2023-05-17 11:30:04+00:00,,2023-05-17 11:30:04+00:00,82,12.0,5248.0\n",
      "acme");
  EXPECT_EQ(trace.jobs.at(0).outcome.run, 8s);
  EXPECT_EQ(trace.jobs.at(1).outcome.run, 70s);
  EXPECT_EQ(trace.jobs.at(0).request.memory_gb, 8000);
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.kind), "Other");
  EXPECT_THAT(trace.notes,
              ElementsAre("the log counts run times from submission, including the wait; end minus "
                          "start is used instead: 2 of 2 jobs, the first is dlc1"));
}

TEST(Acme, ReadsSeren) {
  const Trace trace = read(
      "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
      "queue,gpu_time\n"
      "5,u1,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
      "00:20:51+08:00,117,32,936.0\n"
      "6,u2,4,32,512,Pretrain,NODE_FAIL,2023-03-01 00:30:00+08:00,2023-03-01 "
      "00:31:00+08:00,2023-03-01 02:31:00+08:00,7200,60,230400.0\n",
      "acme");
  EXPECT_EQ(trace.jobs.at(0).request.submit, Time(1677601102s));
  EXPECT_EQ(trace.jobs.at(0).outcome.run, 117s);
  EXPECT_EQ(trace.jobs.at(1).outcome.state, JobState::node_fail);
  EXPECT_THAT(trace.notes, testing::IsEmpty());
}

TEST(PhillyCsv, ReadsTheRebuiltTable) {
  const Trace trace = read(
      "job_id,submit_time,vc,gpu_num,run_seconds,run_source,e2e_seconds,status,user,attempts,node_"
      "num\n"
      "0,2017-08-14 23:27:00,6214e9,1,3613,attempts,3613,Killed,p003,3,1\n"
      "1,2017-08-14 23:27:01,,4,35,e2e,35,Unsuccessful,,,\n"
      "2,2017-08-14 23:27:02,0e4a51,4,35,pollux,35,Pass,,,\n",
      "philly-csv");
  EXPECT_EQ(trace.jobs.at(0).outcome.state, JobState::cancelled);
  EXPECT_EQ(trace.jobs.at(0).outcome.attempts, 3);
  EXPECT_EQ(trace.jobs.at(1).outcome.state, JobState::failed);
  EXPECT_EQ(trace.jobs.at(1).request.vc, kNoName);
  EXPECT_EQ(trace.jobs.at(2).outcome.state, JobState::completed);
  EXPECT_THAT(
      trace.notes,
      ElementsAre(
          "jobs that are Unsuccessful (killed or failed, unknown which; treated as FAILED): 1",
          "jobs whose run_seconds is the time from the first start to the last end: 1"));
}

constexpr const char* kTacc =
    "job_id,job_name,user,submit_time,start_time,end_time,node_num,gpu_num,timelimit_min,priority,"
    "exit_code,duration,queue\n";

TEST(Tacc, TellsStatesFromExitCodes) {
  const std::string times = ",2022-10-05 00:00:00,2022-10-05 00:01:00,";
  const Trace trace = read(std::string(kTacc) + "1,a,u1" + times +
                               "2022-10-05 00:11:00,2,6,20,1,0:0,600,60\n"
                               "2,b,u1" +
                               times +
                               "2022-10-05 00:21:01,2,6,20,1,0:0,1201,60\n"
                               "3,c,u1" +
                               times +
                               "2022-10-05 00:01:05,2,6,20,1,0:15,5,60\n"
                               "4,d,u1" +
                               times + "2022-10-05 00:01:05,2,6,20,1,1:0,5,60\n",
                           "tacc");
  EXPECT_EQ(trace.jobs.at(0).outcome.state, JobState::completed);
  EXPECT_EQ(trace.jobs.at(1).outcome.state, JobState::timeout);
  EXPECT_EQ(trace.jobs.at(2).outcome.state, JobState::cancelled);
  EXPECT_EQ(trace.jobs.at(3).outcome.state, JobState::failed);
  EXPECT_EQ(trace.jobs.at(0).request.time_limit, 20min);
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.name), "a");
}

TEST(Tacc, RefusesAnExitCodeThatIsNone) {
  EXPECT_THAT(
      error(std::string(kTacc) +
            "1,a,u1,2022-10-05 00:00:00,2022-10-05 00:00:00,2022-10-05 00:00:05,2,6,20,1,ok,5,0\n"),
      HasSubstr(":2: exit_code must be code:signal, found \"ok\""));
}

constexpr const char* kOpenb =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
    "time,"
    "scheduled_time\n";

TEST(Openb, ReadsSharesTypesAndMemory) {
  const Trace trace = read(std::string(kOpenb) +
                               "pod-0,12500,16384,1,460,V100M16|V100M32,LS,Running,0,90,10\n"
                               "pod-1,1000,0,0,0,,BE,Succeeded,5,50,5\n",
                           "openb");
  const Job& job = trace.jobs.at(0);
  EXPECT_EQ(trace.id(job.id), "pod-0");
  EXPECT_EQ(job.request.gpus, 1);
  EXPECT_FLOAT_EQ(job.request.gpu_share, 0.46F);
  EXPECT_FLOAT_EQ(job.request.cpus, 12.5F);
  EXPECT_FLOAT_EQ(job.request.memory_gb, 16);
  EXPECT_EQ(name(trace, job.request.gpu_type), "V100M16|V100M32");
  EXPECT_EQ(name(trace, job.request.qos), "LS");
  EXPECT_EQ(job.outcome.run, 80s);
  EXPECT_EQ(job.outcome.state, JobState::running);
  EXPECT_EQ(trace.jobs.at(1).request.gpu_share, 1);
}

TEST(Openb, TakesPodsThatNeverRanOrNeverEnded) {
  const Trace trace = read(std::string(kOpenb) +
                               "pod-0,1,1,1,1000,,LS,Pending,0,90,\n"
                               "pod-1,1,1,1,1000,,LS,Running,20,,30\n",
                           "openb");
  EXPECT_EQ(trace.jobs.at(0).outcome.run, 0s);
  EXPECT_EQ(trace.jobs.at(1).outcome.run, 60s);
  EXPECT_EQ(trace.notes.size(), 2U);
}

// As the authors' lists openb_pod_list_cpu*.csv begin: whole and broken numbers of cores.
TEST(Openb, KeepsPodsWithoutGpus) {
  const Trace trace = read(std::string(kOpenb) +
                               "pod-0,8000,30517,0,0,,BE,Running,11811762,11827364,11811762\n"
                               "pod-1,16500,51200,0,0,,LS,Running,11811763,11812769,11811798\n",
                           "openb");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].request.gpus, 0);
  EXPECT_EQ(trace.jobs[0].request.cpus, 8);
  EXPECT_FLOAT_EQ(trace.jobs[0].request.memory_gb, 30517.0F / 1024);
  EXPECT_EQ(trace.jobs[0].outcome.run, 15602s);
  EXPECT_EQ(trace.jobs[1].request.cpus, 16.5F);
  EXPECT_EQ(trace.jobs[1].outcome.run, 971s);
}

TEST(Openb, RefusesAShareOfNothing) {
  EXPECT_THAT(error(std::string(kOpenb) + "pod-0,1,1,1,0,,LS,Running,0,90,10\n"),
              HasSubstr(":2: gpu_milli must be 1 to 1000, found \"0\""));
}

TEST(Openb, ReadsListsWithoutTimes) {
  const Trace trace = read(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,500\nb,1,1,2,1000\n", "openb-requests");
  EXPECT_EQ(trace.jobs.at(1).request.submit, Time(1s));
  EXPECT_EQ(trace.jobs.at(0).request.gpu_share, 0.5F);
}

TEST(SacctText, ReadsJobsAndLeavesOutSteps) {
  const Trace trace = read(
      "JobID|JobName|User|Partition|Submit|Start|End|Elapsed|Timelimit|State|AllocTRES|ReqTRES|"
      "NodeList\n"
      "12|a \"b\"|ann|gpu|2024-01-01T00:00:00|2024-01-01T00:00:05|2024-01-02T00:00:05|1-00:00:00|"
      "UNLIMITED|COMPLETED|billing=8,cpu=8,energy=0,gres/gpu:a100=8,gres/"
      "gpu=8,mem=100G,node=1||g1\n"
      "12.batch|batch|||2024-01-01T00:00:00|2024-01-01T00:00:05|2024-01-02T00:00:05|1-00:00:00||"
      "COMPLETED|cpu=8||g1\n"
      "13_4|x|ann|gpu|2024-01-01T00:00:01|None|2024-01-01T00:00:09|00:00:00|01:30:00|"
      "CANCELLED by 1001||cpu=1,gres/gpu=2,mem=500M,node=1|None assigned\n"
      "14+0|x|bob|gpu|2024-01-01T00:00:02|2024-01-01T00:00:03|Unknown|00:10:00|01:30:00|RUNNING|"
      "gres/gpu:h100=1,gres/gpu:a100=2||g[1-3]\n",
      "sacct");
  ASSERT_EQ(trace.jobs.size(), 3U);
  const Job& done = trace.jobs[0];
  EXPECT_EQ(name(trace, done.request.name), "a \"b\"");
  EXPECT_EQ(done.request.gpus, 8);
  EXPECT_EQ(name(trace, done.request.gpu_type), "a100");
  EXPECT_EQ(done.request.memory_gb, 100);
  EXPECT_EQ(done.request.time_limit, kNoDuration);
  EXPECT_EQ(done.outcome.run, 24h);
  const Job& cancelled = trace.jobs[1];
  EXPECT_EQ(trace.id(cancelled.id), "13_4");
  EXPECT_EQ(cancelled.request.gpus, 2);
  EXPECT_EQ(cancelled.request.time_limit, 90min);
  EXPECT_EQ(cancelled.outcome.state, JobState::cancelled);
  EXPECT_EQ(cancelled.outcome.start, kNoTime);
  const Job& running = trace.jobs[2];
  EXPECT_EQ(trace.id(running.id), "14+0");
  EXPECT_EQ(running.request.gpus, 3);
  EXPECT_EQ(name(trace, running.request.gpu_type), "h100|a100");
  EXPECT_EQ(running.outcome.run, 10min);
  EXPECT_EQ(running.outcome.end, kNoTime);
  EXPECT_THAT(trace.notes, ElementsAre("jobs still running (their run time so far is used): 1",
                                       "lines of job steps left out: 1"));
}

TEST(SacctText, PrefersRawNumbersAndTakesATrailingDelimiter) {
  const Trace trace = read(
      "JobID|Account|Submit|ElapsedRaw|Elapsed|TimelimitRaw|AllocGRES|\n"
      "12|lab|2024-01-01T00:00:00|61|00:01:01|90|gpu:a100:4|\n",
      "sacct");
  EXPECT_EQ(trace.jobs.at(0).outcome.run, 61s);
  EXPECT_EQ(trace.jobs.at(0).request.time_limit, 90min);
  EXPECT_EQ(trace.jobs.at(0).request.gpus, 4);
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.vc), "lab");
}

TEST(SacctText, KeepsCpuJobsWithWhatAllTheirNodesGive) {
  const Trace trace = read(
      "JobID|Submit|ElapsedRaw|AllocTRES\n"
      "7|2024-01-01T00:00:00|60|billing=24,cpu=24,mem=96G,node=2\n"
      "8|2024-01-01T00:00:01|60|billing=4,cpu=4,gres/gpu=1,mem=16G,node=1\n",
      "sacct");
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Request& request = trace.jobs[0].request;
  EXPECT_EQ(request.gpus, 0);
  EXPECT_EQ(request.nodes, 2);
  EXPECT_EQ(request.cpus, 24) << "12 on each";
  EXPECT_EQ(request.memory_gb, 96);
}

constexpr const char* kSacct =
    "JobID|JobName|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES|NodeList\n";

TEST(SacctText, TakesJobsWithoutALimitOfTheirOwn) {
  const Trace trace = read(
      kSacct + std::string("1|a|gpu|2024-01-01T00:00:00|||60|UNLIMITED|COMPLETED|gres/gpu=1|g1\n"
                           "2|a|gpu|2024-01-01T00:00:01|||60|Partition_Limit|COMPLETED|"
                           "gres/gpu=1|g1\n"
                           "3|a|gpu|2024-01-01T00:00:02|||60|90|COMPLETED|gres/gpu=1|g1\n"),
      "sacct");
  EXPECT_EQ(trace.jobs.at(0).request.time_limit, kNoDuration);
  EXPECT_EQ(trace.jobs.at(1).request.time_limit, kNoDuration);
  EXPECT_EQ(trace.jobs.at(2).request.time_limit, 90min);
}

TEST(SacctText, KeepsBarsInJobNames) {
  const Trace trace =
      read(kSacct + std::string("1|lr=1|wd=0||x |gpu|2024-01-01T00:00:00|||60|90|COMPLETED|"
                                "gres/gpu=4|g1\n"
                                "2|plain|gpu|2024-01-01T00:00:01|||60|90|FAILED|gres/gpu=2|g1\n"),
           "sacct");
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.name), "lr=1|wd=0||x");
  EXPECT_EQ(trace.jobs.at(0).request.gpus, 4);
  EXPECT_EQ(name(trace, trace.jobs.at(1).request.name), "plain");
  EXPECT_THAT(error(kSacct + std::string("1|few|gpu\n")), HasSubstr("as many fields"));
}

TEST(SacctText, ReadsTheCommentOfAJob) {
  const Trace trace = read(
      "JobID|JobName|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocTRES|Comment|"
      "AdminComment\n"
      "1|a|ann|gpu|2024-01-01T00:00:00|||60|COMPLETED|gres/gpu=1|ablation 3|\n"
      "2|a|ann|gpu|2024-01-01T00:00:01|||60|COMPLETED|gres/gpu=2||\n"
      "3|a|ann|gpu|2024-01-01T00:00:02|||60|COMPLETED|gres/gpu=4|a|b|c\n",
      "sacct");
  ASSERT_EQ(trace.jobs.size(), 3U) << "a bar that may be of either comment refuses no row";
  EXPECT_EQ(name(trace, trace.jobs[0].request.comment), "ablation 3");
  EXPECT_EQ(trace.jobs[1].request.comment, kNoName);
  EXPECT_EQ(trace.jobs[2].request.gpus, 4);
}

TEST(SacctText, MakesOneJobOfTheSizesOfAResizedOne) {
  const Trace trace =
      read(kSacct + std::string("7|a|gpu|2024-01-01T00:00:00|||60|90|RESIZING|gres/gpu=4|g1\n"
                                "7|a|gpu|2024-01-01T00:00:00|||90|90|COMPLETED|gres/gpu=2|g1\n"),
           "sacct");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].request.gpus, 4);
  EXPECT_EQ(trace.jobs[0].outcome.run, 105s) << "60 s on 4 GPUs and 90 s on 2";
  EXPECT_EQ(trace.jobs[0].outcome.state, JobState::completed);
  EXPECT_THAT(
      trace.notes,
      ElementsAre(
          "jobs that were resized (one job each, with the first size and the total GPU time): 1"));
}

TEST(SacctText, TakesPartitionsThatShareNodesForOne) {
  const Trace trace =
      read(kSacct + std::string(
                        "1|a|gpu|2024-01-01T00:00:00|||60|90|COMPLETED|gres/gpu=4|g[01-02]\n"
                        "2|a|debug|2024-01-01T00:00:01|||60|90|COMPLETED|gres/gpu=1|g02\n"
                        "3|a|a100,gpu|2024-01-01T00:00:02|||60|90|COMPLETED|gres/gpu=8|x1\n"
                        "4|a|gpu|2024-01-01T00:00:03|||0|90|CANCELLED|gres/gpu=8|None assigned\n"),
           "sacct");
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.vc), "debug+gpu");
  EXPECT_EQ(name(trace, trace.jobs.at(1).request.vc), "debug+gpu");
  EXPECT_EQ(name(trace, trace.jobs.at(2).request.vc), "a100");
  EXPECT_EQ(name(trace, trace.jobs.at(3).request.vc), "debug+gpu");
  EXPECT_THAT(trace.notes,
              ElementsAre("partitions debug, gpu share nodes, so they are treated as one",
                          "jobs that name several partitions (counted in the first one): 1"));
}

TEST(SacctText, SaysWhatItAssumesOfPartitionsWithoutNodes) {
  const Trace trace = read(
      "JobID|Partition|Submit|ElapsedRaw|AllocTRES\n"
      "1|gpu|2024-01-01T00:00:00|60|gres/gpu=4\n"
      "2|debug|2024-01-01T00:00:01|60|gres/gpu=4\n",
      "sacct");
  EXPECT_EQ(name(trace, trace.jobs.at(0).request.vc), "gpu");
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("2 partitions are assumed to share no node"));
}

TEST(SacctText, SaysWhyThereMayBeNoGpus) {
  const Trace trace =
      read("JobID|Submit|ElapsedRaw|AllocTRES\n1|2024-01-01T00:00:00|60|cpu=4\n", "sacct");
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("AccountingStorageTRES=gres/gpu"));
}

TEST(SacctText, GivesTheCommandWhereAColumnIsMissing) {
  EXPECT_THAT(error("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n1|a|b|c|1|X|0:0\n"),
              HasSubstr("sacct -aPXD -S now-60days -o JobID,JobName,User,Account,"));
  EXPECT_THAT(error("JobID|Submit|Elapsed\n1|2024-01-01T00:00:00|00:01:01\n"),
              HasSubstr("sacct -aPXD"));
}

TEST(SacctText, RefusesNumbersThatNoJobCanHave) {
  EXPECT_THAT(
      error("JobID|Submit|ElapsedRaw|AllocTRES\n"
            "1|2024-01-01T00:00:00|60|cpu=6,gres/gpu=99999999999\n"),
      HasSubstr(":2: TRES must be a list like cpu=8,gres/gpu=8 of at most 1000000 GPUs, found "
                "\"cpu=6,gres/gpu=99999999999\""));
  EXPECT_THAT(
      error("JobID|Submit|ElapsedRaw|AllocTRES\n"
            "1|2024-01-01T00:00:00|99999999999999999999|gres/gpu=1\n"),
      HasSubstr(":2: ElapsedRaw must be a number of 0 or more, found \"99999999999999999999\""));
}

TEST(SacctText, NeedsAColumnThatCountsGpus) {
  EXPECT_THAT(
      error("JobID|Submit|Elapsed\n1|2024-01-01T00:00:00|00:01:01\n"),
      HasSubstr(":1: the column \"AllocTRES\" or \"ReqTRES\" or \"AllocGRES\" or \"ReqGRES\" is "
                "missing (sacct format): the header has JobID, Submit, Elapsed"));
}

TEST(SacctText, RefusesAJobWithoutASubmission) {
  EXPECT_THAT(error("JobID|Submit|Elapsed|AllocTRES\n1|Unknown|00:01:01|cpu=1\n"),
              HasSubstr(":2: Submit must be known, found \"Unknown\""));
}

TEST(Swf, ReadsTheHeaderAndTheEighteenNumbers) {
  const Trace trace = read(
      "; Version: 2.2\n; UnixStartTime: 1000000\n; Queue: 3 night  (long)\n;\n"
      "  1  5  10  100  8 -1 1024  16 3600 -1  1  4 1 7 3 -1 -1 -1\n"
      "  2  6  -1   -1 -1 -1   -1  -1   -1 -1  5 -1 1 -1 2 -1  1 -1\n"
      "  3  7   0    9  4 -1   -1  -1   -1 -1  2 -1 1 -1 2 -1 -1 -1\n",
      "swf");
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(job.request.submit, Time(1000005s));
  EXPECT_EQ(job.outcome.start, Time(1000015s));
  EXPECT_EQ(job.outcome.end, Time(1000115s));
  EXPECT_EQ(job.request.gpus, 16);
  EXPECT_EQ(job.request.time_limit, 1h);
  EXPECT_FLOAT_EQ(job.request.memory_gb, 16.0F / 1024);
  EXPECT_EQ(name(trace, job.request.user), "4");
  EXPECT_EQ(name(trace, job.request.name), "7");
  EXPECT_EQ(name(trace, job.request.qos), "night");
  EXPECT_EQ(job.request.vc, kNoName);
  EXPECT_EQ(job.outcome.state, JobState::completed);
  EXPECT_EQ(trace.jobs[1].outcome.state, JobState::cancelled);
  EXPECT_EQ(trace.id(trace.jobs[1].request.after), "1");
  EXPECT_THAT(trace.notes,
              ElementsAre("SWF has no GPUs: processors are treated as GPUs",
                          "the header has no MaxProcs: the size of the machine is "
                          "inferred from the jobs",
                          "jobs of unknown run time (treated as 0 s): 1",
                          "jobs of unknown size (treated as 0 GPUs): 1",
                          "lines left out because they are parts of a checkpointed job: 1"));
}

/// A log with that header and these jobs: submit, wait, run, processors, queue, partition.
std::string swf(const std::string& header, const std::vector<std::array<int, 6>>& jobs) {
  std::string made = header;
  int number = 0;
  for (const auto& [submit, wait, run, processors, queue, partition] : jobs) {
    made += fmt::format("{} {} {} {} {} -1 -1 {} 1000 -1 1 1 1 1 {} {} -1 -1\n", ++number, submit,
                        wait, run, processors, processors, queue, partition);
  }
  return made;
}

constexpr const char* kStart = "; Version: 2.2\n; UnixStartTime: 1700000000\n";

TEST(Swf, TakesTheMachineFromTheHeader) {
  const Trace trace =
      read(swf(std::string(kStart) + "; MaxNodes: 120\n; MaxProcs: 240 (two a node)\n"
                                     "; TimeZoneString: Europe/Stockholm\n",
               {{0, 0, 100, 30, 1, 1}}),
           "swf");
  EXPECT_EQ(trace.machine.gpus, 240);
  EXPECT_EQ(trace.machine.nodes, 120);
  EXPECT_THAT(trace.notes, ElementsAre("SWF has no GPUs: processors are treated as GPUs",
                                       "times are printed in UTC; the cluster's clock is that of "
                                       "Europe/Stockholm"));
}

/// A log of one job, submitted 60 s after the start that `header` gives, read in `time_zone`.
Trace swf_from(const std::string& header, const std::string& time_zone = {}) {
  const TemporaryFolder folder;
  auto trace = read_trace(
      folder.write("t", swf("; Version: 2.2\n; MaxProcs: 8\n" + header, {{60, 0, 100, 8, 1, 1}})),
      {.time_zone = time_zone});
  EXPECT_TRUE(trace) << to_string(trace.error());
  return std::move(*trace);
}

TEST(Swf, TakesStartTimeWhereUnixStartTimeIsMissing) {
  const std::string start = "; StartTime: Fri Oct  1 00:00:03 PDT 1993\n; UnixStartTime: -1\n";
  const Time as_utc(749433603s);
  const Trace bare = swf_from(start);
  EXPECT_EQ(bare.jobs.at(0).request.submit, as_utc + 60s);
  EXPECT_EQ(bare.jobs.at(0).outcome.end, as_utc + 160s);
  EXPECT_TRUE(bare.local_times);
  EXPECT_THAT(bare.notes,
              ElementsAre("SWF has no GPUs: processors are treated as GPUs",
                          "the header has no UnixStartTime, and StartTime (\"Fri Oct  1 00:00:03 "
                          "PDT 1993\") is read as UTC (name the zone of the cluster with "
                          "--time-zone)"));
  const Trace named = swf_from(start, "America/Los_Angeles");
  EXPECT_EQ(named.jobs.at(0).request.submit, as_utc + 7h + 60s);
  EXPECT_EQ(named.time_zone, "America/Los_Angeles");
  const Trace own = swf_from(start + "; TimeZoneString: US/Pacific\n");
  EXPECT_EQ(own.jobs.at(0).request.submit, as_utc + 7h + 60s);
  EXPECT_EQ(own.time_zone, "US/Pacific");
  const Trace zoned = swf_from("; StartTime: Fri Oct  1 00:00:03 UTC 1993\n");
  EXPECT_EQ(zoned.jobs.at(0).request.submit, as_utc + 60s);
  EXPECT_FALSE(zoned.local_times);
  for (const Trace* const each : {&named, &own, &zoned}) EXPECT_EQ(each->notes.size(), 1U);
}

TEST(Swf, SaysThatTimesCountFromTheStartWhereTheHeaderHasNone) {
  const std::string rest =
      ": times count from the start of the log, so days and hours of the day are unknown";
  EXPECT_EQ(swf_from("").notes.back(), "the header has no UnixStartTime and no StartTime" + rest);
  const Trace unread = swf_from("; StartTime: some day in May\n");
  EXPECT_EQ(
      unread.notes.back(),
      "the header has no UnixStartTime and no date in StartTime (\"some day in May\")" + rest);
  EXPECT_EQ(unread.jobs.at(0).request.submit, Time(60s));
}

TEST(Swf, TakesPartitionsForPartsOfTheMachineAndQueuesForClasses) {
  const std::string header = std::string(kStart) +
                             "; MaxProcs: 64\n; Queue: 1 day\n; Queue: 2 "
                             "night\n; Partition: 2 large nodes\n";
  const Trace several =
      read(swf(header, {{0, 0, 100, 8, 1, 1}, {1, 0, 100, 8, 2, 2}, {2, 0, 100, 8, 7, 2}}), "swf");
  EXPECT_EQ(name(several, several.jobs.at(0).request.vc), "1");
  EXPECT_EQ(name(several, several.jobs.at(1).request.vc), "large");
  EXPECT_EQ(name(several, several.jobs.at(0).request.qos), "day");
  EXPECT_EQ(name(several, several.jobs.at(1).request.qos), "night");
  EXPECT_EQ(name(several, several.jobs.at(2).request.qos), "7");
  const Trace one = read(
      swf(std::string(kStart) + "; MaxProcs: 64\n", {{0, 0, 100, 8, 1, 1}, {1, 0, 100, 8, 2, 1}}),
      "swf");
  EXPECT_EQ(one.jobs.at(0).request.vc, kNoName);
}

TEST(Swf, SaysWhereTheHeaderCannotBe) {
  const auto notes_of = [](const std::string& header, const std::vector<std::array<int, 6>>& jobs) {
    const Trace trace = read(swf(kStart + header, jobs), "swf");
    EXPECT_EQ(trace.machine.gpus, 0);
    return trace.notes.back();
  };
  const std::vector<std::array<int, 6>> jobs{{0, 0, 100, 16, 1, 1}, {0, 0, 100, 16, 1, 1}};
  EXPECT_EQ(notes_of("", jobs),
            "the header has no MaxProcs: the size of the machine is inferred from the jobs");
  EXPECT_EQ(notes_of("; MaxProcs: 0\n", jobs),
            "MaxProcs in the header is 0: the size of the machine is inferred from the jobs");
  EXPECT_EQ(notes_of("; MaxProcs: 8\n", jobs),
            "MaxProcs in the header is 8, but 2 of 2 jobs request more, up to 16: the size of the "
            "machine is inferred from the jobs");
  EXPECT_EQ(notes_of("; MaxProcs: 16\n", jobs),
            "MaxProcs in the header is 16, but up to 32 processors were in use at once: the size "
            "of the machine is inferred from the jobs");
}

TEST(Swf, NamesTheLineOfAMistake) {
  const std::string start = "; Version: 2.2\n1 0 0 1 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
  EXPECT_THAT(error(start + "2 0 0 1 1\n"), HasSubstr(":3: a line must have 18 numbers, found 5"));
  EXPECT_THAT(error(start + "2 x 0 1 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"),
              HasSubstr(":3: submit time must be a number, found \"x\""));
  EXPECT_THAT(error(start + "2 0 0 -5 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"),
              HasSubstr(":3: run time must be 0 or more, or -1, found -5"));
}

TEST(Synergy, ReadsIterationsOfAKnownModel) {
  const Trace trace = read("0,alexnet,8,23349,1\n1,lstm,126.001,3,4\n", "synergy");
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(trace.id(job.id), "0");
  EXPECT_EQ(name(trace, job.request.model), "alexnet");
  EXPECT_EQ(job.request.submit, Time(8s));
  EXPECT_EQ(job.outcome.run, 23349 * 600ms);
  EXPECT_EQ(job.outcome.step_s, 0.6F);
  EXPECT_EQ(job.outcome.reference_cpus, 3);
  const Job& wide = trace.jobs[1];
  EXPECT_EQ(wide.request.submit, Time(126001ms));
  EXPECT_EQ(wide.request.gpus, 4);
  EXPECT_EQ(wide.outcome.run, 33ms);  // of all GPUs at once
  EXPECT_EQ(wide.outcome.reference_cpus, 12);
  EXPECT_EQ(wide.outcome.reference_memory_gb, 250);
}

TEST(Synergy, NamesTheLineOfAMistake) {
  const std::string start = "0,alexnet,8,23349,1\n";
  EXPECT_THAT(error(start + "1,vgg,8,5,1\n"),
              HasSubstr(":2: the model must be one of alexnet, deepspeech, gnmt, lstm, m5, "
                        "mobilenet, res18, res50, shufflenet, transformer, found \"vgg\""));
  EXPECT_THAT(error(start + "1,lstm,8,5\n"),
              HasSubstr("a line must have the fields id, model, arrival, iterations, GPUs, found"));
  EXPECT_THAT(error(start + "1,lstm,-8,5,1\n"),
              HasSubstr(":2: the arrival must be seconds from 0"));
  EXPECT_THAT(error(start + "1,lstm,8,0,1\n"), HasSubstr(":2: the iterations must be a whole"));
  EXPECT_THAT(error(start + "1,lstm,8,5,0\n"), HasSubstr(":2: the GPUs must be a whole number"));
}

}  // namespace
}  // namespace almanac::trace
