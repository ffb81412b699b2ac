// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "perf/measurement.h"
#include "perf/source/source.h"
#include "table/stream.h"

namespace almanac::perf {
namespace {

/// What lies outside is no measurement, and its logarithm no help.
constexpr double kLeastThroughput = 1e-9;
constexpr double kMostThroughput = 1e12;

bool is_sane(double throughput) {
  return throughput == 0 || (throughput >= kLeastThroughput && throughput <= kMostThroughput);
}

Profile read(const std::string& path) {
  const auto head = table::read_head(path, 1);
  if (!head) throw source::Refused{head.error()};
  if (*head == "{") {
    const auto text = table::read_text_file(path);
    if (!text) throw source::Refused{text.error()};
    return source::read_gavel(path, *text);
  }
  auto csv = table::CsvReader::open(path);
  if (!csv) throw source::Refused{csv.error()};
  source::Rows rows(std::move(*csv));
  if (rows.has("norm_throughput")) return source::read_synergy(std::move(rows));
  if (rows.has("iter_time")) return source::read_rubick(std::move(rows), path);
  if (rows.has("step_time")) return source::read_adaptdl(std::move(rows), path);
  if (rows.has("throughput")) return source::read_own_csv(std::move(rows), path);
  throw source::Refused{{Code::unsupported,
                         "not a profile: column throughput is missing",
                         {path, 1},
                         "see docs/reference/formats.md, Profiles, for the columns"}};
}

}  // namespace

Result<Profile> read_profile(const std::string& path) {
  try {
    Profile profile = read(path);
    if (profile.rows.empty()) return fail(Code::invalid, "the file has no measurement", {path});
    for (const Measurement& row : profile.rows) {
      if (is_sane(row.throughput)) continue;
      return fail(Code::invalid,
                  fmt::format("{} has a throughput of {} samples a second: expected 0, or {} to {}",
                              row.model, row.throughput, kLeastThroughput, kMostThroughput),
                  {path});
    }
    return profile;
  } catch (const source::Refused& refused) {
    return tl::unexpected(refused.error);
  }
}

}  // namespace almanac::perf
