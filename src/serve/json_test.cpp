// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/cluster.h"
#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "submission/validate.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;

rc::Gen<std::string> text() {
  return rc::gen::container<std::string>(rc::gen::inRange<char>(' ', 127));
}
/// Given or not.
template <typename T>
T maybe(rc::Gen<T> gen, T missing) {
  return *rc::gen::oneOf(rc::gen::just(missing), gen);
}
rc::Gen<Time> times() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000),
                      [](std::int64_t ms) { return Time(Duration(ms)); });
}
rc::Gen<Duration> lengths() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(1, 1'000'000'000),
                      [](std::int64_t ms) { return Duration(ms); });
}

store::Submission any_submission() {
  store::Submission made;
  made.name = *text();
  made.qos = *text();
  made.group = *text();
  made.parameters = {"lr=0.01", "kernel=a=b"};
  made.smaller_is_better = *rc::gen::arbitrary<bool>();
  made.gpus = *rc::gen::inRange(0, 64);
  if (made.gpus > 0 && *rc::gen::arbitrary<bool>()) {
    made.max_gpus = made.gpus + *rc::gen::inRange(0, 64);
  }
  if (made.max_gpus > 0) made.min_gpus = *rc::gen::inRange(0, made.gpus + 1);
  if (made.gpus == 1 && made.max_gpus <= 1) made.gpu_share = *rc::gen::inRange(1, 1001) / 1000.0;
  if (made.gpus > 0 && made.gpu_share == 1 && made.max_gpus == 0) {
    made.gpu_profile = *rc::gen::element<std::string>("", "1g.10gb", "1g.6gb+me");
  }
  if (made.gpus > 0) made.gpu_memory_gb = *rc::gen::inRange(1, 1000) / 8.0;
  if (*rc::gen::arbitrary<bool>()) made.cpus = *rc::gen::inRange(1, 1000) / 4.0;
  if (*rc::gen::arbitrary<bool>()) made.memory_gb = *rc::gen::inRange(1, 1000) / 8.0;
  made.time_limit = maybe(lengths(), kNoDuration);
  made.deadline = maybe(times(), kNoTime);
  if (made.deadline != kNoTime) made.worthless_at = made.deadline + *lengths();
  made.not_before = maybe(times(), kNoTime);
  if (made.deadline != kNoTime && made.not_before >= made.deadline) made.not_before = kNoTime;
  made.steps = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  made.argv =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(text())));
  made.script = *text();
  made.directory = "/" + *text();
  made.environment = {"A=" + *text(), "B="};
  made.grace = *lengths();
  made.hold = *rc::gen::arbitrary<bool>();
  made.after = {store::JobNumber{*rc::gen::inRange(1, 1000)}};
  made.umask = *rc::gen::inRange(0, 0777);
  made.resource_limits = {"nofile=1024", "core=unlimited"};
  made.after_ok = {store::JobNumber{*rc::gen::inRange(1, 1000)}};
  made.after_not_ok = {store::JobNumber{*rc::gen::inRange(1000, 2000)}};
  made.requeue = *rc::gen::element(trace::Requeue::unsaid, trace::Requeue::yes, trace::Requeue::no);
  made.comment = "for the paper, \"take 2\"";
  made.kept = *rc::gen::arbitrary<bool>();
  made.indices = *rc::gen::unique<std::vector<std::int32_t>>(rc::gen::inRange(0, 10'000));
  made.at_once = *rc::gen::inRange(0, 10);
  return made;
}

// What a client writes, the service reads: nothing is lost and nothing is added.
RC_GTEST_PROP(SubmissionJson, ReadsWhatItWrites, ()) {
  const store::Submission asked = any_submission();
  const std::string written = to_json(asked);
  const auto read = read_submission(written);
  if (!read) RC_FAIL(read.error().message + " in " + written);
  RC_ASSERT(submission::validate(*read));
  RC_ASSERT(to_json(*read) == written);
  RC_ASSERT(read->argv == asked.argv);
  RC_ASSERT(read->time_limit == asked.time_limit);
  RC_ASSERT(read->deadline == asked.deadline);
  RC_ASSERT(read->cpus == asked.cpus);
  RC_ASSERT(read->indices == asked.indices);
}

/// Why the service does not take a submission; "" = it does.
std::string refusal_of(const std::string& text) {
  const auto valid = read_submission(text).and_then(
      [](const store::Submission& read) { return submission::validate(read); });
  return valid ? "" : to_string(valid.error());
}

std::string refusal(const std::string& fields) {
  return refusal_of(R"({"argv": ["true"], "directory": "/")" + fields + "}");
}

TEST(SubmissionJson, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal(R"(, "gpu": 1)"), "unknown field gpu (did you mean gpus?)");
  EXPECT_THAT(refusal(R"(, "uid": 0)"), HasSubstr("unknown field uid"));
  EXPECT_THAT(refusal(R"(, "user": "root")"), HasSubstr("unknown field user"));
}

