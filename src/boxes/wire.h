// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a box reports to the head, and the answer, in JSON. Both are complete: a run that the
/// answer does not name is not wanted any more, and its end has been recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "shepherd/run.h"

namespace almanac::boxes {

/// How often a box reports.
inline constexpr Duration kEvery = 1s;
/// Longest piece of output in one request, in bytes.
inline constexpr std::size_t kPiece = std::size_t{256} << 10;

/// Whether it may be the name of a box: letters, digits, "-", "_" and ".", at most 64.
bool is_box_name(std::string_view text);
/// Whether it may be the id of a box's state folder: 1 to 64 hexadecimal digits.
bool is_box_id(std::string_view text);

/// Names one run for ever: "17.1-9f3c..." is run 17.1 with its nonce.
struct RunKey {
  std::string run{};
  std::string nonce{};

  bool operator==(const RunKey&) const = default;
};
std::string to_string(const RunKey& key);
/// Returns nothing unless it is such a key, and so a safe name of a file.
std::optional<RunKey> parse_key(std::string_view text);

/// A run that the box has.
struct RunReport {
  std::string key{};
  bool waits = false;  ///< It is on the box's disk, and waits until all boxes have it.
  std::optional<shepherd::Outcome> outcome{};  ///< If it has ended, and its output is sent.
};

struct Report {
  std::string id{};  ///< Of the box's state folder, which distinguishes two boxes of one name.
  Time now{};        ///< The box's clock.
  std::string hardware{};  ///< machine::describe_box.
  std::vector<RunReport> runs{};
};

/// A run that the head wants there.
struct RunOrder {
  std::string key{};
  std::string spec{};  ///< What to run; "" if the box has reported the run.
  bool may_start = false;
  std::string order{};   ///< shepherd::order_word(); "" for none.
  std::string limits{};  ///< New limits (shepherd::Limits); "" for none.
};

struct Orders {
  /// The operator has declared the box gone: it ends all that it has, and joins again as new.
  bool is_gone = false;
  std::vector<RunOrder> runs{};
};

/// Whether the head has opened the logs of a run; a box starts the run after that.
struct Logs {
  bool are_open = false;  ///< If not, and without `trouble`: ask again.
  std::string trouble{};  ///< Why they cannot be opened; "" if they may be.
};

std::string to_json(const Report& report);
std::string to_json(const Orders& orders);
std::string to_json(const Logs& logs);
/// Fail with `invalid`; read_report() also if the id is none, or a time is beyond the year 2200.
Result<Report> read_report(std::string_view text);
Result<Orders> read_orders(std::string_view text);
Result<Logs> read_logs(std::string_view text);

}  // namespace almanac::boxes
