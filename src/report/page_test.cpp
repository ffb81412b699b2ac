// SPDX-License-Identifier: Apache-2.0

#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_page()) GTEST_SKIP() << kNoPage;
  }
};

TEST_F(Page, HoldsTheDocument) {
  const std::string html = page(R"({"schema":1,"title":"A week"})");
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr(R"(<script id="document" type="application/json">)"
                              R"({"schema":1,"title":"A week"}</script>)"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, Not(HasSubstr("@document@")));
}

TEST_F(Page, LetsNoNameOfALogEndItsScript) {
  const std::string html = page(R"({"title":"</script><script>alert(1)</script>"})");
  EXPECT_THAT(html, HasSubstr(R"("\u003c/script>\u003cscript>alert(1)\u003c/script>")"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert(1)")));
}

TEST_F(Page, AsksNothingOfANetwork) {
  const std::string html = page("{}");
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
}

TEST_F(Page, StaysSmall) { EXPECT_LT(page("{}").size(), 1'200'000U); }

}  // namespace
}  // namespace almanac::report
