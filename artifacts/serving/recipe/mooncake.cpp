// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake: how many blocks of each prompt a pool of some capacity has.
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "inference/request_log.h"
#include "serving/block_pool.h"
#include "serving/recipe/recipes.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

std::vector<double> hits(const Requests& requests, std::size_t capacity) {
  BlockPool pool(capacity);
  std::vector<double> made;
  for (const Request& each : requests.all) {
    made.push_back(static_cast<double>(pool.use(requests.ids(each))));
  }
  return made;
}

/// "unlimited" and "inf" are 0.
std::optional<std::size_t> parse_capacity(std::string_view text) {
  if (text == "inf" || text == "unlimited") return 0;
  const auto value = text::parse_whole(text);
  return value && *value > 0 ? std::optional(static_cast<std::size_t>(*value)) : std::nullopt;
}

Result<void> compare_totals(const std::string& path, const Requests& requests, Comparison& made) {
  const auto sheet =
      Sheet::read(path, {"capacity_blocks", "prefix_hit_blocks", "total_blocks", "hit_ratio"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const std::string& told = sheet->text("capacity_blocks", row);
    const auto capacity = parse_capacity(told);
    if (!capacity) {
      return fail(Code::invalid, fmt::format("\"{}\" is no capacity", told), {.file = path});
    }
    double found = 0;
    for (const double each : hits(requests, *capacity)) found += each;
    const auto total = static_cast<double>(requests.blocks.size());
    const std::map<std::string, double> ours{
        {"prefix_hit_blocks", found}, {"total_blocks", total}, {"hit_ratio", found / total}};
    for (const auto& [name, value] : ours) {
      const auto published = sheet->number(name, row);
      if (!published) return tl::unexpected(published.error());
      made.add(fmt::format("{} at {} blocks: {}", stem(path), told, name), *published, value,
               name == "hit_ratio" ? "" : "blocks");
    }
  }
  return {};
}

Result<void> compare_requests(const std::string& path, const Requests& requests, Comparison& made) {
  constexpr std::string_view kCap = "hit_cap", kHit = "hit_";
  const auto sheet = Sheet::read(path, {"request"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (const std::string& name : sheet->names()) {
    if (!name.starts_with(kHit)) continue;
    const auto capacity = parse_capacity(
        std::string_view(name).substr(name.starts_with(kCap) ? kCap.size() : kHit.size()));
    if (!capacity) {
      return fail(Code::invalid, fmt::format("{} tells no capacity", name), {.file = path});
    }
    const auto published = sheet->numbers(name);
    if (!published) return tl::unexpected(published.error());
    made.add_column(fmt::format("{}: {}", stem(path), name), *published, hits(requests, *capacity),
                    "blocks");
  }
  return {};
}

}  // namespace

Result<Comparison> compare_mooncake(const Shared& shared) {
  const std::string folder = shared.golden + "/mooncake";
  const auto tables = files(folder, "", ".csv");
  const auto packed = files(folder, "", ".csv.gz");
  if (!tables && !packed) return tl::unexpected(tables.error());
  Comparison made;
  for (const auto* group : {&tables, &packed}) {
    if (!*group) continue;
    for (const std::string& path : **group) {
      const std::string name = stem(path);
      const std::size_t end = name.rfind('_');
      const auto requests =
          read_requests(shared.data + "/inference/mooncake_" + name.substr(0, end) + ".csv.gz");
      if (!requests) {
        made.fail(requests.error());
        continue;
      }
      const auto done = name.ends_with("_lru") ? compare_totals(path, *requests, made)
                                               : compare_requests(path, *requests, made);
      if (!done) made.fail(done.error());
    }
  }
  return made;
}

}  // namespace almanac::inference
