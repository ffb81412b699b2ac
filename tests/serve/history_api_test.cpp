// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page.h"
#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HistoryApi, StudiesItsOwnJobLogBesideWhatItDoes) {
  TestService service;
  const auto study = [&](const std::string& target) {
    Answer made = service.answer(TestService::ask("GET", target));
    for (int glance = 0; glance < 6000 && made.status == 202; ++glance) {
      EXPECT_THAT(made.body, HasSubstr("being made"));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      made = service.answer(TestService::ask("GET", target));
    }
    return made;
  };
  EXPECT_EQ(service.answer(TestService::ask("GET", "/v1/study?days=0")).status, 400);
  EXPECT_EQ(service.answer(TestService::ask("GET", "/v1/study?days=367")).status, 400);
  if (!report::has_page()) GTEST_SKIP() << report::kNoPage;
  const Answer none = study("/v1/study?days=7");
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("no job has ended in the last 7 days"));
  const std::string number = std::to_string(service.submit(R"(, "gpus": 1)"));
  service.answer(TestService::ask("POST", "/v1/jobs/" + number + "/cancel"));
  const Answer made = study("/v1/study");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.type, "text/html; charset=utf-8");
  EXPECT_THAT(made.body, HasSubstr("Jobs of the last 30 days"));
  EXPECT_THAT(made.body, HasSubstr("Too few jobs ran"));
  EXPECT_THAT(made.body, Not(HasSubstr(service.folder() / ""))) << "where the store lies";
  const std::string* const policy = TestService::header(made, "Content-Security-Policy");
  ASSERT_NE(policy, nullptr);
  EXPECT_THAT(*policy, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(*policy, Not(HasSubstr("unsafe")));
}

TEST(HistoryApi, GivesTheHistoryAsAJobLog) {
  TestService service;
  const std::string number = std::to_string(service.submit(R"(, "gpus": 1)"));
  service.answer(TestService::ask("POST", "/v1/jobs/" + number + "/cancel"));
  EXPECT_EQ(service.get("/v1/history").at("jobs").at(0).at("state"), "CANCELLED");
  const Answer csv = service.answer(TestService::ask("GET", "/v1/history?format=csv"));
  EXPECT_EQ(csv.status, 200) << csv.body;
  EXPECT_THAT(csv.body, HasSubstr("job_id,"));
  EXPECT_THAT(csv.body, HasSubstr("\n" + number + ","));
}

}  // namespace
}  // namespace almanac::serve
