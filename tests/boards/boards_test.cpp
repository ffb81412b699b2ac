// SPDX-License-Identifier: Apache-2.0

/// \file
/// How GPUs are connected, and GPUs that are cut in instances, by a driver that is none
/// (fake_driver.cpp), which the loader finds before any other.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "gpu/nvml.h"
#include "support/temporary_folder.h"

namespace almanac::gpu {
namespace {

class Boards : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const each : {"FAKE_NO_ROOT", "FAKE_IN_USE"}) ::unsetenv(each);
    ::setenv("FAKE_MACHINE", "pairs", 1);
    ::setenv("FAKE_INSTANCES", instances_.c_str(), 1);
  }
  static Nvml driver() {
    auto opened = Nvml::open();
    EXPECT_TRUE(opened) << to_string(opened.error());
    return *std::move(opened);
  }
  static MigProfile profile(const Nvml& nvml, unsigned id) {
    for (const MigProfile& each : nvml.mig_profiles(0)) {
      if (each.id == id) return each;
    }
    return {};
  }

  TemporaryFolder folder_;
  std::string instances_ = folder_.write("instances", "");
};

TEST_F(Boards, AreConnectedInPairsByNvlink) {
  const Nvml nvml = driver();
  EXPECT_EQ(nvml.route(0, 1).nvlinks, 4);
  EXPECT_EQ(nvml.route(1, 0).nvlinks, 4);
  EXPECT_EQ(nvml.route(1, 2).nvlinks, 0);
  EXPECT_EQ(nvml.route(0, 1).by, Ancestor::socket);
  EXPECT_EQ(nvml.route(1, 2).by, Ancestor::system);
  EXPECT_EQ(nvml.route(0, 9).by, Ancestor::not_told);
}

TEST_F(Boards, AreConnectedByAsManyLinksAsLeadToSwitches) {
  ::setenv("FAKE_MACHINE", "switched", 1);
  const Nvml nvml = driver();
  EXPECT_EQ(nvml.route(0, 3).nvlinks, 18);
  EXPECT_EQ(nvml.route(0, 3).by, Ancestor::system);
}

TEST_F(Boards, OfAnOldDriverNothingIsTold) {
  ::setenv("FAKE_MACHINE", "mute", 1);
  const Nvml nvml = driver();
  EXPECT_EQ(nvml.route(0, 1).nvlinks, 0);
  EXPECT_EQ(nvml.route(0, 1).by, Ancestor::not_told);
  EXPECT_EQ(nvml.is_cut(0), std::nullopt);
  EXPECT_TRUE(nvml.mig_profiles(0).empty());
  EXPECT_TRUE(nvml.mig_instances(0)->empty());
}

TEST_F(Boards, SayWhichInstancesTheyMayHave) {
  const Nvml nvml = driver();
  EXPECT_EQ(nvml.is_cut(0), true);
  EXPECT_EQ(nvml.is_cut(2), false);
  EXPECT_EQ(nvml.mig_profiles(0).size(), 7U);
  EXPECT_TRUE(nvml.mig_profiles(2).empty());
  const MigProfile three = profile(nvml, 9);
  EXPECT_EQ(three.compute_slices, 3);
  EXPECT_EQ(three.multiprocessors, 42);
  EXPECT_EQ(three.most, 2);
  EXPECT_DOUBLE_EQ(three.memory_gb, 39.25);
  EXPECT_FALSE(three.has_media);
  EXPECT_TRUE(profile(nvml, 20).has_media);
}

TEST_F(Boards, AreCutWhereItIsAsked) {
  Nvml nvml = driver();
  const auto right = nvml.create_mig_instance(0, profile(nvml, 9), 4);
  ASSERT_TRUE(right) << to_string(right.error());
  EXPECT_EQ(
      *right,
      (MigInstance{
          .id = 1, .profile = 9, .start = 4, .size = 4, .uuid = "MIG-0-1", .name = "3g.40gb"}));
  const auto left = nvml.create_mig_instance(0, profile(nvml, 14), 0);
  ASSERT_TRUE(left) << to_string(left.error());
  EXPECT_EQ(left->size, 2);
  // Another driver, as after the service has started again, finds both.
  EXPECT_EQ(driver().mig_instances(0).value(), (std::vector<MigInstance>{*left, *right}));
  EXPECT_TRUE(driver().mig_instances(1)->empty());

  EXPECT_EQ(nvml.create_mig_instance(0, profile(nvml, 9), 4).error().message,
            "Insufficient Resources");
  EXPECT_EQ(nvml.create_mig_instance(0, profile(nvml, 14), 1).error().message,
            "no such instance can be created there");
  EXPECT_EQ(nvml.create_mig_instance(2, profile(nvml, 14), 0).error().message,
            "MIG is not enabled on the GPU");
  EXPECT_TRUE(nvml.destroy_mig_instance(0, right->id));
  EXPECT_EQ(nvml.destroy_mig_instance(0, right->id).error().message, "there is no such instance");
  EXPECT_EQ(nvml.mig_instances(0).value(), (std::vector<MigInstance>{*left}));
}

TEST_F(Boards, OfEachProfileThereAreSoManyAtMost) {
  Nvml nvml = driver();
  for (int start = 0; start < 7; ++start) {
    EXPECT_TRUE(nvml.create_mig_instance(1, profile(nvml, 19), start)) << start;
  }
  EXPECT_EQ(nvml.mig_instances(1)->size(), 7U);
  EXPECT_FALSE(nvml.create_mig_instance(1, profile(nvml, 19), 6));
}

TEST_F(Boards, MayBeCutByRootOnly) {
  Nvml nvml = driver();
  const auto made = nvml.create_mig_instance(0, profile(nvml, 14), 0);
  ASSERT_TRUE(made);
  ::setenv("FAKE_NO_ROOT", "1", 1);
  EXPECT_EQ(nvml.create_mig_instance(0, profile(nvml, 14), 2).error().message,
            "Insufficient Permissions");
  EXPECT_EQ(nvml.destroy_mig_instance(0, made->id).error().message, "Insufficient Permissions");
  EXPECT_EQ(nvml.mig_instances(0).value(), (std::vector<MigInstance>{*made}));
}

TEST_F(Boards, AnInstanceInUseIsNotRemoved) {
  Nvml nvml = driver();
  const auto made = nvml.create_mig_instance(0, profile(nvml, 14), 0);
  ASSERT_TRUE(made);
  ::setenv("FAKE_IN_USE", folder_.write("used", "0 1\n").c_str(), 1);
  EXPECT_EQ(nvml.destroy_mig_instance(0, made->id).error().message, "In use by another client");
  EXPECT_EQ(nvml.mig_instances(0).value(), (std::vector<MigInstance>{*made}));
}

TEST_F(Boards, AnInstanceThatIsCutFurtherHasNoDeviceOfItsOwn) {
  std::ofstream(instances_) << "0 1 9 0 2\n0 2 14 4 0\n";
  const auto found = driver().mig_instances(0);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->front().uuid, "");
  EXPECT_EQ(found->back().uuid, "");
}

}  // namespace
}  // namespace almanac::gpu
