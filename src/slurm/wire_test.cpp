// SPDX-License-Identifier: Apache-2.0
#include "slurm/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/mark.h"

namespace almanac::slurm {
namespace {

using testing::HasSubstr;

Job full_job() {
  Job job;
  job.number = JobNumber{4294967295};
  job.tasks = "3-9%2";
  job.task = 0;
  job.name = "train \"big\"\n\tüber";
  job.state = State::completing;
  job.outcome = trace::JobState::node_fail;
  job.held = true;
  job.gid = 100;
  job.out = "/home/ann/slurm-%j.out";
  job.err = "/home/ann/err";
  job.site_factor = -2147483647;
  job.submit = Time(1'600'000'000'000ms);
  job.limit = 90min;
  job.cpus = 0.5;
  job.holds = {{.node = "n001", .gpus = ~std::uint64_t{0}, .gpu_count = 64, .memory_gb = 0.1}, {}};
  return job;
}

std::string_view without_newline(std::string_view line) { return line.substr(0, line.size() - 1); }

TEST(WireTest, BringsNewsAcross) {
  Answer answer;
  answer.id = 7;
  answer.more = true;
  News& news = answer.news.emplace();
  news.at = Time(5s);
  news.whole = true;
  news.jobs = {full_job(), {}};
  news.gone = {JobNumber{3}};
  news.nodes = {{.name = "n001",
                 .gpus = 8,
                 .partitions = {"all", "vc1"},
                 .switches = "s1",
                 .power = Power::off}};
  news.lost_nodes = {"n002"};
  news.partitions = {{.name = "all", .nodes = {"n001"}, .max_time = 1h}};
  news.reservations.emplace();
  news.associations = std::vector<Association>{
      {.account = "science", .user = "ann", .shares = Association::kParent, .use = 12.5},
      {.account = "science", .parent = "root", .shares = 3}};
  news.limits = Limits{.quotas = {{.account = "science", .user = "ann", .gpus = 8}, {.qos = "low"}},
                       .parents = {{"science", "root"}},
                       .accounts = {{"ann", "science"}},
                       .qos_priorities = {{.qos = "high", .priority = 1000}}};
  const std::string line = to_line(answer);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = read_answer(without_newline(line));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->id, 7);
  EXPECT_TRUE(read->more);
  ASSERT_TRUE(read->news);
  EXPECT_EQ(read->news->jobs, news.jobs);
  EXPECT_EQ(read->news->gone, news.gone);
  EXPECT_EQ(read->news->nodes, news.nodes);
  EXPECT_EQ(read->news->partitions, news.partitions);
  // None of them is not the same as nothing new of them.
  ASSERT_TRUE(read->news->reservations);
  EXPECT_FALSE(read->news->licences);
  EXPECT_EQ(read->news->limits, news.limits);
  EXPECT_EQ(read->news->associations, news.associations);
  EXPECT_EQ(to_line(*read), line);
}

TEST(WireTest, BringsRequestsAcross) {
  Request request;
  request.id = 9;
  request.ask = Ask::change;
  request.changes = {
      {.job = JobNumber{1}, .site_factor = -5},
      {.job = JobNumber{3}, .held = true, .of_user = true},
      {.job = JobNumber{4}, .begins = Time{60s}, .comment = manager::mark_until(Time{60s})},
      {.job = JobNumber{2}, .held = false, .required_nodes = "", .comment = "x", .shards = 2}};
  const std::string line = to_line(request);
  const auto read = read_request(without_newline(line));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->ask, Ask::change);
  EXPECT_EQ(read->changes, request.changes);
}

TEST(WireTest, BringsWeightsAcross) {
  const auto asked = read_request(
      without_newline(to_line(Request{.ask = Ask::weigh, .nodes = {"a"}, .weight = 1U << 30U})));
  ASSERT_TRUE(asked) << to_string(asked.error());
  EXPECT_EQ(asked->ask, Ask::weigh);
  EXPECT_EQ(asked->weight, 1U << 30U);
}

TEST(WireTest, TellsWhatWasDoneOfEach) {
  Answer answer;
  answer.done = {std::nullopt, Fault{Code::conflict, "it runs", ""}};
  const auto read = read_answer(without_newline(to_line(answer)));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->done.size(), 2);
  EXPECT_FALSE(read->done[0]);
  EXPECT_EQ(read->done[1]->code, Code::conflict);
}

TEST(WireTest, TakesFieldsInAnyOrderAndPassesOverStrangers) {
  const auto read =
      read_request(R"({"nodes":["a"],"new":{"x":[1]},"on":true,"ask":"power","id":3,"v":3})");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->id, 3);
  EXPECT_TRUE(read->on);
  EXPECT_THAT(read->nodes, testing::ElementsAre("a"));
}

TEST(WireTest, RefusesWhatIsNoRequest) {
  const auto refusal = [](std::string_view line) { return to_string(read_request(line).error()); };
  EXPECT_THAT(refusal(""), HasSubstr("one JSON object per line"));
  EXPECT_THAT(refusal("[]"), HasSubstr("\"v\""));
  EXPECT_THAT(refusal(R"({"id":1,"ask":"hello"})"), HasSubstr("\"v\""));
  EXPECT_THAT(refusal(R"({"v":1,"id":1})"), HasSubstr("protocol 1"));
  EXPECT_THAT(refusal(R"({"v":3,"ask":"sing"})"), HasSubstr("'ask'"));
  EXPECT_THAT(refusal(R"({"v":3,"id":-1})"), HasSubstr("'id'"));
  EXPECT_THAT(refusal(R"({"v":3,"changes":[{"job":4294967296}]})"), HasSubstr("'job'"));
  EXPECT_THAT(refusal(R"({"v":3,"changes":[{"job":1,"held":"yes"}]})"), HasSubstr("'held'"));
  EXPECT_EQ(read_request(R"({"v":1,"id":1})").error().code, Code::unsupported);
}

TEST(WireTest, FindsWhomToAnswer) {
  EXPECT_EQ(id_of(R"({"v":3,"id":12})"), 12);
  EXPECT_EQ(id_of("nonsense"), 0);
  EXPECT_EQ(id_of(R"({"id":"12"})"), 0);
}

TEST(WireTest, TextThatIsNoUtf8ComesThrough) {
  Answer answer;
  answer.ended.emplace_back().name = "a\xff\x01z";
  const auto read = read_answer(without_newline(to_line(answer)));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->ended[0].name, "a\xEF\xBF\xBD\x01z");
}

}  // namespace
}  // namespace almanac::slurm
