// SPDX-License-Identifier: Apache-2.0
#include "stand_in/gpus.h"

#include <chrono>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "submission/argument.h"

namespace almanac::stand_in {
namespace {

/// Offset of the locks in the file, far beyond its contents: a byte for each GPU.
constexpr off_t kLocks = off_t{1} << 40;

/// Belongs to the open file, which the tasks inherit.
bool lock(int file, std::size_t gpu, short how) {
  struct flock byte {};
  byte.l_type = how;
  byte.l_whence = SEEK_SET;
  byte.l_start = kLocks + static_cast<off_t>(gpu);
  byte.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &byte) == 0;
}

}  // namespace

std::vector<std::string> held_gpus(const std::string& visible) {
  std::vector<std::string> made;
  if (visible.empty()) return made;
  for (const std::string_view each : submission::split(visible, ',')) made.emplace_back(each);
  return made;
}

Result<StepGpus> take_gpus(const std::vector<std::string>& held, std::optional<int> wanted,
                           const std::string& lock_file, bool immediate) {
  const auto count = static_cast<std::size_t>(wanted.value_or(static_cast<int>(held.size())));
  if (count > held.size()) {
    return fail(Code::usage,
                fmt::format("it requests {} GPUs, but its job has {}", count, held.size()), {},
                "set the GPUs of the job with #SBATCH --gpus");
  }
  if (!wanted || count == 0)
    return StepGpus{.names = count == 0 ? std::vector<std::string>{} : held};
  const int file = lock_file.empty() ? -1 : ::open(lock_file.c_str(), O_RDWR);
  if (file < 0) return StepGpus{.names = {held.begin(), held.begin() + wanted.value()}};
  for (bool is_told = false;;) {
    std::vector<std::size_t> taken;
    for (std::size_t gpu = 0; gpu < held.size() && taken.size() < count; ++gpu) {
      if (lock(file, gpu, F_WRLCK)) taken.push_back(gpu);
    }
    if (taken.size() == count) {
      StepGpus made{.lock = file};
      for (const std::size_t gpu : taken) made.names.push_back(held[gpu]);
      return made;
    }
    for (const std::size_t gpu : taken) lock(file, gpu, F_UNLCK);
    if (immediate) {
      ::close(file);
      return fail(Code::unavailable, "other steps of the job use its GPUs");
    }
    if (!is_told) fmt::print(stderr, "srun: waiting for GPUs used by other steps of the job\n");
    is_told = true;
    constexpr std::chrono::milliseconds kPause{100};
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace almanac::stand_in
