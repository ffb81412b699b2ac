// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers of an API server: objects, and statuses of failures.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>

#include "api_place.h"
#include "api_server.h"

namespace almanac::kube {

inline void say_text(httplib::Response& response, int status, std::string json) {
  response.status = status;
  response.set_content(std::move(json), "application/json");
}

inline void say(httplib::Response& response, int status, const Json& body) {
  say_text(response, status, body.dump());
}

inline void say_plain(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text, "text/plain; charset=utf-8");
}

inline Json status_of(int code, const std::string& reason, const std::string& message,
                      const Json& details = nullptr) {
  Json made{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
            {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) made["reason"] = reason;
  if (!details.is_null()) made["details"] = details;
  return made;
}

/// The answer to a change of an object that another has changed meanwhile.
inline Json conflict_of(const ApiPlace& place) {
  return status_of(409, "Conflict",
                   fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has "
                               "been modified; please apply your changes to the latest "
                               "version and try again",
                               place.resource(), place.name),
                   place.details(place.kind->plural));
}

}  // namespace almanac::kube
