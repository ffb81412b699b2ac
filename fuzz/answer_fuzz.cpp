// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what a service answers: the client reads it, or refuses it with a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/view_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace serve = almanac::serve;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = [](const auto& read) {
    ALMANAC_CHECK(read || !read.error().message.empty(), "refused without a word");
  };
  check(serve::read_job(text));
  check(serve::read_jobs(text));
  check(serve::read_tuning(text));
  check(serve::read_overview(text));
  check(serve::read_nodes(text));
  check(serve::read_tenancy(text));
  check(serve::read_explanation(text));
  check(serve::read_policy(text));
  check(serve::read_expected(text));
  return 0;
}
