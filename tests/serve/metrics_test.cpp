// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountWhatThereIs) {
  const TestService service;
  const std::int64_t number = service.submit(R"(, "name": "a-name")");
  service.get("/v1/jobs/" + std::to_string(number));
  const std::string text = service.answer(TestService::ask("GET", "/metrics")).body;
  EXPECT_THAT(text, HasSubstr("almanac_gpus 4\n"));
  EXPECT_THAT(text, HasSubstr("almanac_jobs{state=\"held\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("almanac_jobs_submitted_total 1\n"));
  EXPECT_THAT(text, HasSubstr("almanac_last_successful_round_timestamp_seconds "));
  EXPECT_THAT(text, HasSubstr("almanac_http_requests_total{method=\"GET\","
                              "route=\"/v1/jobs/{number}\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("a-name")));
}

TEST(Metrics, CountEndsByOutcome) {
  const TestService service;
  const std::string job = "/v1/jobs/" + std::to_string(service.submit());
  ASSERT_EQ(service.answer(TestService::ask("POST", job + "/cancel")).status, 200);
  const std::string text = service.answer(TestService::ask("GET", "/metrics")).body;
  EXPECT_THAT(text, HasSubstr("almanac_jobs_ended_total{outcome=\"cancelled\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("almanac_jobs_ended_total{outcome=\"completed\"} 0\n"));
}

TEST(Metrics, AreWhatPrometheusExpects) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (package prometheus): metrics are not checked";
  }
  const TestService service;
  service.submit();
  const std::string file =
      service.folder().write("metrics", service.answer(TestService::ask("GET", "/metrics")).body);
  EXPECT_EQ(std::system(("promtool check metrics <" + file).c_str()), 0);
}

}  // namespace
}  // namespace almanac::serve
