// SPDX-License-Identifier: Apache-2.0
#include "text/without_password.h"

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(WithoutPassword, HidesWhatStandsBeforeTheHost) {
  EXPECT_EQ(without_password("https://ann:secret@head:8443"), "https://***@head:8443");
  EXPECT_EQ(without_password("https://ann:se@cr/et@head:8443"), "https://***@head:8443");
  EXPECT_EQ(without_password("https://secret@head"), "https://***@head");
  EXPECT_EQ(without_password("ann:secret@0.0.0.0:8317"), "***@0.0.0.0:8317");
  EXPECT_EQ(without_password("unix://ann:secret@host/x"), "unix://***@host/x");
}

TEST(WithoutPassword, LeavesAddressesAndPathsWithoutOneAlone) {
  for (const char* const each : {"https://head:8443", "http://[::1]:80/", "0.0.0.0:8317", "8317",
                                 "", "/run/almanac@2/almanac.sock", "run/a:b@c"}) {
    EXPECT_EQ(without_password(each), each);
  }
}

TEST(WithoutPasswords, HidesThoseOfAllWordsOfAMessage) {
  EXPECT_EQ(without_passwords("found \"https://ann:pw@h:1\" and \"ann:p/w@h:1\" (see --help)"),
            "found \"https://***@h:1\" and \"***@h:1\" (see --help)");
  EXPECT_EQ(without_passwords("almanac: https:/ann:p@w@h/x: no file\n  --ca=ann:pw@h\n"),
            "almanac: https:/***@h/x: no file\n  --ca=***@h\n");
  for (const char* const each : {"write to ann@site.org: \"now\"", "/data/10:00@2/log.csv:3: gpus",
                                 "a @ b:", "@", "--@a=", ""}) {
    EXPECT_EQ(without_passwords(each), each);
  }
}

}  // namespace
}  // namespace almanac::text
