// SPDX-License-Identifier: Apache-2.0
#include "reproduce/generated.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "reproduce/read.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {
namespace {

constexpr std::int64_t kSampleJobs = 400;

bool g_plays_samples = false;

}  // namespace

Samples::Samples() { g_plays_samples = true; }

Samples::~Samples() { g_plays_samples = false; }

bool plays_samples() { return g_plays_samples; }

trace::Workload generated(const std::string& name) {
  auto workload = value_or_throw(trace::parse_workload(*trace::preset(name), name + ".toml"));
  if (!g_plays_samples || workload.span.jobs <= kSampleJobs) return workload;
  return trace::stretched(std::move(workload), kSampleJobs);
}

}  // namespace almanac::reproduce
