// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads logs of requests: which columns of a table say when a request came and how many tokens it
/// had. A format is a file in format/ that names them.
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

/// Takes requests in the order of a log, judges them, and sorts them in the end.
class RequestIntake {
 public:
  /// Fails with invalid, naming the place, for what cannot be: counts of tokens below 0 or beyond
  /// 100 million, a prompt of none.
  Result<void> add(const Where& where, Micros at, double prompt, double output);
  /// Adds an id of a block to the request that was added last.
  void add_block(std::uint64_t id);
  /// Says what the request that was added last asks for.
  void ask_for(std::string_view model);
  /// Says who asked for the request that was added last.
  void come_from(std::string_view tenant);
  /// Says which adapter the request that was added last names; "" = none.
  void adapt_by(std::string_view adapter);
  /// Adds a note for the user.
  void note(std::string text) { requests_.notes.push_back(std::move(text)); }

  std::size_t size() const { return requests_.size(); }
  bool empty() const { return requests_.all.empty(); }
  /// From the earliest arrival to the latest.
  Micros span() const;
  /// Multiplies the arrivals, which were added in some other unit.
  void scale_arrivals(double micros);
  /// Finds the size of a block and drops ids that do not fit. Fails as settle_blocks() does.
  Result<void> settle_blocks(const std::string& path, const BlockRule& rule);
  /// 0 = no ids, or not settled.
  std::int32_t tokens_per_block() const { return requests_.tokens_per_block; }
  /// Requests by arrival, the first at 0 where `from_first`. Fails with invalid where there are
  /// none.
  Result<Requests> done(const std::string& path, bool from_first);

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
  static std::uint32_t number_of(std::string_view name, Numbers& known,
                                 std::vector<std::string>& names);
  Requests requests_;
  std::vector<std::int64_t> lines_;  // of each request
  Numbers models_;                   // into Requests::models
  Numbers tenants_;                  // into Requests::tenants
  Numbers adapters_;                 // into Requests::adapters
};

/// Which columns of a table, or keys of JSON lines, say what of a request; and what its times
/// count.
struct LogColumns {
  std::string arrival{};
  std::string prompt{};
  std::string output{};
  std::string blocks{};   ///< Ids as "0 14-27", or a JSON list; "" = none.
  std::string model{};    ///< What is asked for, where the log says it; "" = it does not.
  std::string tenant{};   ///< Who asks, likewise.
  std::string adapter{};  ///< By which adapter of the model it is answered, likewise.
  /// Microseconds of one unit of the arrival; 0 = dates with times.
  double micros = 1e6;
  bool is_gap = false;        ///< The arrival is the time since the request before.
  bool may_be_other = false;  ///< Seconds or milliseconds: the log itself must show which.
  BlockRule block{};
  bool skip_unanswered = false;  ///< Rows with no output are failures.
  bool needs_all_named = false;  ///< Every column named must be there: a user named them.
  char delimiter = '\0';         ///< Of a table; NUL = found in the header.
};

/// Reads a table. Fails with not_found, corrupt, and invalid naming file, line and cell.
Result<Requests> read_table(const std::string& path, const LogColumns& columns);
/// Reads one JSON object a line. Fails likewise.
Result<Requests> read_json_lines(const std::string& path, const LogColumns& columns);

/// A part of a log's time, as its arrivals count.
struct LogPart {
  Micros from = 0;
  Micros until = kNever;  ///< Not included.
};

/// Reads a log of any known format, with the models that it names; of a folder the one file in it
/// that tells clients. `column_map` names a TOML file (log_columns.h) that says which columns or
/// keys mean what; "" = the log is of a known format. Arrivals count from the beginning of `part`.
/// Fails also with unsupported, naming the formats, and with invalid where no request comes in that
/// part.
Result<Requests> read_requests_by_model(const std::string& path, const LogPart& part = {},
                                        const std::string& column_map = {});
/// The same as requests for one model, whatever they name.
Result<Requests> read_requests(const std::string& path, const LogPart& part = {},
                               const std::string& column_map = {});

/// Tokens of one block id of the plain table, as of Mooncake's.
inline constexpr std::int32_t kPlainBlockTokens = 512;
/// Writes the plain table: arrival_s to the microsecond, prompt_tokens, output_tokens, and model,
/// tenant, adapter and block_ids where requests have them; `path` "-" = the standard output. Fails
/// with unavailable. Requires ids of blocks of kPlainBlockTokens where there are any.
Result<void> save_requests(const Requests& requests, const std::string& path);

/// Whether the line `header` of a table has all of `columns`, whatever stands between them.
bool has_columns(std::string_view header, std::initializer_list<std::string_view> columns);

}  // namespace almanac::inference
