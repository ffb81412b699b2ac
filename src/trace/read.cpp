// SPDX-License-Identifier: Apache-2.0
#include "trace/read.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "table/digest.h"
#include "table/spool.h"
#include "table/stream.h"
#include "text/time_zone.h"
#include "trace/array_limit.h"
#include "trace/clock.h"
#include "trace/column_map.h"
#include "trace/format.h"
#include "trace/intake.h"
#include "trace/table_format.h"

namespace almanac::trace {
namespace {

constexpr std::size_t kHeadSize = std::size_t{64} << 10;

Result<const Format*> choose(const std::string& path, const std::string& name) {
  // The name may be wrong and the file absent; which of both is said first does not matter, but a
  // file that is not there must not be detected.
  auto head = table::read_head(path, kHeadSize);
  if (!head) return tl::unexpected(std::move(head.error()));
  if (!name.empty()) return formats().find(name);
  auto format = formats().detect(Head{std::move(*head)});
  if (!format) format.error().where = {path, 1};
  return format;
}

Result<Format> from_column_map(const std::string& map_path) {
  auto map = load_column_map(map_path);
  if (!map) return tl::unexpected(std::move(map.error()));
  TableFormat format{.name = "csv", .summary = "a table with a column map", .map = std::move(*map)};
  format.numbers_rows = format.map.find("job_id") == nullptr;
  return as_format(std::move(format));
}

Result<Trace> read_file(const std::string& path, const ReadOptions& options) {
  Format format;
  if (options.column_map.empty()) {
    const auto chosen = choose(path, options.format);
    if (!chosen) return tl::unexpected(chosen.error());
    format = **chosen;
  } else {
    if (!options.format.empty() && options.format != "csv") {
      return fail(Code::usage, "--format and --columns exclude each other");
    }
    auto made = from_column_map(options.column_map);
    if (!made) return tl::unexpected(std::move(made.error()));
    format = std::move(*made);
  }

  Trace trace;
  trace.path = path;
  trace.format = format.name;
  std::optional<text::TimeZone> zone;
  if (!options.time_zone.empty()) {
    auto found = text::TimeZone::find(options.time_zone);
    if (!found) return tl::unexpected(std::move(found.error()));
    zone = std::move(*found);
  }
  Intake intake(trace, options.lenient, zone);
  if (auto done = format.read(path, intake); !done) return tl::unexpected(std::move(done.error()));
  if (zone && !trace.local_times) {
    return fail(
        Code::usage,
        "--time-zone only applies to times without a zone, and these are seconds or have one",
        {path}, "leave out --time-zone");
  }
  if (zone && trace.time_zone.empty()) {
    read_times_in(trace, *zone);
    trace.time_zone = zone->name();
  }
  if (auto done = intake.finish(); !done) return tl::unexpected(std::move(done.error()));
  find_array_limits(trace);
  reconcile(trace, format.run_times);
  auto digest = table::sha256_file(path);
  if (!digest) return tl::unexpected(std::move(digest.error()));
  trace.sha256 = std::move(*digest);
  return trace;
}

}  // namespace

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  if (path != "-") return read_file(path, options);
  const auto spooled = table::spool_standard_input();
  if (!spooled) return tl::unexpected(spooled.error());
  auto trace = read_file(*spooled, options);
  if (trace) {
    trace->path = kStandardInput;
  } else if (trace.error().where.file == *spooled) {
    trace.error().where.file = kStandardInput;
  }
  return trace;
}

}  // namespace almanac::trace
