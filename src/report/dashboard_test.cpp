// SPDX-License-Identifier: Apache-2.0

#include "report/dashboard.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page.h"

namespace almanac::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Dashboard, IsOnePageThatAsksOnlyItsService) {
  const std::string html = dashboard();
  if (html.empty()) GTEST_SKIP() << kNoPage;
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, HasSubstr("connect-src 'self'"));
  EXPECT_THAT(html, Not(HasSubstr("@policy@")));
  EXPECT_THAT(html, Not(HasSubstr("unsafe-inline'; img")));
}

TEST(Dashboard, IsThereWhereTheReportPageIs) { EXPECT_EQ(dashboard().empty(), !has_page()); }

}  // namespace
}  // namespace almanac::report
