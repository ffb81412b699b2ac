// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the function that answers a request: by path, then by method.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/message.h"

namespace almanac::serve {

/// `part` is what the path has in place of "{name}"; "" for nothing.
using Answerer = std::function<Answer(const Ask& ask, const std::string& part)>;

class Router {
 public:
  struct Route {
    std::string method;
    std::string path;  ///< As in the OpenAPI document: "/v1/jobs/{number}/log".
    Answerer answerer;
  };

  void add(std::string method, std::string path, Answerer answerer);
  /// 404 for an unknown path, 405 with Allow for a method that the path does not have. HEAD is
  /// answered as GET.
  Answer answer(const Ask& ask) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace almanac::serve
