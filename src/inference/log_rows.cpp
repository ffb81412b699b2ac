// SPDX-License-Identifier: Apache-2.0

/// Reads the rows of request logs: cells of a table, or keys of JSON lines.
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "inference/log_units.h"
#include "inference/request_log.h"
#include "table/csv_reader.h"
#include "table/lines.h"
#include "text/datetime.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

/// A date with a time, in tenths of microseconds since 1970: more than a double holds.
std::optional<std::int64_t> parse_moment(std::string_view text) {
  const std::size_t point = text.find('.');
  std::string whole(text.substr(0, point));
  std::int64_t fraction = 0;
  if (point != std::string_view::npos) {
    std::int64_t unit = 1'000'000;
    std::size_t at = point + 1;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      fraction += (text[at] - '0') * unit;
    }
    whole += text.substr(at);
  }
  const auto time = text::parse_datetime(whole);
  if (!time) return std::nullopt;
  return time->time_since_epoch().count() * 10'000 + fraction;
}

std::optional<std::uint64_t> parse_id(std::string_view text) {
  std::uint64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return id;
}

/// Adds the ids of "0 14-27", which are 0 and 14 to 27; false = it is no such list.
bool add_blocks(std::string_view text, RequestIntake& intake) {
  constexpr std::uint64_t kMost = 1'000'000;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view part = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (part.empty()) continue;
    const std::size_t dash = part.find('-');
    const auto first = parse_id(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_id(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first > kMost) return false;
    for (std::uint64_t count = 0; count <= *last - *first; ++count) {
      intake.add_block(*first + count);
    }
  }
  return true;
}

/// The texts of one request; "" = none.
struct Cells {
  std::string_view arrival{}, prompt{}, output{}, blocks{}, model{}, tenant{}, adapter{};
};

tl::unexpected<Error> wrong(const std::string& column, std::string_view text, const char* what,
                            const Where& where) {
  constexpr std::size_t kShown = 60;
  return fail(Code::invalid,
              fmt::format("{}: \"{}\" is not a {}", column, text.substr(0, kShown), what), where);
}

/// Turns cells into requests.
class RowReader {
 public:
  explicit RowReader(const LogColumns& columns) : columns_(columns) {}

  /// Takes one row; false = the row is left out.
  Result<bool> take(const Where& where, const Cells& cells) {
    auto at = arrival(cells.arrival);
    if (!at) {
      return wrong(columns_.arrival, cells.arrival, columns_.micros == 0 ? "date" : "time", where);
    }
    if (columns_.is_gap) *at = last_ += *at;
    const auto in = text::parse_decimal(cells.prompt);
    if (!in) return wrong(columns_.prompt, cells.prompt, "count of tokens", where);
    const auto out = text::parse_decimal(cells.output);
    if (!out) return wrong(columns_.output, cells.output, "count of tokens", where);
    if (columns_.skip_unanswered && *out == 0) {
      ++unanswered_;
      return false;
    }
    if (auto added = intake.add(where, *at, *in, *out); !added) {
      return tl::unexpected(added.error());
    }
    if (!columns_.model.empty()) intake.ask_for(cells.model);
    if (!columns_.tenant.empty()) intake.come_from(cells.tenant);
    if (!columns_.adapter.empty()) intake.adapt_by(cells.adapter);
    if (!add_blocks(cells.blocks, intake)) {
      return wrong(columns_.blocks, cells.blocks, "list of blocks, as \"0 14-27\"", where);
    }
    return true;
  }

  /// Settles what only the whole log shows.
  Result<Requests> done(const std::string& path, bool has_points) {
    if (unanswered_ > 0) {
      intake.note(fmt::format("requests without an answer left out: {}", unanswered_));
    }
    if (auto settled = intake.settle_blocks(path, columns_.block); !settled) {
      return tl::unexpected(settled.error());
    }
    if (columns_.may_be_other && !intake.empty()) {
      const std::int32_t size = intake.tokens_per_block();
      // Only Bailian's form counts seconds, and the chats that it names prove it.
      const bool is_proved = columns_.micros == 1e6;
      const bool has_usual_blocks = size == 0 || size == columns_.block.tokens;
      const auto unit = arrival_unit({.usual = columns_.micros,
                                      .is_usual = is_proved || has_usual_blocks,
                                      .has_points = has_points,
                                      .requests = intake.size(),
                                      .span = intake.span()},
                                     path);
      if (!unit) return tl::unexpected(unit.error());
      if (*unit != columns_.micros) {
        intake.note(
            fmt::format("{} is assumed to be in {}: only then is the rate of requests plausible",
                        columns_.arrival, *unit == 1e6 ? "seconds" : "milliseconds"));
      }
      intake.scale_arrivals(*unit);
    }
    return intake.done(path, columns_.micros == 0);
  }

  RequestIntake intake;

