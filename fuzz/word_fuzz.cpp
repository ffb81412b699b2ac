// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what a job writes of itself, in pieces of any size: only numbers that a training
/// may have are heard.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "perf/own_word.h"

namespace {

using namespace almanac;
using perf::OwnProgress;

void check(const OwnProgress& said) {
  ALMANAC_CHECK(std::isfinite(said.step) && said.step >= 0, "step {}", said.step);
  if (const auto& pace = said.pace) {
    ALMANAC_CHECK(pace->step_s > 0 && pace->exchange_s >= 0 && pace->exchange_s < pace->step_s &&
                      pace->samples >= 0,
                  "{} s, {} s, {}", pace->step_s, pace->exchange_s, pace->samples);
  }
  if (const auto& noise = said.noise) {
    ALMANAC_CHECK(noise->sqr >= 0 && noise->var >= 0, "{} {}", noise->sqr, noise->var);
  }
  if (const auto& batches = said.batches) {
    ALMANAC_CHECK(batches->most >= 1 && batches->least_of_gpu >= 1 &&
                      (batches->most_of_gpu == 0 || batches->most_of_gpu >= batches->least_of_gpu),
                  "{} {} {}", batches->most, batches->least_of_gpu, batches->most_of_gpu);
  }
}

/// The file system's clock is coarser than this is fast.
void set_written(int file, std::int64_t second) {
  const timespec times[] = {{second, 0}, {second, 0}};
  ::futimens(file, times);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("word", MFD_CLOEXEC);
  ALMANAC_CHECK(file >= 0 && ::ftruncate(file, 0) == 0, "no file in memory");
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t block = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]);
  std::int64_t second = 0;
  perf::OwnWord word(Time{});
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    const std::string_view piece = bytes.substr(at, block);
    const ssize_t put = ::pwrite(file, piece.data(), piece.size(), static_cast<off_t>(at));
    ALMANAC_CHECK(put == static_cast<ssize_t>(piece.size()), "{} bytes", put);
    set_written(file, ++second);
    word.look(file, Time{} + Duration{1000 * second});
    ALMANAC_CHECK(!word.last() || (*word.last() >= 0 && *word.last() <= 1), "{}", *word.last());
    if (word.progress()) check(*word.progress());
    for (const OwnProgress::Metric& each : word.reported()) {
      ALMANAC_CHECK(std::isfinite(each.value) && std::isfinite(each.step), "{} at {}", each.value,
                    each.step);
    }
  }
  return 0;
}
