// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads request logs: columns of a table give the arrival and the token counts of a request. A
/// format is a file in format/ that names the columns.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/log_blocks.h"
#include "inference/request.h"

namespace almanac::inference {

/// In the year 2286. A later time is a mistake, and simulating up to it takes for ever.
inline constexpr Micros kLatestArrival = 1e16;

/// Collects requests in the order of a log, validates them, and sorts them at the end.
class RequestIntake {
 public:
  /// Fails with `invalid`, naming the place, for token counts below 0 or beyond 100 million, and
  /// for an empty prompt.
  Result<void> add(const Where& where, Micros at, double prompt, double output);
  /// Adds a block id to the last request.
  void add_block(std::uint64_t id);
  /// Sets the model of the last request.
  void ask_for(std::string_view model);
  /// Sets the tenant of the last request.
  void come_from(std::string_view tenant);
  /// Sets the adapter of the last request; "" for none.
  void adapt_by(std::string_view adapter);
  /// Adds a note for the user.
  void note(std::string text) { requests_.notes.push_back(std::move(text)); }

  std::size_t size() const { return requests_.size(); }
  bool empty() const { return requests_.all.empty(); }
  /// From the earliest arrival to the latest.
  Micros span() const;
  /// Multiplies all arrivals, which were added in another unit.
  void scale_arrivals(double micros);
  /// Determines the block size and drops ids that do not fit. Fails like settle_blocks().
  Result<void> settle_blocks(const std::string& path, const BlockRule& rule);
  /// Returns 0 if there are no ids, or before settle_blocks().
  std::int32_t tokens_per_block() const { return requests_.tokens_per_block; }
  /// Returns the requests by arrival, the first at 0 if `from_first`. Fails with `invalid` if there
  /// are none.
  Result<Requests> done(const std::string& path, bool from_first);

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
  static std::uint32_t number_of(std::string_view name, Numbers& known,
                                 std::vector<std::string>& names);
  Requests requests_;
  std::vector<std::int64_t> lines_;  // by request
  Numbers models_;                   // into Requests::models
  Numbers tenants_;                  // into Requests::tenants
  Numbers adapters_;                 // into Requests::adapters
};

/// The columns of a table, or keys of JSON lines, that describe a request, and the unit of its
/// times.
struct LogColumns {
  std::string arrival{};
  std::string prompt{};
  std::string output{};
  std::string blocks{};   ///< Ids as "0 14-27", or a JSON list; "" = none.
  std::string model{};    ///< Requested model; "" if the log has none.
  std::string tenant{};   ///< Tenant, likewise.
  std::string adapter{};  ///< Adapter of the model, likewise.
  /// Microseconds per unit of the arrival; 0 for dates with times.
  double micros = 1e6;
  bool is_gap = false;        ///< Whether the arrival is the time since the previous request.
  bool may_be_other = false;  ///< Whether the unit (seconds or milliseconds) must be inferred from
                              ///< the log.
  BlockRule block{};
  bool skip_unanswered = false;  ///< Whether rows without output are failures.
  bool needs_all_named = false;  ///< Whether every column must exist, because a user named them.
  char delimiter = '\0';         ///< Of a table; NUL to detect it in the header.
};

/// Reads a table. Fails with `not_found`, `corrupt`, or `invalid` naming file, line and cell.
Result<Requests> read_table(const std::string& path, const LogColumns& columns);
/// Reads one JSON object per line. Fails likewise.
Result<Requests> read_json_lines(const std::string& path, const LogColumns& columns);

/// A part of a log's time, in the log's own times.
struct LogPart {
  Micros from = 0;
  Micros until = kNever;  ///< Not included.
};

/// Reads a log of any known format, including the models that it names; in a folder, the one file
/// with client data. `column_map` names a TOML file (log_columns.h) that assigns columns or keys;
/// "" for a known format. Arrivals count from the start of `part`. Also fails with `unsupported`,
/// naming the formats, and with `invalid` if no request arrives in that part.
Result<Requests> read_requests_by_model(const std::string& path, const LogPart& part = {},
                                        const std::string& column_map = {});
/// Same, as requests for one model, whatever models they name.
Result<Requests> read_requests(const std::string& path, const LogPart& part = {},
                               const std::string& column_map = {});

/// Tokens per block id of the plain table, as in Mooncake's.
inline constexpr std::int32_t kPlainBlockTokens = 512;
/// Writes the plain table: arrival_s to the microsecond, prompt_tokens, output_tokens and, if
/// requests have them, model, tenant, adapter and block_ids. `path` "-" is the standard output.
/// Fails with `unavailable`. Requires block ids of kPlainBlockTokens, if any.
Result<void> save_requests(const Requests& requests, const std::string& path);

/// Whether the header line of a table has all of `columns`, possibly among others.
bool has_columns(std::string_view header, std::initializer_list<std::string_view> columns);

}  // namespace almanac::inference
