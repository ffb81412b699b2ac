// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each sample of a format against each recogniser, and tables of others against all.
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "trace/format.h"

namespace almanac::trace {
namespace {

/// The beginning of a log of each format that reads jobs.
const std::map<std::string, std::string>& samples() {
  static const std::map<std::string, std::string> all{
      {"almanac", "job_id,submit_s,run_s,gpus,user,vc\n1,0,5,1,ann,a\n"},
      {"almanac-run", "job_id,submit_s,run_s,gpus,start_s,end_s,wait_s,jct_s,preemptions,nodes\n"},
      {"helios",
       "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
       "duration,queue\n"},
      {"acme",
       "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
       "queue,gpu_time\n"},
      {"tacc",
       "job_id,job_name,user,submit_time,start_time,end_time,node_num,gpu_num,timelimit_min,"
       "priority,exit_code,duration,queue\n"},
      {"philly-csv",
       "job_id,submit_time,vc,gpu_num,run_seconds,run_source,e2e_seconds,status,user,attempts,"
       "node_num\n"},
      {"philly", "[{\"status\":\"Pass\",\"vc\":\"a\",\"jobid\":\"1\",\"attempts\":[]}]"},
      {"openb",
       "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
       "deletion_time,scheduled_time\n"},
      {"openb-requests", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"},
      {"sacct", "JobID|JobName|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"},
      {"sacct-json", "{\"jobs\": [{\"job_id\": 1, \"tres\": {}}], \"meta\": {\"Slurm\": {}}}"},
      {"swf", "; Version: 2.2\n1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"},
      {"synergy", "0,alexnet,8,23349,1\n"},
  };
  return all;
}

TEST(Recognition, TellsEachFormatFromEachOther) {
  for (const auto& [name, text] : samples()) {
    const Head head{text};
    const auto found = formats().detect(head);
    ASSERT_TRUE(found) << name << ": " << to_string(found.error());
    EXPECT_EQ((*found)->name, name);
    const double own = (*found)->likeness(head);
    for (const Format& other : formats().all()) {
      if (other.name == name) continue;
      // Our own CSV and the jobs.csv of our runs share most columns.
      const bool is_kin = name.starts_with("almanac") && other.name.starts_with("almanac");
      const bool is_pods = name.starts_with("openb") && other.name.starts_with("openb");
      if (is_kin || is_pods) {
        EXPECT_LE(other.likeness(head), own) << name << " as " << other.name;
      } else {
        EXPECT_LE(other.likeness(head), 0.8 * own) << name << " as " << other.name;
      }
    }
  }
}

TEST(Recognition, TakesOtherDelimiters) {
  for (const char delimiter : {';', '\t'}) {
    std::string text = samples().at("helios");
    for (char& letter : text) letter = letter == ',' ? delimiter : letter;
    const auto found = formats().detect(Head{text});
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ((*found)->name, "helios");
  }
}

TEST(Recognition, LeavesTablesOfOthersAlone) {
  const std::map<std::string, std::string> others{
      {"Blue Waters",
       "job_id,user,queue,submit_time,start_time,end_time,duration,interval,node_num,"
       "gpu_num,state\n"},
      {"Tiresias", "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"},
      {"Pollux", "time,name,application,num_replicas,batch_size,requires_grad\n"},
      {"LSF", "job_id,num_cores,num_hosts,submit_time,start_time,run_time\n"},
      {"Alibaba PAI",
       "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,"
       "plan_gpu,gpu_type\n"},
      {"Alibaba spot",
       "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,"
       "submit_time,duration,job_type\n"},
      {"Alibaba DLRM",
       "instance_sn,role,app_name,cpu_request,gpu_request,rdma_request,"
       "memory_request,creation_time,scheduled_time,deletion_time\n"},
      {"requests", "TIMESTAMP,ContextTokens,GeneratedTokens\n"},
      {"a request log", "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n"},
  };
  for (const auto& [name, text] : others) {
    const auto found = formats().detect(Head{text});
    EXPECT_FALSE(found) << name << " is taken for " << (*found)->name;
  }
}

TEST(Recognition, ShowsNoBytesThatControlATerminal) {
  const auto found = formats().detect(Head{"\x1b]0;title\x07,b\n"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "unknown job log format; the file begins with \"?]0;title?,b\"");
}

TEST(Recognition, SaysThatAFileIsNoText) {
  using namespace std::literals;
  for (const std::string_view bytes : {"PK\x03\x04\x14\0\0,a\n"sv, "\xff\xfe,b\n"sv}) {
    const auto found = formats().detect(Head{std::string(bytes)});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, "a job log must be text in UTF-8, found other bytes");
  }
}

TEST(Recognition, SaysWhatATableResembles) {
  const auto found = formats().detect(
      Head{"job_id,user,submit_time,start_time,end_time,duration,node_num,gpu_num,walltime\n"});
  ASSERT_FALSE(found);
  EXPECT_NE(to_string(found.error()).find("the columns resemble those of"), std::string::npos)
      << to_string(found.error());
}

}  // namespace
}  // namespace almanac::trace
