// SPDX-License-Identifier: Apache-2.0

/// \file
/// Feeds bytes to the trace readers and checks what reading promises. Shared by the fuzz targets
/// and by the test that replays their seeds.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "trace/column_map.h"
#include "trace/format.h"
#include "trace/read.h"

namespace almanac::fuzz {

/// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    ALMANAC_CHECK(descriptor_ >= 0, "no memory file");
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      ALMANAC_CHECK(count > 0, "the memory file is full");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// What every job of a trace that was read must be.
inline void check_trace(const trace::Trace& trace) {
  ALMANAC_CHECK(!trace.jobs.empty(), "an empty trace was taken");
  Time last = Time::min();
  for (const trace::Job& job : trace.jobs) {
    const trace::Request& request = job.request;
    ALMANAC_CHECK(request.submit != kNoTime && request.submit >= last, "jobs are out of order");
    ALMANAC_CHECK(job.outcome.run >= Duration::zero(), "a run is negative");
    ALMANAC_CHECK(request.gpus >= 0 && request.nodes >= 0, "a count is negative");
    ALMANAC_CHECK(request.gpu_share > 0 && request.gpu_share <= 1, "a share is no share");
    ALMANAC_CHECK(!(request.cpus < 0) && !(request.memory_gb < 0), "an amount is negative");
    const trace::Outcome& outcome = job.outcome;
    ALMANAC_CHECK(!(outcome.reference_cpus <= 0) && !(outcome.reference_memory_gb <= 0),
                  "a run was recorded with nothing");
    ALMANAC_CHECK(!(outcome.bandwidth_gbs < 0) && !std::isinf(outcome.bandwidth_gbs),
                  "a bandwidth is none");
    ALMANAC_CHECK(!(outcome.step_s <= 0) && !std::isinf(outcome.step_s), "a step is none");
    last = request.submit;
  }
  for (const trace::Attempt& attempt : trace.attempts) {
    ALMANAC_CHECK(attempt.job < trace.jobs.size(), "an attempt has no job");
    ALMANAC_CHECK(attempt.first_piece + attempt.num_pieces <= trace.pieces.size(),
                  "an attempt has no pieces");
  }
}

/// The targets: every format, "any" (the format is found out) and "column_map".
inline std::vector<std::string> trace_targets() {
  std::vector<std::string> targets{"any", "column_map"};
  for (const trace::Format& format : trace::formats().all()) {
    if (format.summary.find("not a job log") == std::string::npos) targets.push_back(format.name);
  }
  return targets;
}

/// Reads `bytes` as `target` says, strictly and leniently.
inline void read_trace_bytes(std::string_view target, std::string_view bytes) {
  const MemoryFile file(bytes);
  trace::ReadOptions options;
  if (target == "column_map") {
    if (!trace::load_column_map(file.path())) return;
    options.column_map = file.path();
    static const MemoryFile table("id,t,r,g,s\n1,0,5,1,COMPLETED\n2,1,6,2,FAILED\n");
    const auto trace = trace::read_trace(table.path(), options);
    if (trace) check_trace(*trace);
    return;
  }
  if (target != "any") options.format = target;
  for (const bool lenient : {false, true}) {
    options.lenient = lenient;
    const auto trace = trace::read_trace(file.path(), options);
    if (trace) {
      check_trace(*trace);
    } else {
      ALMANAC_CHECK(!trace.error().message.empty(), "an error says nothing");
    }
  }
}

}  // namespace almanac::fuzz