TEST(SubmissionJson, ReadsTheNamesOfTheReleaseBefore) {
  EXPECT_TRUE(read_submission(R"({"script": "true", "kept": true})")->kept);
}

TEST(SubmissionJson, RefusesWhatMakesNoSense) {
  EXPECT_EQ(refusal(R"(, "gpus": "2")"), "gpus must be a whole number in its range, not \"2\"");
  EXPECT_EQ(refusal(R"(, "gpus": -1)"), "gpus must be 0 or more, not -1");
  EXPECT_EQ(refusal(R"(, "gpus": 1.5)"), "gpus must be a whole number in its range, not 1.5");
  EXPECT_EQ(refusal(R"(, "gpus": 99999999999)"),
            "gpus must be a whole number in its range, not 99999999999");
  EXPECT_EQ(refusal(R"(, "gpus": 2, "gpu_share": 0.5)"), "gpu_share requires gpus = 1");
  EXPECT_EQ(refusal(R"(, "gpus": 1, "max_gpus": 2, "gpu_share": 0.5)"),
            "gpu_share is a part of one GPU: a job of 1 to 2 GPUs cannot have it");
  EXPECT_EQ(
      refusal(R"(, "gpus": 1, "gpu_profile": "1g.11gb")"),
      "gpu_profile must be a MIG profile such as 1g.10gb, not 1g.11gb (did you mean 1g.10gb?)");
  EXPECT_EQ(refusal(R"(, "gpu_profile": "1g.10gb")"),
            "gpu_profile requires gpus, the number of instances");
  EXPECT_EQ(refusal(R"(, "gpus": 1, "gpu_share": 0.5, "gpu_profile": "1g.10gb")"),
            "gpu_profile is a whole instance: gpu_share must be 1");
  EXPECT_EQ(refusal(R"(, "gpus": 1, "max_gpus": 2, "gpu_profile": "1g.10gb")"),
            "gpu_profile and max_gpus exclude each other");
  EXPECT_EQ(refusal(R"(, "gpus": 1, "gpu_memory_gb": 0)"),
            "gpu_memory_gb must be more than 0 and at most 100000");
  EXPECT_EQ(refusal(R"(, "gpu_memory_gb": 8)"), "gpu_memory_gb requires gpus");
  for (const char* const io : {"0", "-1", "1e300"}) {
    EXPECT_EQ(refusal(std::string(R"(, "io_mbs": )") + io),
              "io_mbs must be more than 0 and at most 1e+09");
  }
  EXPECT_EQ(refusal(R"(, "time_limit_s": 1e300)"),
            "time_limit_s must be a number of seconds, not 1e+300");
  EXPECT_EQ(refusal(R"(, "max_gpus": 2)"), "max_gpus requires gpus of 1 or more");
  for (const char* const times :
       {R"(, "worthless_at_s": 20)", R"(, "deadline_s": 30, "worthless_at_s": 20)"}) {
    EXPECT_EQ(refusal(times), "worthless_at_s requires deadline_s, and must not come before it");
  }
  EXPECT_EQ(refusal(R"(, "hold": 1)"), "hold must be true or false, not 1");
  std::string many = "1";
  for (int more = 0; more < 1000; ++more) many += ",1";
  EXPECT_EQ(refusal(R"(, "after": [)" + many + "]"), "after may have at most 1000 jobs, not 1001");
  EXPECT_EQ(refusal(R"(, "after_ok": [)" + many + "]"),
            "after_ok may have at most 1000 jobs, not 1001");
  EXPECT_EQ(refusal(R"(, "indices": [1, 1])"), "indices lists 1 twice");
  EXPECT_EQ(refusal(R"(, "environment": ["PATH"])"), "environment must be NAME=value, not PATH");
  EXPECT_EQ(refusal(R"(, "name": "a\u0000b")"),
            R"(name must be text without a zero byte, not "a\u0000b")");
  EXPECT_EQ(refusal(R"(, "name": "a\nb")"),
            "name contains a line break or another control character");
}

