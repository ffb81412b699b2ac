// SPDX-License-Identifier: Apache-2.0
#include "trace/write.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/temporary_folder.h"
#include "table/stream.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

/// A trace of one job that says no more than it must.
Trace plain() {
  Trace trace;
  Job job;
  job.id = trace.key("7");
  job.request.submit = Time(100s);
  job.request.gpus = 8;
  job.outcome.run = 1500ms;
  trace.jobs.push_back(job);
  return trace;
}

std::string written(const Trace& trace, const char* name, const char* format = "") {
  const TemporaryFolder folder;
  EXPECT_TRUE(save_trace(trace, folder / name, format));
  return table::read_file(folder / name).value();
}

TEST(SaveTrace, WritesOnlyColumnsThatSaySomething) {
  EXPECT_EQ(written(plain(), "t.csv"), "job_id,submit_s,run_s,gpus\n7,100,1.5,8\n");
  Trace trace = plain();
  trace.jobs[0].request.user = trace.names.intern("ann");
  trace.jobs[0].outcome.state = JobState::node_fail;
  EXPECT_EQ(written(trace, "t.csv.gz"),
            "job_id,submit_s,run_s,gpus,user,state\n7,100,1.5,8,ann,NODE_FAIL\n");
}

TEST(SaveTrace, WritesDatesBesideSeconds) {
  Trace trace = plain();
  trace.jobs[0].request.submit = Time(1590623906125ms);
  trace.jobs[0].outcome.start = Time(1590624000s);
  trace.jobs.push_back(plain().jobs[0]);
  trace.jobs[1].id = trace.key("8");
  EXPECT_EQ(written(trace, "t.csv", "dated"),
            "job_id,submit_s,submit,run_s,gpus,start_s,start\n"
            "7,1590623906.125,2020-05-27T23:58:26.125Z,1.5,8,1590624000,2020-05-28T00:00:00Z\n"
            "8,100,1970-01-01T00:01:40Z,1.5,8,,\n");
  // The seconds are what is read: the dates are one more way to look at them.
  const TemporaryFolder folder;
  ASSERT_TRUE(save_trace(trace, folder / "t.csv", "dated"));
  const auto back = read_trace(folder / "t.csv");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->jobs[1].request.submit, Time(1590623906125ms));
}

TEST(SaveTrace, WritesAHeaderForNoJobs) { EXPECT_EQ(written(Trace(), "t.csv"), "job_id\n"); }

TEST(SaveTrace, WritesSwf) {
  Trace trace = plain();
  Job& job = trace.jobs[0];
  job.request.user = trace.names.intern("ann");
  job.request.vc = trace.names.intern("large");
  job.request.qos = trace.names.intern("night");
  trace.machine = {.nodes = 4, .gpus = 32};
  job.request.time_limit = 1h;
  job.outcome.start = Time(160s);
  job.outcome.state = JobState::completed;
  EXPECT_EQ(written(trace, "t.swf"),
            "; Version: 2.2\n"
            "; Note: processors are GPUs; jobs, users and applications are numbered again\n"
            "; MaxJobs: 1\n; MaxRecords: 1\n; UnixStartTime: 100\n; MaxNodes: 4\n; MaxProcs: 32\n"
            "; Queue: 1 night\n; Partition: 1 large\n"
            "1 0 60 2 8 -1 -1 8 3600 -1 1 1 -1 -1 1 1 -1 -1\n");
}

TEST(SaveTrace, WritesSwfThatReadsBack) {
  const TemporaryFolder folder;
  Trace trace = plain();
  trace.jobs[0].outcome.run = 2s;
  trace.jobs[0].request.vc = trace.names.intern("large");
  trace.jobs[0].request.qos = trace.names.intern("night");
  trace.machine = {.nodes = 4, .gpus = 32};
  ASSERT_TRUE(save_trace(trace, folder / "t.swf.zst"));
  const auto again = read_trace(folder / "t.swf.zst");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->jobs[0].request.submit, Time(100s));
  EXPECT_EQ(again->jobs[0].outcome.run, 2s);
  EXPECT_EQ(again->jobs[0].request.gpus, 8);
  EXPECT_EQ(again->names[again->jobs[0].request.vc], "large");
  EXPECT_EQ(again->names[again->jobs[0].request.qos], "night");
  EXPECT_EQ(again->machine.nodes, 4);
  EXPECT_EQ(again->machine.gpus, 32);
}

