// SPDX-License-Identifier: Apache-2.0

/// \file
/// The driver of this machine, where it has one: what is read of real GPUs agrees with what
/// nvidia-smi says and with what a process does that computes on one. Nothing is changed; without a
/// driver all is skipped, and that is said.
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/nvml.h"
#include "machine/machine.h"

namespace almanac {
namespace {

using testing::StartsWith;

/// A column of nvidia-smi, a line for each GPU; none = it is not here.
std::vector<std::string> told(const std::string& column) {
  std::vector<std::string> lines;
  const std::string command = "nvidia-smi --format=csv,noheader,nounits --query-gpu=" + column;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::array<char, 512> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    lines.emplace_back(line.data());
    lines.back().erase(lines.back().find_last_not_of("\r\n ") + 1);
  }
  return lines;
}

/// A process that holds memory of the first GPU until it is destroyed.
class Computing {
 public:
  explicit Computing(std::size_t bytes) {
    std::array<int, 2> ready{};
    std::array<int, 2> done{};
    if (::pipe(ready.data()) != 0 || ::pipe(done.data()) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(done[1]);
      const char holds = take(bytes) ? 'y' : 'n';
      static_cast<void>(::write(ready[1], &holds, 1));
      char byte = 0;
      static_cast<void>(::read(done[0], &byte, 1));
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(done[0]);
    char holds = 'n';
    holds_ = ::read(ready[0], &holds, 1) == 1 && holds == 'y';
    ::close(ready[0]);
    done_ = done[1];
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() {
    ::close(done_);
    ::waitpid(process_, nullptr, 0);
  }
  bool holds() const { return holds_; }
  pid_t process() const { return process_; }

 private:
  static bool take(std::size_t bytes) {
    void* const cuda = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (cuda == nullptr) return false;
    const auto call = [&](const char* name, auto... arguments) {
      using Function = int (*)(decltype(arguments)...);
      const auto function = reinterpret_cast<Function>(::dlsym(cuda, name));
      return function != nullptr && function(arguments...) == 0;
    };
    int device = 0;
    void* context = nullptr;
    unsigned long long memory = 0;
    return call("cuInit", 0U) && call("cuDeviceGet", &device, 0) &&
           call("cuCtxCreate_v2", &context, 0U, device) && call("cuMemAlloc_v2", &memory, bytes);
  }

  pid_t process_ = -1;
  int done_ = -1;
  bool holds_ = false;
};

class RealDriver : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = gpu::Nvml::open();
    if (!opened || opened->count() == 0) {
      const std::string why = opened ? "the driver knows none" : opened.error().message;
      std::printf("no GPU here: %s\n", why.c_str());
      GTEST_SKIP() << why;
    }
    nvml_ = std::make_unique<gpu::Nvml>(*std::move(opened));
  }