TEST(SubmissionJson, RefusesWhatIsNone) {
  EXPECT_EQ(read_submission("[]").error().message, "expected an object, not array");
  EXPECT_EQ(read_submission("{").error().message, "this is not JSON (byte 2)");
  EXPECT_THAT(refusal_of("{}"), HasSubstr("there is nothing to run"));
  EXPECT_EQ(refusal_of(R"({"argv": ["a"], "directory": "x"})"),
            "directory must be an absolute path");
  EXPECT_EQ(read_submission(std::string(100'000, '[')).error().message,
            "it is nested more than 32 levels deep");
  EXPECT_EQ(read_submission(R"({"gpus": 1e999})").error().message,
            "it contains a number that is too large");
}

TEST(JobJson, TellsWhatMayBeTold) {
  service::JobView view;
  view.job.number = store::JobNumber{14};
  view.job.asked.change().user = "ann";
  view.job.asked.change().argv = {"python", "train.py"};
  view.job.asked.change().environment = {"TOKEN=secret"};
  view.job.asked.change().script = "echo secret";
  view.job.task = store::ArrayTask{.array = store::JobNumber{12}, .index = 3};
  view.job.state = trace::JobState::running;
  view.job.start = Time(1500ms);
  view.job.held_gpus = {{.node = NodeId{0}, .gpus = 0b101, .cpu_milli = 8000}};
  view.gpu_use = 0.5;
  const std::string text = to_json(view, cluster::uniform(1, 4));
  EXPECT_EQ(text.find("secret"), std::string::npos);

  const auto read = read_job(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, "12_3");
  EXPECT_EQ(read->view.job.state, trace::JobState::running);
  EXPECT_EQ(read->view.job.start, Time(1500ms));
  EXPECT_EQ(read->view.job.end, kNoTime);
  EXPECT_EQ(read->view.job.asked->argv, view.job.asked->argv);
  EXPECT_TRUE(read->is_script);
  EXPECT_EQ(read->gpus_held, "0:0,2");
  EXPECT_EQ(read->view.gpu_use, 0.5);
  EXPECT_EQ(read->view.cpu_use, -1);
}

TEST(JobJson, MendsNamesThatAreNoText) {
  service::JobView view;
  view.job.number = store::JobNumber{1};
  view.job.asked.change().name = "caf\xe9";
  EXPECT_TRUE(read_job(to_json(view, cluster::uniform(1, 1))));
}

TEST(ExpectedJson, LeavesOutWhatMayNeverCome) {
  // On the heap: g++ 12 sees what is not there where it has all of it in view.
  const auto view = std::make_unique<service::JobView>();
  view->job.number = store::JobNumber{1};
  view->expected = service::Expected{.start_from = Time{1h}, .start_to = kNever, .end_to = kNever};
  const auto read = read_job(to_json(*view, cluster::uniform(1, 1)));
  ASSERT_TRUE(read);
  ASSERT_TRUE(read->view.expected);
  EXPECT_EQ(read->view.expected->start_to, kNoTime);
  EXPECT_EQ(read->view.expected->start_from, Time{1h});
}

TEST(ExpectedJson, TellsOfOtherNumbersOfGpus) {
  service::Expected expected;
  expected.other_gpus = {{.gpus = 1, .end_by = kNever},
                         {.gpus = 4, .end_by = Time{2h}, .kept = 0.75}};
  const auto read = read_expected(to_json(expected));
  ASSERT_TRUE(read);
  const std::vector<service::WithGpus> said{{.gpus = 1, .end_by = kNoTime},
                                            {.gpus = 4, .end_by = Time{2h}, .kept = 0.75}};
  EXPECT_EQ(read->other_gpus, said);
}

TEST(CompactionsJson, ReadsWhatItWrites) {
  sim::Compactions made{
      .at = Time{90s}, .free_gpus = 4.5, .running = 7, .staying = 2, .waiting = 3};
  made.fit = {"12"};
  made.left_alone = 5;
  made.given_up = {"13", "14"};
  made.steps = {{.job = "9",
                 .vc = "red",
                 .gpus = 4,
                 .place = {{"n1", 4}},
                 .moves = {{"7", {{"n1", 0.5}, {"n2", 2}}, {{"n3", 0.5}, {"n4", 2}}, 120}},
                 .lost_gpu_s = 120,
                 .is_proven = true}};
  const auto read = read_compactions(to_json(made));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, made);
}

TEST(TenancyJson, ReadsWhatItWrites) {
  const service::Tenancy made{.by_tenant = true,
                              .worst = "vision",
                              .tenants = {{.name = "lab", .guarantee = 2, .limit = 3},
                                          {.name = "vision", .parent = "lab", .guarantee = 1}},
                              .loans = {{"vision", "lab", 3600}}};
  const auto read = read_tenancy(to_json(made));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(to_json(*read), to_json(made));
  ASSERT_EQ(read->tenants.size(), 2U);
  EXPECT_EQ(read->tenants[0].limit, 3);
  EXPECT_TRUE(std::isnan(read->tenants[1].limit)) << "it has none";
  EXPECT_EQ(read->loans.at(0).gpu_s, 3600);
}

TEST(TenancyJson, ReadsTheNamesOfTheReleaseBefore) {
  const auto read = read_tenancy(R"({"tenants": [{"name": "a", "had_gpu_s": 7, "due_gpu_s": 5}]})");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->tenants.at(0).used_gpu_s, 7);
  EXPECT_EQ(read->tenants.at(0).fair_share_gpu_s, 5);
}

TEST(NodesJson, TellsHowGpusAreConnected) {
  const std::vector<service::NodeView> nodes{
      {.name = "box",
       .connections = {{cluster::Between::nvlink, {0, 1}, 4}, {cluster::Between::socket, {0, 1}}},
       .gpus = {{.number = 0, .instances = {"3g.40gb@4"}}}}};
  const std::string told = to_json(nodes);
  EXPECT_THAT(told, HasSubstr(R"("connections":[{"by":"nvlink","gpus":[0,1],"links":4},)"
                              R"({"by":"socket","gpus":[0,1]}])"));
  EXPECT_THAT(told, HasSubstr(R"("instances":["3g.40gb@4"])"));
}

TEST(NodesJson, ReadsWhatItWrites) {
  const std::vector<service::NodeView> nodes{
      {.name = "box",
       .vc = "local",
       .cpus = 8,
       .cpus_held = 2,
       .gpus = {{.number = 0, .name = "0", .jobs = {store::JobNumber{7}}, .use = 0.25},
                {.number = 1, .name = "1", .in_service = false, .trouble = "ECC"}}}};
  const auto read = read_nodes(to_json(nodes));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(nodes));
}

}  // namespace
}  // namespace almanac::serve