TEST(SaveTrace, WritesShardsThatReadBack) {
  const TemporaryFolder folder;
  Trace trace = plain();
  trace.jobs[0].request.gpus = 0;  // next to whole GPUs, shards would be part of them
  trace.jobs[0].request.shards = 3;
  trace.jobs[0].request.mps = 50;
  ASSERT_TRUE(save_trace(trace, folder / "t.csv"));
  const auto again = read_trace(folder / "t.csv");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->jobs[0].request.shards, 3);
  EXPECT_EQ(again->jobs[0].request.mps, 50);
  EXPECT_TRUE(std::isnan(again->jobs[0].outcome.step_s));
}

TEST(SaveTrace, KnowsNoOtherFormat) {
  const TemporaryFolder folder;
  EXPECT_EQ(save_trace(plain(), folder / "t", "parquet").error().code, Code::usage);
  EXPECT_EQ(folder.size(), 0U);
}

// Round trips.

using rc::gen::inRange;

std::string draw_text() {
  auto text = *rc::gen::string<std::string>();
  std::erase_if(text, [](char c) { return c == '\0' || c == '\r'; });
  return text;
}

Duration draw_length() { return Duration(*inRange<std::int64_t>(0, 100'000'000'000)); }

Time draw_time() { return Time(Duration(*inRange<std::int64_t>(0, 2'000'000'000'000))); }

Job draw_job(Trace& trace, std::uint64_t number) {
  const auto maybe = [] { return *inRange(0, 2) == 1; };
  Job job;
  job.id = maybe() ? trace.key(std::to_string(number)) : trace.key("job " + std::to_string(number));
  Request& request = job.request;
  Outcome& outcome = job.outcome;
  request.submit = draw_time();
  request.gpus = *inRange(0, 1000);
  outcome.run = draw_length();
  for (NameId Request::*field :
       {&Request::name, &Request::user, &Request::vc, &Request::kind, &Request::gpu_type,
        &Request::model, &Request::qos, &Request::account, &Request::data_set}) {
    if (maybe()) request.*field = trace.names.intern(draw_text());
  }
  if (maybe()) request.time_limit = draw_length();
  if (maybe()) request.predicted = draw_length() - draw_length();
  if (maybe()) request.deadline = draw_time();
  if (maybe() && request.deadline != kNoTime) {
    request.worthless_at = request.deadline + draw_length();
  }
  if (maybe()) request.value = static_cast<float>(*inRange(0, 1'000'000)) / 7;
  if (maybe()) request.batch = *inRange(1, 1'000'000'000);
  if (maybe()) request.steps = *inRange<std::int64_t>(1, 1'000'000'000'000);
  if (maybe() && request.gpus > 0) request.max_gpus = request.gpus + *inRange(0, 100);
  if (maybe() && request.max_gpus > 0) request.min_gpus = *inRange(0, request.gpus + 1);
  if (maybe()) request.nodes = *inRange(1, 100);
  if (maybe()) request.gpu_share = static_cast<float>(*inRange(1, 1000)) / 1000;
  if (maybe()) request.cpus = static_cast<float>(*inRange(0, 1'000'000)) / 7;
  if (maybe()) request.memory_gb = static_cast<float>(*inRange(0, 1'000'000)) / 1024;
  if (maybe()) request.gpu_memory_gb = static_cast<float>(*inRange(0, 1'000'000)) / 1024;
  if (maybe() && request.gpus > 0) request.nvlink_gpus = request.gpus;
  if (maybe() && request.nvlink_gpus == 0)
    request.gpu_profile = trace.names.intern(maybe() ? "2g.20gb" : "1g.6gb+me");
  if (maybe()) request.after = trace.key(std::to_string(*inRange(0, 1000)));
  if (maybe()) outcome.start = draw_time();
  if (maybe() && outcome.start != kNoTime) outcome.end = outcome.start + draw_length();
  const auto positive = [] { return static_cast<float>(*inRange(1, 1'000'000)) / 7; };
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  if (maybe()) outcome.reference_cpus = maybe() ? positive() : kEndless;
  if (maybe()) outcome.reference_memory_gb = maybe() ? positive() : kEndless;
  if (maybe()) request.restart_s = static_cast<float>(*inRange(0, 1'000'000)) / 7;
  if (maybe()) request.checkpoint_s = static_cast<float>(*inRange(0, 1'000'000)) / 7;
  if (maybe()) outcome.reference_profile = trace.names.intern(maybe() ? "gpu" : "3g.40gb");
  if (maybe()) outcome.bandwidth_gbs = static_cast<float>(*inRange(0, 1'000'000)) / 7;
  if (maybe()) outcome.step_s = positive();
  if (maybe()) outcome.network_s = positive();
  if (maybe()) outcome.network_gbps = positive();
  if (maybe()) outcome.read_gbs = positive();
  if (maybe()) request.data_gb = positive();
  if (maybe()) request.priority_tier = *inRange(-1'000'000, 1'000'000);
  request.requeue = static_cast<Requeue>(*inRange(0, 3));
  outcome.attempts = *inRange(0, 20);
  outcome.state = static_cast<JobState>(*inRange(0, 9));
  return job;
}

void expect_same(const Trace& a, const Job& x, const Trace& b, const Job& y) {
  RC_ASSERT(a.id(x.id) == b.id(y.id));
  const Request& p = x.request;
  const Request& q = y.request;
  RC_ASSERT(p.submit == q.submit);
  RC_ASSERT(p.gpus == q.gpus);
  RC_ASSERT(p.nodes == q.nodes);
  RC_ASSERT(p.gpu_share == q.gpu_share);
  const auto same = [](float u, float v) { return u == v || (std::isnan(u) && std::isnan(v)); };
  RC_ASSERT(same(p.cpus, q.cpus));
  RC_ASSERT(same(p.memory_gb, q.memory_gb));
  RC_ASSERT(same(p.gpu_memory_gb, q.gpu_memory_gb));
  RC_ASSERT(a.names[p.gpu_profile] == b.names[q.gpu_profile]);
  RC_ASSERT(a.names[x.outcome.reference_profile] == b.names[y.outcome.reference_profile]);
  RC_ASSERT(p.time_limit == q.time_limit);
  RC_ASSERT(p.predicted == q.predicted);
  RC_ASSERT(p.deadline == q.deadline);
  RC_ASSERT(p.worthless_at == q.worthless_at);
  RC_ASSERT(same(p.value, q.value));
  RC_ASSERT(p.batch == q.batch);
  RC_ASSERT(p.steps == q.steps);
  RC_ASSERT(p.max_gpus == q.max_gpus);
  RC_ASSERT(p.min_gpus == q.min_gpus);
  RC_ASSERT(p.nvlink_gpus == q.nvlink_gpus);
  RC_ASSERT(same(p.restart_s, q.restart_s));
  RC_ASSERT(same(p.checkpoint_s, q.checkpoint_s));
  RC_ASSERT(p.priority_tier == q.priority_tier);
  RC_ASSERT(p.requeue == q.requeue);
  RC_ASSERT((p.after == kNoJobKey) == (q.after == kNoJobKey));
  if (p.after != kNoJobKey) RC_ASSERT(a.id(p.after) == b.id(q.after));
  for (NameId Request::*field :
       {&Request::name, &Request::user, &Request::vc, &Request::kind, &Request::gpu_type,
        &Request::model, &Request::qos, &Request::data_set}) {
    RC_ASSERT(a.names[p.*field] == b.names[q.*field]);
  }
  const Outcome& r = x.outcome;
  const Outcome& s = y.outcome;
  RC_ASSERT(r.run == s.run);
  RC_ASSERT(r.start == s.start);
  RC_ASSERT(r.end == s.end);
  RC_ASSERT(r.attempts == s.attempts);
  RC_ASSERT(r.state == s.state);
  RC_ASSERT(same(r.reference_cpus, s.reference_cpus));
  RC_ASSERT(same(r.reference_memory_gb, s.reference_memory_gb));
  RC_ASSERT(same(r.bandwidth_gbs, s.bandwidth_gbs));
  RC_ASSERT(same(r.step_s, s.step_s));
  RC_ASSERT(same(r.network_s, s.network_s));
  RC_ASSERT(same(r.network_gbps, s.network_gbps));
  RC_ASSERT(same(r.read_gbs, s.read_gbs));
  RC_ASSERT(same(p.data_gb, q.data_gb));
}

RC_GTEST_PROP(TraceProperty, WhatIsSavedReadsBackTheSame, ()) {
  Trace trace;
  const int count = *inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    trace.jobs.push_back(draw_job(trace, static_cast<std::uint64_t>(i)));
  }
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const Job& a, const Job& b) { return a.request.submit < b.request.submit; });
  const TemporaryFolder folder;
  const std::string path = folder / (*inRange(0, 2) == 0 ? "t.csv" : "t.csv.zst");
  RC_ASSERT(save_trace(trace, path).has_value());
  const auto again = read_trace(path);
  if (!again) RC_FAIL(to_string(again.error()));
  RC_ASSERT(again->jobs.size() == trace.jobs.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    expect_same(trace, trace.jobs[i], *again, again->jobs[i]);
  }
}

}  // namespace
}  // namespace almanac::trace
