// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "inference/spot.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::inference {

std::optional<SpotRule> spot_rule(std::string_view word) {
  if (word == "migrate") return SpotRule::migrate;
  if (word == "restart") return SpotRule::restart;
  if (word == "reroute") return SpotRule::reroute;
  return std::nullopt;
}

Result<std::vector<SpotInstance>> read_spot(const std::string& path) {
  auto rows = table::CsvReader::open(path);
  if (!rows) return tl::unexpected(rows.error());
  const auto from = rows->find("from_s"), until = rows->find("until_s");
  if (!from) {
    return fail(Code::invalid, "has no column from_s", {.file = path, .line = 1},
                "a row for each instance: from_s and, if it is taken away, until_s");
  }
  std::vector<SpotInstance> made;
  while (true) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    SpotInstance& each = made.emplace_back();
    const auto begins = text::parse_decimal((*rows)[*from]);
    if (!begins) {
      return fail(Code::invalid, fmt::format("from_s: \"{}\" is not a number", (*rows)[*from]),
                  rows->where(), "write seconds since the first request; 0 for the start");
    }
    each.from = *begins * 1e6;
    if (!until || (*rows)[*until].empty()) continue;
    const auto ends = text::parse_decimal((*rows)[*until]);
    if (!ends || *ends <= *begins) {
      return fail(Code::invalid,
                  fmt::format("until_s: \"{}\" is not a number above from_s", (*rows)[*until]),
                  rows->where(), "leave it empty for an instance that stays");
    }
    each.until = *ends * 1e6;
  }
  if (made.empty()) return fail(Code::invalid, "has no instance", {.file = path});
  return made;
}

int most_at_once(const std::vector<SpotInstance>& instances) {
  std::map<Micros, int> changes;
  for (const SpotInstance& each : instances) {
    ++changes[each.from];
    --changes[each.until];
  }
  int now = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

}  // namespace almanac::inference
