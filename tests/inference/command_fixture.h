// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference with a small log.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_program.h"

namespace almanac {

class InferenceCommand : public testing::Test {
 protected:
  /// Twenty requests at once, and twenty a second each.
  static std::string log() {
    std::string made = "arrival_s,prompt_tokens,output_tokens\n";
    for (int each = 0; each < 20; ++each) made += "0,4000,200\n";
    for (int each = 0; each < 20; ++each) made += std::to_string(10 + each) + ",1000,20\n";
    return made;
  }
  ProgramRun run(const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"inference",    command,  requests_, "--model",
                                          "llama-3.1-8b", "--ttft", "300ms"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  TemporaryFolder folder_;
  std::string requests_ = folder_.write("requests.csv", log());
};

}  // namespace almanac
