// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes that announce, list and cancel maintenance.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/api.h"
#include "serve/fields.h"

namespace almanac::serve {
namespace {

constexpr std::size_t kLongestWhy = 256;

Json window_json(const service::Window& window) {
  return {{"number", window.number},
          {"from_s", seconds_json(window.from.time_since_epoch().count())},
          {"to_s", seconds_json(window.to.time_since_epoch().count())},
          {"why", window.why}};
}

Result<service::Window> read_window(const std::string& body) {
  return read_json(body, [](const Json& json) {
    service::Window read{.from = kNoTime, .to = kNoTime};
    Reader reader(json);
    reader.field("from_s", read.from);
    reader.field("to_s", read.to);
    reader.field("why", read.why);
    reader.end();
    if (read.from == kNoTime || read.to == kNoTime) {
      throw Refused{{Code::invalid, "expected from_s and to_s"}};
    }
    // The text appears on terminals, also root's.
    const bool is_plain = std::none_of(read.why.begin(), read.why.end(),
                                       [](unsigned char c) { return c < ' ' || c == 0x7F; });
    if (!is_plain || read.why.size() > kLongestWhy) {
      throw Refused{{Code::invalid,
                     fmt::format("why must be one line of at most {} characters", kLongestWhy)}};
    }
    return read;
  });
}

}  // namespace

void Api::add_maintenance() {
  const auto by_operators = [this](Answerer answerer) -> Answerer {
    return [this, answerer = std::move(answerer)](const Ask& ask, const std::string& part) {
      if (guard_.caller(ask).may_all) return answerer(ask, part);
      return problem(403, "only root and the user who runs the service can announce maintenance");
    };
  };
  on("GET", "/v1/maintenance", [this](const Ask&, const std::string&) {
    Json list = Json::array();
    for (const service::Window& each : service_.maintenance()) list.push_back(window_json(each));
    return json(dumped({{"windows", list}}));
  });
  on("POST", "/v1/maintenance", by_operators([this](const Ask& ask, const std::string&) {
       auto window = read_window(ask.body);
       if (!window) return problem(window.error());
       const auto number = service_.announce(*window, guard_.caller(ask));
       if (!number) return problem(number.error());
       window->number = *number;
       Answer made = json(dumped(window_json(*window)));
       made.status = 201;
       return made;
     }));
  on("POST", "/v1/maintenance/{number}/cancel",
     by_operators([this](const Ask& ask, const std::string& part) {
       std::int64_t number = 0;
       const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
       if (error != std::errc() || end != part.data() + part.size()) {
         return problem(404, fmt::format("there is no maintenance {}", part));
       }
       const auto done = service_.call_off(number, guard_.caller(ask));
       return done ? json(dumped({{"number", number}})) : problem(done.error());
     }));
}

}  // namespace almanac::serve
