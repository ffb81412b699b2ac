// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a pattern, up to the first newline, and as output of a program behind it: an error
/// with a message, or times between steps that make sense.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "profiling/lines.h"
#include "profiling/meter.h"
#include "profiling/progress.h"
#include "profiling/step_rate.h"

namespace {

using namespace almanac::profiling;

void read(const ProgressReader& reader, std::string_view output) {
  Meter meter(4);
  LineCutter cutter;
  double at_s = 0;
  const std::size_t block = output.empty() ? 1 : 1 + static_cast<unsigned char>(output[0]);
  for (std::size_t at = 0; at < output.size(); at += block) {
    at_s += 0.25;
    cutter.feed(output.substr(at, block), [&](std::string_view line) {
      ALMANAC_CHECK(!line.empty() && line.size() <= LineCutter::kLongest &&
                        line.find_first_of("\n\r\b") == line.npos,
                    "a line of {} bytes", line.size());
      if (const auto progress = reader.read(line)) {
        ALMANAC_CHECK(std::isfinite(progress->value) && progress->value >= 0, "{}",
                      progress->value);
        meter.add(*progress, at_s);
      }
    });
  }
  for (const Interval& interval : meter.intervals()) {
    ALMANAC_CHECK(interval.seconds > 0 && interval.steps > 0, "{} steps in {} s", interval.steps,
                  interval.seconds);
  }
  if (const auto rate = step_rate(meter.intervals())) {
    ALMANAC_CHECK(std::isfinite(rate->step_s) && rate->step_s > 0 && rate->half_width >= 0,
                  "{} +- {}", rate->step_s, rate->half_width);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ProgressReader automatic = ProgressReader::create("auto").value();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(bytes.find('\n'), size);
  const std::string_view output = bytes.substr(std::min(cut + 1, size));
  read(automatic, output);
  const auto reader = ProgressReader::create(std::string(bytes.substr(0, cut)));
  if (!reader) {
    ALMANAC_CHECK(!reader.error().message.empty(), "an error without a message");
    return 0;
  }
  read(*reader, output);
  return 0;
}
