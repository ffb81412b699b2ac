// SPDX-License-Identifier: Apache-2.0
#include "gpu/amd.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::gpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A machine with a processor and two GPUs as amdkfd and amdgpu describe them. The second is one of
/// 8 partitions whose board has no FRU and no sensors.
class AmdTest : public testing::Test {
 protected:
  void SetUp() override {
    node(0, "0", "cpu_cores_count 96\nsimd_count 0\n");
    node(1, "45412",
         "cpu_cores_count 0\nsimd_count 1216\ndrm_render_minor 128\n"
         "gfx_target_version 90402\nunique_id 11871234567890123456\n");
    // Node 10 comes after node 2, as numbers do.
    node(10, "7", "simd_count 416\ndrm_render_minor 136\ngfx_target_version 90010\nunique_id 0\n");
    put("class/drm/renderD128/device/product_name", "AMD Instinct MI300X OAM\n");
    put("class/drm/renderD128/device/mem_info_vram_total", "206141652992\n");
    put("class/drm/renderD128/device/mem_info_vram_used", "10737418240\n");
    put("class/drm/renderD128/device/gpu_busy_percent", "37\n");
    put("class/drm/renderD128/device/numa_node", "0\n");
    put("class/drm/renderD128/device/ras/umc_err_count", "ue: 0\nce: 12\n");
    put("class/drm/renderD128/device/hwmon/hwmon5/power1_input", "412000000\n");
    put("class/drm/renderD136/device/mem_info_vram_total", "68702699520\n");
    put("class/drm/renderD136/device/numa_node", "1\n");
    put("class/drm/renderD136/device/ras/umc_err_count", "ue: 3\nce: 0\n");
    put("class/kfd/kfd/proc/4711/vram_45412", "2147483648\n");
    put("class/kfd/kfd/proc/4711/vram_7", "0\n");
    put("class/kfd/kfd/proc/812/vram_45412", "1073741824\n");
  }

  void node(int number, const std::string& id, const std::string& properties) const {
    const std::string folder = "class/kfd/kfd/topology/nodes/" + std::to_string(number) + "/";
    put(folder + "gpu_id", id + "\n");
    put(folder + "properties", properties);
  }
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(folder_ / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Amd open() const {
    auto opened = Amd::open(folder_ / "");
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }

  TemporaryFolder folder_;
};

TEST_F(AmdTest, GpusAreThoseOfAmdkfdInItsOrder) {
  const Amd amd = open();
  ASSERT_EQ(amd.count(), 2);
  EXPECT_EQ(amd.name(0), "AMD Instinct MI300X OAM");
  EXPECT_EQ(amd.uuid(0), "GPU-a4bf18f1686dbac0");  // 11871234567890123456
  EXPECT_NEAR(*amd.memory_gb(0), 191.98, 0.01);
  EXPECT_EQ(amd.name(1), "AMD gfx90a");
  EXPECT_EQ(amd.uuid(1), "");
  EXPECT_NEAR(*amd.memory_gb(1), 63.98, 0.01);
  EXPECT_EQ(amd.name(2), "");
}

TEST_F(AmdTest, ASampleHasWhatTheFilesTell) {
  const Amd amd = open();
  const Sample first = amd.sample(0);
  EXPECT_DOUBLE_EQ(*first.use, 0.37);
  EXPECT_DOUBLE_EQ(*first.memory_gb, 10);
  EXPECT_DOUBLE_EQ(*first.power_w, 412);
  const Sample second = amd.sample(1);
  EXPECT_EQ(second.use, std::nullopt);
  EXPECT_EQ(second.memory_gb, std::nullopt);
  EXPECT_EQ(second.power_w, std::nullopt);
}

TEST_F(AmdTest, ProcessesWithoutMemoryOnAGpuDoNotComputeThere) {
  const Amd amd = open();
  EXPECT_THAT(amd.holders(0).value(), ElementsAre(Holder{812, 1.0}, Holder{4711, 2.0}));
  EXPECT_THAT(amd.holders(1).value(), IsEmpty());
}

TEST_F(AmdTest, UncorrectableErrorsAreTrouble) {
  const Amd amd = open();
  EXPECT_EQ(amd.trouble(0), "");
  EXPECT_EQ(amd.trouble(1), "3 uncorrectable memory errors since the driver was loaded");
}

TEST_F(AmdTest, GpusOfOneNumaNodeShareASocket) {
  EXPECT_EQ(open().route(0, 1).by, Ancestor::system);
  put("class/drm/renderD136/device/numa_node", "0\n");
  EXPECT_EQ(open().route(0, 1).by, Ancestor::socket);
  put("class/drm/renderD136/device/numa_node", "-1\n");
  EXPECT_EQ(open().route(0, 1).by, Ancestor::not_told);
}

TEST_F(AmdTest, APowerLimitIsWrittenInMicrowatts) {
  Amd amd = open();
  EXPECT_TRUE(amd.limit_power(0, 500));
  EXPECT_EQ(read("class/drm/renderD128/device/hwmon/hwmon5/power1_cap"), "500000000");
  EXPECT_EQ(amd.limit_power(1, 500).error().message, "the driver has no power limits");
}

TEST(Amd, AMachineWithoutOneSaysSo) {
  const TemporaryFolder folder;
  const auto opened = Amd::open(folder / "");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::unavailable);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("no AMD GPU"));
}

}  // namespace
}  // namespace almanac::gpu
