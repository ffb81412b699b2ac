// SPDX-License-Identifier: Apache-2.0
#include "text/host_port.h"

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(HostPort, ReadsAHostWithAndWithoutAPort) {
  EXPECT_EQ(parse_host_port("head")->host, "head");
  EXPECT_FALSE(parse_host_port("head")->port);
  EXPECT_EQ(parse_host_port("10.0.0.1:8443")->host, "10.0.0.1");
  EXPECT_EQ(parse_host_port("10.0.0.1:8443")->port, 8443);
  EXPECT_EQ(parse_host_port("[::1]")->host, "::1");
  EXPECT_EQ(parse_host_port("[fe80::1]:65535")->port, 65535);
}

TEST(HostPort, RefusesWhatIsNeither) {
  for (const char* const text : {"", ":80", "[]:80", "head:", "head:0", "head:65536", "head:-1",
                                 "head:80x", "head:http", "head:1:2", "[::1", "[::1]80", "::1"}) {
    EXPECT_FALSE(parse_host_port(text)) << text;
  }
}

}  // namespace
}  // namespace almanac::text
