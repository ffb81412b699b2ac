// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a batch script: an error with a message and a place, or a submission that a user
/// could be given.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "submission/script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  store::Submission base;
  base.environment = {"PATH=/bin", "HOME=/root", "SEED=1"};
  const auto script = submission::read_script(bytes, "job.sh", base, Time(1'795'262'400s));
  if (!script) {
    const Error& error = script.error();
    ALMANAC_CHECK(!error.message.empty() && error.where.file == "job.sh", "{}", to_string(error));
    ALMANAC_CHECK(error.code == Code::invalid || error.code == Code::unsupported, "{}",
                  to_string(error));
    return 0;
  }
  const store::Submission& asked = script->asked;
  constexpr double kMost = 1e6;
  ALMANAC_CHECK(asked.script == bytes && !asked.name.empty(), "{}", asked.name);
  ALMANAC_CHECK(asked.gpus >= 0 && asked.gpus <= kMost, "{} GPUs", asked.gpus);
  ALMANAC_CHECK(asked.cpus.value_or(1) > 0 && asked.cpus.value_or(1) <= kMost, "{} cores",
                asked.cpus.value_or(1));
  ALMANAC_CHECK(asked.memory_gb.value_or(0) >= 0 && asked.memory_gb.value_or(0) <= kMost, "{} GB",
                asked.memory_gb.value_or(0));
  ALMANAC_CHECK(asked.time_limit == kNoDuration || asked.time_limit > Duration::zero(), "{} s",
                seconds(asked.time_limit));
  ALMANAC_CHECK(asked.gpu_share > 0 && asked.gpu_share <= 1, "{}", asked.gpu_share);
  ALMANAC_CHECK(asked.indices.size() <= 100'000 &&
                    std::is_sorted(asked.indices.begin(), asked.indices.end()) &&
                    (asked.indices.empty() || asked.indices.front() >= 0),
                "{} tasks", asked.indices.size());
  for (const store::JobNumber job : asked.after) {
    ALMANAC_CHECK(static_cast<std::int64_t>(job) > 0, "job {}", static_cast<std::int64_t>(job));
  }
  return 0;
}
