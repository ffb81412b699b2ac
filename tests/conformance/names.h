// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which policies are played, and how a test of one is called.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policy/registry.h"
#include "support/long_run.h"

namespace almanac {

/// A named policy as it is played. A deal of pollux is a genetic search of 50 ms: except in a long
/// run, it deals every 10 minutes instead of every minute.
inline std::string as_played(const std::string& policy) {
  return policy == "pollux" && !is_long_run() ? "pollux:every_s=600" : policy;
}

/// Every policy that has a name.
inline std::vector<std::string> named_policies() {
  std::vector<std::string> names;
  for (const policy::Composition& known : policy::registry().policies()) {
    names.push_back(as_played(known.name));
  }
  return names;
}

/// A composition as the name of a test, which has letters, digits and underscores.
inline std::string test_name(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !is_word(c); }, '_');
  return name;
}

}  // namespace almanac
