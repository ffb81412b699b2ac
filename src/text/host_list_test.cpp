// SPDX-License-Identifier: Apache-2.0
#include "text/host_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::text {
namespace {

using Names = std::vector<std::string>;

TEST(HostList, KeepsLeadingZerosAndOrder) {
  EXPECT_EQ(expand_hosts("g[001-003,7],x1").value(), (Names{"g001", "g002", "g003", "g7", "x1"}));
  EXPECT_EQ(expand_hosts("n[8-11]").value(), (Names{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expand_hosts("r[1-2]n[1-2].site").value(),
            (Names{"r1n1.site", "r1n2.site", "r2n1.site", "r2n2.site"}));
  EXPECT_TRUE(expand_hosts("").value().empty());
}

TEST(HostList, RefusesWhatIsNoneOrTooLarge) {
  for (const char* const bad : {"g[", "g]", "g[3-1]", "g[a-b]", "g[]", ",", "a,,b", "a,", "g[1-]",
                                "g[1-99999999]", "a[1-9999]b[1-9999]", "g[[1]]"}) {
    const auto names = expand_hosts(bad);
    ASSERT_FALSE(names) << bad;
    EXPECT_EQ(names.error().code, Code::invalid);
  }
  EXPECT_EQ(expand_hosts("g[1-65533]").value().size(), kMostHosts);
  EXPECT_FALSE(expand_hosts("g[1-65533],x"));
}

RC_GTEST_PROP(HostList, JoinedNamesExpandToThemselves, ()) {
  const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5000));
  Names names;
  for (const int number : numbers) names.push_back("node" + std::to_string(number));
  RC_ASSERT(expand_hosts(join_hosts(names)).value() == names);
}

}  // namespace
}  // namespace almanac::text
