// SPDX-License-Identifier: Apache-2.0
#include "cli/cold_start_option.h"

#include <cmath>

#include <fmt/format.h>

#include "cli/program.h"
#include "inference/cold_start.h"
#include "text/duration.h"

namespace almanac::cli {

Result<Duration> read_cold_start(const std::string& what, const std::string& told,
                                 const inference::Service& service) {
  if (const auto tier = inference::weight_tier(told)) {
    const inference::ColdStart made = inference::cold_start(service, *tier);
    note(
        fmt::format("cold start from {}: {:.1f} s, of which {:.1f} s for {:.4g} GB of weights "
                    "(assumed times, not measured)",
                    told, made.all() / 1e6, made.weights / 1e6, made.bytes / 1e9));
    return Duration{std::llround(made.all() / 1e3)};
  }
  const auto time = text::parse_duration(told);
  if (time && *time >= Duration{0} && *time != text::kUnlimited) return *time;
  return fail(Code::usage,
              fmt::format("{} must be a time such as 30s, or disk, memory or sleep, found \"{}\"",
                          what, told),
              {}, "use s, m or h");
}

}  // namespace almanac::cli
