// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake: how many blocks of each prompt a pool of some capacity has.
///
/// Source   Qin et al., Mooncake, FAST'25, section 6.
#include <map>
#include <optional>

#include <fmt/format.h>

#include "inference/request_log.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "serving/block_pool.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_mooncake(Recipes& registry);

namespace mooncake_recipe {
namespace {

using namespace inference;

constexpr const char* kLogs = "data/inference/mooncake_*.csv";
constexpr const char* kTotals = "golden/mooncake/*_lru.csv";
constexpr const char* kRequests = "golden/mooncake/*_hits.csv";

std::vector<double> hits(const Requests& requests, std::size_t capacity) {
  serving::BlockPool pool(capacity);
  std::vector<double> made;
  for (const Request& each : requests.all) {
    made.push_back(static_cast<double>(pool.use(requests.ids(each))));
  }
  return made;
}

/// "unlimited" and "inf" are 0.
std::size_t parse_capacity(std::string_view text) {
  if (text == "inf" || text == "unlimited") return 0;
  const auto value = text::parse_whole(text);
  require(value && *value > 0, fmt::format("expected a capacity, found '{}'", text));
  return static_cast<std::size_t>(*value);
}

void compare_totals(Bench& bench, const File& file, const Requests& requests) {
  Rows rows(file.path, {"capacity_blocks", "prefix_hit_blocks", "total_blocks", "hit_ratio"});
  while (rows.next()) {
    const std::string told(rows.text("capacity_blocks"));
    double found = 0;
    for (const double each : hits(requests, parse_capacity(told))) found += each;
    const auto total = static_cast<double>(requests.blocks.size());
    const std::map<std::string, double> ours{
        {"prefix_hit_blocks", found}, {"total_blocks", total}, {"hit_ratio", found / total}};
    for (const auto& [name, value] : ours) {
      bench.add(fmt::format("{} at {} blocks: {}", file.stem, told, name), rows.number(name), value,
                name == "hit_ratio" ? "" : "blocks");
    }
  }
}

/// Columns hit_10000, hit_cap10000 or hit_unlimited; a request a row.
void compare_requests(Bench& bench, const File& file, const Requests& requests) {
  const std::vector<std::string> columns = Rows(file.path, {"request"}).header();
  for (const std::string& name : columns) {
    constexpr std::string_view kCap = "hit_cap", kHit = "hit_";
    if (!name.starts_with(kHit)) continue;
    const std::size_t capacity = parse_capacity(
        std::string_view(name).substr(name.starts_with(kCap) ? kCap.size() : kHit.size()));
    bench.add_column(fmt::format("{}: {}", file.stem, name),
                     read_columns(file.path, {name}).at(name), hits(requests, capacity), "blocks");
  }
}

void make(Bench& bench) {
  std::map<std::string, Requests> logs;
  bench.each(kLogs,
             [&](const File& file) { logs[file.stem] = value_or_throw(read_requests(file.path)); });
  const auto log_of = [&](const File& file) -> const Requests& {
    const std::string name = "mooncake_" + file.stem.substr(0, file.stem.rfind('_'));
    require(logs.contains(name), fmt::format("there is no log {}", name));
    return logs.at(name);
  };
  bench.each(kTotals, [&](const File& file) { compare_totals(bench, file, log_of(file)); });
  bench.each(kRequests, [&](const File& file) { compare_requests(bench, file, log_of(file)); });
}

}  // namespace
}  // namespace mooncake_recipe

void register_mooncake(Recipes& registry) {
  using namespace mooncake_recipe;
  registry.add({.name = "mooncake",
                .summary = "blocks of prompts that a pool of some capacity has",
                .paper = "Qin et al., FAST'25 (Mooncake)",
                .kind = Kind::second,
                .needs = {{kLogs, "requests of github.com/kvcache-ai/Mooncake"},
                          {kTotals, "the pool's rule, part of the shared data"},
                          {kRequests, "the pool's rule, request by request"}},
                .make = make});
}

}  // namespace almanac::reproduce
