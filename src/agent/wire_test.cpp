// SPDX-License-Identifier: Apache-2.0
#include "agent/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::agent {
namespace {

using manager::JobNumber;
using testing::HasSubstr;

Report report() {
  return {.length = 5s,
          .load = 3.5,
          .cpu_pressure = 0.25,
          .gpu_use = {0.5, std::nullopt},
          .bandwidth_gbs = 12.5,
          .jobs = {{.job = JobNumber{12},
                    .cores = 7.5,
                    .cpus = 16,
                    .limit = 8,
                    .gpu_use = 0.75,
                    .gpu_use_length = 10s,
                    .bandwidth_gbs = 3,
                    .cpu_pressure = 0.125,
                    .trouble = "no group"},
                   {.job = JobNumber{13}}}};
}

TEST(AgentWire, SaysAReport) {
  const auto read = read_report(to_text(report()));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, report());
}

TEST(AgentWire, SaysOrders) {
  const Orders orders{.patience = 60s,
                      .limits = {{JobNumber{12}, 8}, {JobNumber{4'000'000'000}, 0.5}}};
  const auto read = read_orders(to_text(orders));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, orders);
}

TEST(AgentWire, WritesOneLineWhateverJobsAreCalledTroublesAre) {
  Report made = report();
  made.jobs.front().trouble = "two\nlines \xff and no text";
  EXPECT_EQ(to_text(made).find('\n'), std::string::npos);
  EXPECT_TRUE(read_report(to_text(made)));
}

/// Each is refused, and the word is in what is said of it.
TEST(AgentWire, RefusesOrdersThatAreNone) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "orders"},
      {"[]", "orders"},
      {"{\"report\":{}}", "orders"},
      {"{\"orders\":7}", "object"},
      {"{\"orders\":{\"limits\":[]}}", "patience_ms"},
      {"{\"orders\":{\"patience_ms\":10,\"limits\":[]}}", "patience_ms"},
      {"{\"orders\":{\"patience_ms\":7200000,\"limits\":[]}}", "patience_ms"},
      {"{\"orders\":{\"patience_ms\":60000}}", "limits"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":0,\"cores\":1}]}}", "job"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":1.5,\"cores\":1}]}}", "job"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":5000000000,\"cores\":1}]}}", "job"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":1}]}}", "cores"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":1,\"cores\":0}]}}", "cores"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[{\"job\":1,\"cores\":\"4\"}]}}", "cores"},
      {"{\"orders\":{\"patience_ms\":60000,\"limits\":[1]}}", "object"}};
  for (const auto& [text, word] : wrong) {
    const auto read = read_orders(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid) << text;
    EXPECT_THAT(read.error().message, HasSubstr(word)) << text;
  }
}

TEST(AgentWire, RefusesReportsThatAreNone) {
  for (const char* const text :
       {"{\"report\":{\"gpu_use\":[]}}", "{\"report\":{\"jobs\":[]}}",
        "{\"report\":{\"gpu_use\":[2],\"jobs\":[]}}",
        "{\"report\":{\"gpu_use\":[],\"jobs\":[{\"cores\":1}]}}",
        "{\"report\":{\"gpu_use\":[],\"jobs\":[{\"job\":1,\"cores\":-1}]}}",
        "{\"report\":{\"gpu_use\":[],\"jobs\":[{\"job\":1,\"trouble\":7}]}}",
        "{\"report\":{\"length_ms\":1e300,\"gpu_use\":[],\"jobs\":[]}}"}) {
    EXPECT_FALSE(read_report(text)) << text;
  }
}

RC_GTEST_PROP(AgentWire, TakesAnythingWithoutTrouble, (const std::string& text)) {
  static_cast<void>(read_report(text));
  static_cast<void>(read_orders(text));
}

}  // namespace
}  // namespace almanac::agent
