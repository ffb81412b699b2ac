// SPDX-License-Identifier: Apache-2.0
#include "machine/power.h"

#include <gtest/gtest.h>

#include "energy/power_file.h"

namespace almanac::machine {
namespace {

TEST(ModelledPower, IsOfNodesAndOfTheGpusThatAreHeld) {
  const energy::PowerModel model = *energy::read_power("dgx1");
  const cluster::Cluster cluster = cluster::uniform(2, 8);
  EXPECT_DOUBLE_EQ(modelled_w(model, cluster, {}), 2 * model.idle_w);
  const cluster::Grant three{.node = NodeId{1}, .gpus = 0b111};
  const cluster::Grant half{.node = NodeId{0}, .gpu_milli = 500, .gpus = 0b1};
  EXPECT_DOUBLE_EQ(modelled_w(model, cluster, {three, half}),
                   2 * model.idle_w + 3.5 * model.gpu_w());
}

TEST(ModelledPower, IsLessUnderALimit) {
  const energy::PowerModel model = *energy::read_power("dgx1");
  cluster::Cluster cluster = cluster::uniform(1, 8);
  cluster.classes.front().gpu_power_limit_w = model.gpu_least_limit_w;
  const cluster::Grant one{.node = NodeId{0}, .gpus = 0b1};
  const double limited_w = modelled_w(model, cluster, {one}) - model.idle_w;
  EXPECT_DOUBLE_EQ(limited_w, model.gpu_w(1, model.gpu_least_limit_w));
  EXPECT_LT(limited_w, model.gpu_w());
  // A model knows nothing of what is below the lowest that was measured.
  cluster.classes.front().gpu_power_limit_w = 1;
  EXPECT_DOUBLE_EQ(modelled_w(model, cluster, {one}) - model.idle_w, limited_w);
}

}  // namespace
}  // namespace almanac::machine
