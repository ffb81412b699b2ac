// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/may_stop.h"

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

TEST(MayStop, TakesTheOperatorsWordUnlessTheUserSaidNo) {
  trace::Request unsaid;
  trace::Request yes;
  yes.requeue = trace::Requeue::yes;
  trace::Request no;
  no.requeue = trace::Requeue::no;
  no.checkpoint_s = 600;
  trace::Request checkpoints;
  checkpoints.checkpoint_s = 600;

  for (const trace::Request& each : {unsaid, yes, no, checkpoints}) {
    EXPECT_FALSE(may_stop(each, Stops::none));
  }
  EXPECT_FALSE(may_stop(unsaid, Stops::marked));
  EXPECT_TRUE(may_stop(yes, Stops::marked));
  EXPECT_FALSE(may_stop(no, Stops::marked));
  EXPECT_TRUE(may_stop(checkpoints, Stops::marked));

  EXPECT_TRUE(may_stop(unsaid, Stops::all));
  EXPECT_TRUE(may_stop(yes, Stops::all));
  EXPECT_FALSE(may_stop(no, Stops::all));
}

}  // namespace
}  // namespace almanac::policy
