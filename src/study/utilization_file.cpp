// SPDX-License-Identifier: Apache-2.0
#include "study/utilization_file.h"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "table/lines.h"
#include "text/datetime.h"

namespace almanac::study {
namespace {

using stats::kNaN;

/// Takes the text up to the next comma off `line`.
std::string_view field(std::string_view& line) {
  const std::size_t comma = std::min(line.find(','), line.size());
  const std::string_view taken = line.substr(0, comma);
  line.remove_prefix(std::min(comma + 1, line.size()));
  return taken;
}

/// The time without the name of its zone.
std::optional<Time> time_of(std::string_view text) {
  constexpr std::size_t kLength = std::string_view("2017-10-03 00:01:00").size();
  if (text.size() > kLength && text[kLength] == ' ') text = text.substr(0, kLength);
  return text::parse_datetime(text);
}

bool is_missing(std::string_view text) { return text.empty() || text == "NA" || text == "N/A"; }

std::size_t columns_of(std::string_view header) {
  std::size_t count = 0;
  while (!header.empty()) {
    if (!field(header).empty()) ++count;
  }
  return count;
}

}  // namespace

Result<void> read_utilization(const std::string& path, std::size_t columns,
                              const std::function<void(const UtilizationRow&)>& take) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  const auto where = [&] { return Where{path, lines->line()}; };
  auto header = lines->next();
  if (!header) return tl::unexpected(header.error());
  if (*header == nullptr || columns_of(*header) < columns + 2) {
    return fail(Code::invalid,
                fmt::format("expected a header with time, machine and {} more columns: \"{}\"",
                            columns, *header == nullptr ? "" : std::string_view(*header)),
                where());
  }
  std::vector<double> values;
  for (;;) {
    auto next = lines->next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    std::string_view line(*next);
    if (line.empty()) continue;
    const std::string_view time = field(line);
    const auto at = time_of(time);
    if (!at) {
      return fail(Code::invalid,
                  fmt::format("expected a time as YYYY-MM-DD hh:mm:ss: \"{}\"", time), where());
    }
    UtilizationRow row{.at = *at, .machine = field(line), .values = {}};
    values.clear();
    while (!line.empty()) {
      const std::string_view text = field(line);
      double value = kNaN;
      if (!is_missing(text)) {
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || rest != text.data() + text.size() || !std::isfinite(value)) {
          return fail(Code::invalid, fmt::format("expected a number or NA: \"{}\"", text), where());
        }
      }
      values.push_back(value);
    }
    if (values.size() < columns) values.resize(columns, kNaN);
    row.values = values;
    take(row);
  }
}

}  // namespace almanac::study