 private:
  std::optional<Micros> arrival(std::string_view text) {
    if (columns_.micros == 0) {
      const auto moment = parse_moment(text);
      if (!moment) return std::nullopt;
      if (!first_) first_ = moment;
      return static_cast<double>(*moment - *first_) / 10;
    }
    const auto value = text::parse_decimal(text);
    const double finest = columns_.may_be_other ? 1e-3 : columns_.micros;  // nanoseconds, if
                                                                           // unknown
    if (!value || (columns_.is_gap && *value < 0) || std::abs(*value) * finest > kLatestArrival) {
      return std::nullopt;
    }
    return columns_.may_be_other ? *value : *value * columns_.micros;
  }

  const LogColumns& columns_;
  std::optional<std::int64_t> first_;  // moment
  Micros last_ = 0;                    // arrival of the row before, of gaps
  std::int64_t unanswered_ = 0;
};

/// Index of a column that a table does not have.
constexpr std::size_t kNone = std::string_view::npos;

/// What `row` has under `key`, as a table would spell it; a list of ids with blanks between them.
Result<std::string> spelled(const nlohmann::json& row, const std::string& key, const Where& where) {
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return std::string();
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_float()) return fmt::format("{}", found->get<double>());
  if (!found->is_array()) return found->dump();
  std::string made;
  for (const auto& id : *found) {
    if (!id.is_number_integer()) {
      return fail(Code::invalid, fmt::format("{}: not all are whole numbers", key), where);
    }
    if (!made.empty()) made += ' ';
    made += std::to_string(id.get<std::uint64_t>());
  }
  return made;
}

}  // namespace

Result<Requests> read_table(const std::string& path, const LogColumns& columns) {
  auto reader = columns.delimiter == '\0' ? table::CsvReader::open_any(path)
                                          : table::CsvReader::open(path, columns.delimiter);
  if (!reader) return tl::unexpected(reader.error());
  const std::array<const std::string*, 7> names{&columns.arrival, &columns.prompt, &columns.output,
                                                &columns.blocks,  &columns.model,  &columns.tenant,
                                                &columns.adapter};
  constexpr std::size_t kNeeded = 3;
  std::array<std::size_t, 7> at{};
  for (std::size_t each = 0; each < names.size(); ++each) {
    at[each] = names[each]->empty() ? kNone : reader->find(*names[each]).value_or(kNone);
    if (at[each] != kNone || (names[each]->empty() && each >= kNeeded)) continue;
    if (each >= kNeeded && !columns.needs_all_named) continue;
    return fail(Code::invalid,
                fmt::format("the column \"{}\" is missing: the header has {}", *names[each],
                            fmt::join(reader->header(), ", ")),
                {.file = path, .line = 1}, text::did_you_mean(*names[each], reader->header()));
  }
  LogColumns there = columns;
  if (at[4] == kNone) there.model.clear();
  if (at[5] == kNone) there.tenant.clear();
  if (at[6] == kNone) there.adapter.clear();
  RowReader rows(there);
  while (true) {
    const auto more = reader->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto cell = [&](std::size_t each) {
      return at[each] == kNone ? std::string_view() : (*reader)[at[each]];
    };
    const auto taken = rows.take(reader->where(), {.arrival = cell(0),
                                                   .prompt = cell(1),
                                                   .output = cell(2),
                                                   .blocks = cell(3),
                                                   .model = cell(4),
                                                   .tenant = cell(5),
                                                   .adapter = cell(6)});
    if (!taken) return tl::unexpected(taken.error());
  }
  return rows.done(path, false);
}

Result<Requests> read_json_lines(const std::string& path, const LogColumns& columns) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  RowReader rows(columns);
  bool has_points = false;
  const std::array<const std::string*, 7> names{&columns.arrival, &columns.prompt, &columns.output,
                                                &columns.blocks,  &columns.model,  &columns.tenant,
                                                &columns.adapter};
  std::array<std::string, 7> cells;
  while (true) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) break;
    if (**line == '\0') continue;
    const Where where{.file = path, .line = lines->line()};
    const nlohmann::json row = nlohmann::json::parse(*line, nullptr, false);
    if (!row.is_object()) return fail(Code::invalid, "is not a JSON object", where);
    for (std::size_t each = 0; each < names.size(); ++each) {
      if (names[each]->empty()) continue;
      constexpr std::size_t kNeeded = 3;
      if (each < kNeeded && !row.contains(*names[each])) {
        return fail(Code::invalid, fmt::format("{} is not a number, or is missing", *names[each]),
                    where,
                    row.contains("delay") ? "turns that follow an answer are not supported" : "");
      }
      auto text = spelled(row, *names[each], where);
      if (!text) return tl::unexpected(text.error());
      cells[each] = std::move(*text);
    }
    has_points |= row[columns.arrival].is_number_float();
    const auto taken = rows.take(where, {.arrival = cells[0],
                                         .prompt = cells[1],
                                         .output = cells[2],
                                         .blocks = cells[3],
                                         .model = cells[4],
                                         .tenant = cells[5],
                                         .adapter = cells[6]});
    if (!taken) return tl::unexpected(taken.error());
  }
  return rows.done(path, has_points);
}

}  // namespace almanac::inference