  std::unique_ptr<gpu::Nvml> nvml_;
};

TEST_F(RealDriver, TellsOfItsGpusAsNvidiaSmiDoes) {
  const auto names = told("name");
  const auto uuids = told("uuid");
  const auto megabytes = told("memory.total");
  const auto modes = told("mig.mode.current");
  if (names.empty()) GTEST_SKIP() << "there is no nvidia-smi";
  ASSERT_EQ(nvml_->count(), static_cast<int>(names.size()));
  for (int gpu = 0; gpu < nvml_->count(); ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    EXPECT_EQ(nvml_->name(gpu), names[at]);
    EXPECT_EQ(nvml_->uuid(gpu), uuids[at]);
    ASSERT_TRUE(nvml_->memory_gb(gpu));
    EXPECT_NEAR(*nvml_->memory_gb(gpu) * 1024, std::stod(megabytes[at]), 1);
    // "[N/A]" of boards that cannot be cut.
    EXPECT_EQ(nvml_->is_cut(gpu).value_or(false), modes[at] == "Enabled") << modes[at];
  }
}

TEST_F(RealDriver, MeasuresThem) {
  for (int gpu = 0; gpu < nvml_->count(); ++gpu) {
    const gpu::Sample sample = nvml_->sample(gpu);
    ASSERT_TRUE(sample.memory_gb);
    EXPECT_LE(*sample.memory_gb, *nvml_->memory_gb(gpu));
    if (sample.use) {
      EXPECT_GE(*sample.use, 0);
      EXPECT_LE(*sample.use, 1);
    }
    ASSERT_TRUE(sample.power_w);
    EXPECT_GT(*sample.power_w, 5);
    EXPECT_LT(*sample.power_w, 2'000);
    EXPECT_EQ(nvml_->trouble(gpu), "");
  }
}

TEST_F(RealDriver, SeesTheProcessThatComputes) {
  constexpr double kHeld_gb = 2;
  const double before_gb = nvml_->sample(0).memory_gb.value();
  const Computing other(static_cast<std::size_t>(kHeld_gb) << 30U);
  if (!other.holds()) GTEST_SKIP() << "CUDA does not begin here";
  EXPECT_GE(nvml_->sample(0).memory_gb.value() - before_gb, kHeld_gb);
  const auto machine = machine::find_machine("");
  ASSERT_TRUE(machine) << to_string(machine.error());
  const auto holders = nvml_->holders(0);
  ASSERT_TRUE(holders) << to_string(holders.error());
  // In a container the driver's numbers of processes are not ours.
  if (!machine->numbers_processes_as_driver) return;
  bool is_seen = false;
  for (const gpu::Holder& each : *holders) {
    if (each.process != other.process()) continue;
    is_seen = true;
    ASSERT_TRUE(each.memory_gb);
    EXPECT_GE(*each.memory_gb, kHeld_gb);
  }
  EXPECT_TRUE(is_seen);
}

TEST_F(RealDriver, SaysTheSameOfAConnectionFromBothEnds) {
  for (int one = 0; one < nvml_->count(); ++one) {
    for (int other = 0; other < one; ++other) {
      EXPECT_EQ(nvml_->route(one, other).nvlinks, nvml_->route(other, one).nvlinks);
      EXPECT_EQ(nvml_->route(one, other).by, nvml_->route(other, one).by);
      EXPECT_NE(nvml_->route(one, other).by, gpu::Ancestor::not_told);
    }
  }
}

TEST_F(RealDriver, TellsHowGpusAreCut) {
  for (int gpu = 0; gpu < nvml_->count(); ++gpu) {
    const bool is_cut = nvml_->is_cut(gpu).value_or(false);
    EXPECT_EQ(nvml_->mig_profiles(gpu).empty(), !is_cut);
    const auto instances = nvml_->mig_instances(gpu);
    ASSERT_TRUE(instances) << to_string(instances.error());
    EXPECT_TRUE(is_cut || instances->empty());
    for (const gpu::MigInstance& each : *instances) {
      if (each.uuid.empty()) continue;
      EXPECT_THAT(each.uuid, StartsWith("MIG-"));
      EXPECT_NE(each.name, "");
    }
  }
}

TEST_F(RealDriver, GivesTheServiceItsMachine) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  const auto machine = machine::find_machine("");
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_TRUE(machine->has_driver);
  int whole = 0;
  for (int gpu = 0; gpu < nvml_->count(); ++gpu)
    whole += nvml_->is_cut(gpu).value_or(false) ? 0 : 1;
  if (whole == 0) return;
  const cluster::Cluster& found = machine->cluster;
  const cluster::NodeClass& make = found.classes[found.nodes.front().node_class];
  EXPECT_EQ(make.gpus, whole);
  EXPECT_EQ(make.gpu_type, nvml_->name(machine->driver_numbers.front().front().value()));
  EXPECT_GT(make.gpu_memory_gb, 1);
  EXPECT_TRUE(whole > 1 || make.connections.empty());
}

}  // namespace
}  // namespace almanac
