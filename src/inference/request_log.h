// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads logs of requests: which columns of a table say when a request came and how many tokens it
/// had. A format is a file in format/ that names them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
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
  /// Requests by arrival, the first at 0 where `from_first`. Fails with invalid where there are
  /// none.
  Result<Requests> done(const std::string& path, std::int32_t tokens_per_block, bool from_first);

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
  static std::uint32_t number_of(std::string_view name, Numbers& known,
                                 std::vector<std::string>& names);
  Requests requests_;
  Numbers models_;    // into Requests::models
  Numbers tenants_;   // into Requests::tenants
  Numbers adapters_;  // into Requests::adapters
};

/// A table of requests: the names of its columns, and what its times count.
struct LogColumns {
  std::string_view arrival{};
  std::string_view prompt{};
  std::string_view output{};
  std::string_view blocks = "";   ///< Ids as "0 14-27"; "" = none.
  std::string_view model = "";    ///< What is asked for, where the table says it; "" = it does not.
  std::string_view tenant = "";   ///< Who asks, likewise.
  std::string_view adapter = "";  ///< By which adapter of the model it is answered, likewise.
  /// Microseconds of one unit of the arrival; 0 = dates with times.
  double micros = 1e6;
  std::int32_t tokens_per_block = 0;
  bool skip_unanswered = false;  ///< Rows with no output are failures.
};

/// Fails with not_found, corrupt, and invalid naming file, line and cell.
Result<Requests> read_table(const std::string& path, const LogColumns& columns);

/// A part of a log's time, as its arrivals count.
struct LogPart {
  Micros from = 0;
  Micros until = kNever;  ///< Not included.
};

/// Reads a log of any known format, with the models that it names; of a folder the one file in it
/// that tells clients. Arrivals count from the beginning of `part`. Fails also with unsupported,
/// naming the formats, and with invalid where no request comes in that part.
Result<Requests> read_requests_by_model(const std::string& path, const LogPart& part = {});
/// The same as requests for one model, whatever they name.
Result<Requests> read_requests(const std::string& path, const LogPart& part = {});

/// Tokens of one block id of the plain table, as of Mooncake's.
inline constexpr std::int32_t kPlainBlockTokens = 512;
/// Writes the plain table: arrival_s to the microsecond, prompt_tokens, output_tokens, and model,
/// tenant, adapter and block_ids where requests have them; `path` "-" = the standard output. Fails
/// with unavailable. Requires ids of blocks of kPlainBlockTokens where there are any.
Result<void> save_requests(const Requests& requests, const std::string& path);

/// Whether `header` has all of `columns` between its commas.
bool has_columns(std::string_view header, std::initializer_list<std::string_view> columns);

}  // namespace almanac::inference
