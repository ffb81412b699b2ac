// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads job logs that are JSON: an array of records, at the top or under a key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/result.h"
#include "trace/intake.h"

namespace almanac::trace {

using JsonObject = simdjson::ondemand::object;
using JsonValue = simdjson::ondemand::value;

/// Thrown by the functions below for a record that is not what it should be.
struct BadRecord {
  std::string message;
};

/// The text of `key`; "" when it is absent or null. Valid until the next record.
std::string_view text_of(JsonObject& record, const char* key);
/// The number of `key`; nothing when it is absent or null, or as Slurm says so: 2^32-1, 2^32-2,
/// 2^64-1, 2^64-2, {"set": false}, {"infinite": true}.
std::optional<std::int64_t> number_of(JsonObject& record, const char* key);
/// The object or array of `key`; nothing when it is absent or null.
std::optional<JsonObject> object_of(JsonObject& record, const char* key);
std::optional<simdjson::ondemand::array> array_of(JsonObject& record, const char* key);

/// Calls `take` for each record of the array under `key` ("" for the top level) with its line. If
/// it throws BadRecord, `intake` refuses the record. Broken JSON fails with `corrupt`.
Result<void> read_records(const std::string& path, const char* key, Intake& intake,
                          const std::function<Result<void>(JsonObject&, std::int64_t)>& take);

}  // namespace almanac::trace
