// SPDX-License-Identifier: Apache-2.0
#include "serve/submission_json.h"

#include <fmt/format.h>

#include "serve/submission_fields.h"

namespace almanac::serve {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw Refused{{Code::invalid, std::move(message)}};
}

template <typename Fields, typename Amended>
void list_amended(Fields& fields, Amended& of) {
  fields.sparse("gpus", of.gpus);
  fields.sparse("time_limit_s", of.time_limit);
  fields.sparse("at_once", of.at_once);
}

}  // namespace

std::string to_json(const store::Submission& submission) {
  Writer writer;
  list_asked(writer, submission, store::Audience::all);
  list_asked(writer, submission, store::Audience::submission);
  return dumped(writer.take());
}

std::string to_json(const store::Amended& wanted) {
  Writer writer;
  list_amended(writer, wanted);
  return dumped(writer.take());
}

Result<store::Amended> read_amended(std::string_view text) {
  return read_json(text, [](const Json& json) {
    store::Amended read;
    Reader reader(json);
    list_amended(reader, read);
    reader.end();
    if (read == store::Amended{}) refuse("expected gpus, time_limit_s or at_once");
    if (read.at_once && *read.at_once < 0) {
      refuse(fmt::format("at_once must be 0 or more, found {}", *read.at_once));
    }
    if (read.time_limit != kNoDuration && read.time_limit <= 0ms) {
      refuse("time_limit_s must be more than 0");
    }
    return read;
  });
}

Result<store::Submission> read_submission(std::string_view text) {
  return read_json(text, [](const Json& json) {
    store::Submission read;
    Reader reader(json);
    list_asked(reader, read, store::Audience::all);
    list_asked(reader, read, store::Audience::submission);
    reader.end();
    return read;
  });
}

}  // namespace almanac::serve
