// SPDX-License-Identifier: Apache-2.0
#include "trace/json_records.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "table/stream.h"

namespace almanac::trace {
namespace {

using simdjson::ondemand::json_type;

// Slurm's "no value" and "infinite" of 32 bits.
constexpr std::int64_t kNoValue = 0xfffffffe;

bool is_broken(simdjson::error_code error) {
  return error != simdjson::SUCCESS && error != simdjson::NO_SUCH_FIELD &&
         error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR &&
         error != simdjson::NUMBER_OUT_OF_RANGE;
}

/// Broken JSON goes out as simdjson's own exception, past the record.
void check(simdjson::error_code error, const char* key, const char* what) {
  if (is_broken(error)) throw simdjson::simdjson_error(error);
  if (error != simdjson::SUCCESS) throw BadRecord{fmt::format("{} must be {}", key, what)};
}

/// The value of `key`, unless it is absent or null.
std::optional<JsonValue> value_of(JsonObject& record, const char* key) {
  JsonValue value;
  const auto error = record.find_field_unordered(key).get(value);
  if (error == simdjson::NO_SUCH_FIELD) return std::nullopt;
  check(error, key, "a value");
  bool is_null = false;
  check(value.is_null().get(is_null), key, "a value");
  if (is_null) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_in(JsonValue value, const char* key) {
  json_type type{};
  check(value.type().get(type), key, "a number");
  if (type != json_type::object) {
    double number = 0;
    check(value.get_double().get(number), key, "a number");
    // The "no value" and "infinite" of 64 bits; what Slurm counts fits into 53.
    constexpr double kLargest = 9e15;
    if (number > 1.8e19 && number < 1.9e19) return std::nullopt;
    if (!(number >= -kLargest && number <= kLargest)) {
      throw BadRecord{fmt::format("{} must be a number that is not too large", key)};
    }
    const auto whole = static_cast<std::int64_t>(number);
    if (whole == kNoValue || whole == kNoValue + 1) return std::nullopt;
    return whole;
  }
  JsonObject object;
  check(value.get_object().get(object), key, "a number");
  bool set = true;
  bool infinite = false;
  if (auto flag = value_of(object, "infinite")) {
    check(flag->get_bool().get(infinite), key, "a number");
  }
  if (infinite) return std::nullopt;
  if (auto flag = value_of(object, "set")) check(flag->get_bool().get(set), key, "a number");
  if (auto number = value_of(object, "number"); number && set) return number_in(*number, key);
  return std::nullopt;
}

/// Counts lines as the records go by, so that each byte is looked at once.
class LineCounter {
 public:
  explicit LineCounter(const std::string& text) : text_(text), at_(text.data()) {}
  std::int64_t line_at(const char* place) {
    const char* const end = text_.data() + text_.size();
    const char* const stop = std::clamp(place, at_, end);
    line_ += std::count(at_, stop, '\n');
    at_ = stop;
    return line_;
  }

 private:
  const std::string& text_;
  const char* at_;
  std::int64_t line_ = 1;
};

}  // namespace

std::string_view text_of(JsonObject& record, const char* key) {
  auto value = value_of(record, key);
  if (!value) return {};
  std::string_view text;
  check(value->get_string().get(text), key, "a text");
  return text;
}

std::optional<std::int64_t> number_of(JsonObject& record, const char* key) {
  const auto value = value_of(record, key);
  if (!value) return std::nullopt;
  return number_in(*value, key);
}

std::optional<JsonObject> object_of(JsonObject& record, const char* key) {
  auto value = value_of(record, key);
  if (!value) return std::nullopt;
  JsonObject object;
  check(value->get_object().get(object), key, "an object");
  return object;
}

std::optional<simdjson::ondemand::array> array_of(JsonObject& record, const char* key) {
  auto value = value_of(record, key);
  if (!value) return std::nullopt;
  simdjson::ondemand::array array;
  check(value->get_array().get(array), key, "an array");
  return array;
}

Result<void> read_records(const std::string& path, const char* key, Intake& intake,
                          const std::function<Result<void>(JsonObject&, std::int64_t)>& take) {
  auto content = table::read_text_file(path);
  if (!content) return tl::unexpected(std::move(content.error()));
  std::string& text = *content;
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  LineCounter lines(text);
  std::int64_t line = 1;
  try {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document =
        parser.iterate(text.data(), text.size(), text.capacity());
    simdjson::ondemand::array records;
    const auto error =
        *key == '\0' ? document.get_array().get(records) : document[key].get_array().get(records);
    if (error == simdjson::INCORRECT_TYPE || error == simdjson::NO_SUCH_FIELD) {
      return fail(Code::invalid,
                  *key == '\0' ? "the JSON must be an array of jobs"
                               : fmt::format("the JSON must have an array \"{}\"", key),
                  {path, 1});
    }
    if (error != simdjson::SUCCESS) throw simdjson::simdjson_error(error);
    for (auto element : records) {
      JsonValue value;
      if (const auto broken = element.get(value)) throw simdjson::simdjson_error(broken);
      line = lines.line_at(value.raw_json_token().data());
      try {
        JsonObject record;
        check(value.get_object().get(record), "a job", "an object");
        if (auto taken = take(record, line); !taken) return taken;
      } catch (BadRecord& bad) {
        auto refused = intake.refuse({Code::invalid, std::move(bad.message), {path, line}});
        if (!refused) return refused;
      }
    }
  } catch (const simdjson::simdjson_error& error) {
    // What is cut off is found before the first record is read; it is wrong at its end.
    if (error.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT ||
        error.error() == simdjson::UNCLOSED_STRING) {
      line = lines.line_at(text.data() + text.size());
    }
    return fail(Code::corrupt, fmt::format("the JSON is broken or cut off: {}", error.what()),
                {path, line});
  }
  return {};
}

}  // namespace almanac::trace
