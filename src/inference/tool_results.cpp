// SPDX-License-Identifier: Apache-2.0

#include "inference/tool_results.h"

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "inference/request_log.h"
#include "table/lines.h"
#include "table/stream.h"

namespace almanac::inference {
namespace {

using nlohmann::json;
using Path = std::initializer_list<const char*>;

/// The value under these keys, one inside of the other; null if there is none.
const json* inside(const json& object, Path path) {
  const json* at = &object;
  for (const char* const key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at->is_null() ? nullptr : at;
}

/// "info.input_tokens".
std::string spelled(Path path) { return fmt::format("{}", fmt::join(path, ".")); }

/// The first of several fields that is there: newer versions of a tool, then older ones.
const json* first_of(const json& object, std::initializer_list<Path> paths) {
  for (const Path& path : paths) {
    if (const json* const found = inside(object, path)) return found;
  }
  return nullptr;
}

class ResultReader {
 public:
  explicit ResultReader(std::string path) : path_(std::move(path)) {}

  /// Takes a request, whose time is in units of so many microseconds.
  Result<void> take(const json& request, std::initializer_list<Path> time, double micros,
                    std::initializer_list<Path> prompt, std::initializer_list<Path> output) {
    ++number_;
    const auto at = number(request, time), in = number(request, prompt);
    if (!at) return tl::unexpected(at.error());
    if (!(std::abs(*at * micros) <= kLatestArrival)) {
      return wrong(fmt::format("request {}: {} is {:g}, which is later than the year 2286", number_,
                               spelled(*time.begin()), *at));
    }
    if (!in) return tl::unexpected(in.error());
    const auto out = number(request, output);
    if (!out) return tl::unexpected(out.error());
    return intake_.add({.file = path_, .line = line}, *at * micros, *in, *out);
  }
  void leave_out() {
    ++number_;
    ++left_out_;
  }
  Result<Requests> done() {
    if (left_out_ > 0) {
      intake_.note(fmt::format("requests without an answer left out: {}", left_out_));
    }
    return intake_.done(path_, true);
  }
  void note(std::string text) { intake_.note(std::move(text)); }
  tl::unexpected<Error> wrong(std::string message) const {
    return fail(Code::invalid, std::move(message), {.file = path_, .line = line});
  }

  std::int64_t line = 0;  ///< Of JSON lines.

 private:
  Result<double> number(const json& request, std::initializer_list<Path> paths) const {
    const json* const found = first_of(request, paths);
    if (found != nullptr && found->is_number()) return found->get<double>();
    return wrong(fmt::format("request {}: {} is {}", number_, spelled(*paths.begin()),
                             found == nullptr ? "missing" : "not a number"));
  }

  std::string path_;
  RequestIntake intake_;
  std::int64_t number_ = 0, left_out_ = 0;
};

Result<json> read_document(const std::string& path) {
  const auto text = table::read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  json made = json::parse(*text, nullptr, false);
  if (made.is_discarded()) {
    return fail(Code::corrupt, "is not complete JSON", {.file = path}, "copy the file again");
  }
  return made;
}

}  // namespace

Result<Requests> read_inference_perf(const std::string& path) {
  const auto document = read_document(path);
  if (!document) return tl::unexpected(document.error());
  ResultReader reader(path);
  if (!document->is_array()) return reader.wrong("expected a list of requests");
  for (const json& each : *document) {
    if (inside(each, {"error"}) != nullptr) {
      reader.leave_out();
      continue;
    }
    const auto taken =
        reader.take(each, {{"start_time"}}, 1e6,
                    {{"info", "request_metrics", "text", "input_tokens"}, {"info", "input_tokens"}},
                    {{"info", "response_metrics", "server_usage", "completion_tokens"},
                     {"info", "response_metrics", "output_tokens"},
                     {"info", "output_tokens"}});
    if (!taken) return tl::unexpected(taken.error());
  }
  return reader.done();
}

Result<Requests> read_guidellm(const std::string& path) {
  const auto document = read_document(path);
  if (!document) return tl::unexpected(document.error());
  ResultReader reader(path);
  const json* const benchmarks = inside(*document, {"benchmarks"});
  if (benchmarks == nullptr || !benchmarks->is_array()) {
    return reader.wrong("expected a list benchmarks");
  }
  for (const json& benchmark : *benchmarks) {
    const json* const answered = inside(benchmark, {"requests", "successful"});
    if (answered == nullptr || !answered->is_array()) {
      return reader.wrong("a benchmark has no list requests.successful");
    }
    for (const json& each : *answered) {
      const auto taken = reader.take(each, {{"request_start_time"}, {"start_time"}}, 1e6,
                                     {{"prompt_tokens"}, {"input_metrics", "text_tokens"}},
                                     {{"output_tokens"}, {"output_metrics", "text_tokens"}});
      if (!taken) return tl::unexpected(taken.error());
    }
    for (const char* const kind : {"incomplete", "errored"}) {
      const json* const others = inside(benchmark, {"requests", kind});
      for (std::size_t each = 0; others != nullptr && each < others->size(); ++each) {
        reader.leave_out();
      }
    }
  }
  if (benchmarks->size() > 1) {
    reader.note(
        fmt::format("the report has {} benchmarks, whose requests are one log by their "
                    "times; to simulate one of them, keep it alone in the file",
                    benchmarks->size()));
  }
  return reader.done();
}

Result<Requests> read_aiperf(const std::string& path) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  ResultReader reader(path);
  while (true) {
    const auto text = lines->next();
    if (!text) return tl::unexpected(text.error());
    if (*text == nullptr) break;
    if (**text == '\0') continue;
    reader.line = lines->line();
    const json each = json::parse(*text, nullptr, false);
    if (!each.is_object()) return reader.wrong("is not a JSON object");
    if (inside(each, {"error"}) != nullptr) {
      reader.leave_out();
      continue;
    }
    const auto taken = reader.take(each, {{"metadata", "request_start_ns"}}, 1e-3,
                                   {{"metrics", "input_sequence_length", "value"}},
                                   {{"metrics", "output_sequence_length", "value"}});
    if (!taken) return tl::unexpected(taken.error());
  }
  return reader.done();
}

Result<Requests> read_vllm_bench(const std::string& path) {
  const auto document = read_document(path);
  if (!document) return tl::unexpected(document.error());
  ResultReader reader(path);
  std::vector<const json*> lists;
  for (const char* const field : {"start_times", "input_lens", "output_lens", "errors"}) {
    const json* const list = inside(*document, {field});
    if (list == nullptr || !list->is_array()) {
      return fail(Code::invalid, fmt::format("has no list {}", field), {.file = path},
                  "run vllm bench serve with --save-detailed, in a version that saves start_times");
    }
    if (list->size() != document->at("start_times").size()) {
      return reader.wrong(fmt::format("{} has {} values, but start_times has {}", field,
                                      list->size(), document->at("start_times").size()));
    }
    lists.push_back(list);
  }
  for (std::size_t each = 0; each < lists[0]->size(); ++each) {
    if (lists[3]->at(each) != "") {
      reader.leave_out();
      continue;
    }
    const json request{{"start_times", lists[0]->at(each)},
                       {"input_lens", lists[1]->at(each)},
                       {"output_lens", lists[2]->at(each)}};
    const auto taken =
        reader.take(request, {{"start_times"}}, 1e6, {{"input_lens"}}, {{"output_lens"}});
    if (!taken) return tl::unexpected(taken.error());
  }
  return reader.done();
}

}  // namespace almanac::inference
