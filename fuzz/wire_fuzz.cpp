// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what comes by the socket between us and the gateway, in blocks of any size: each
/// line is a request, an answer, or refused with a message; what is one says the same when it is
/// written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "slurm/lines.h"
#include "slurm/wire.h"

namespace {

using namespace almanac;

constexpr std::size_t kLongest = 1000;

template <typename Read>
void check(std::string_view line, Read&& read) {
  const auto told = read(line);
  if (!told) {
    ALMANAC_CHECK(!told.error().message.empty(), "refused without a word");
    return;
  }
  const std::string written = slurm::to_line(*told);
  ALMANAC_CHECK(written.find('\n') == written.size() - 1, "not one line: {}", written);
  const auto again = read(std::string_view(written).substr(0, written.size() - 1));
  ALMANAC_CHECK(again, "{}: {}", to_string(again.error()), written);
  ALMANAC_CHECK(slurm::to_line(*again) == written, "{}", written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  slurm::Lines lines(kLongest);
  const std::size_t block = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]);
  std::size_t given = 0;
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    lines.add(bytes.substr(at, block));
    while (const auto line = lines.next()) {
      ++given;
      if (line->too_long) continue;
      ALMANAC_CHECK(
          line->text.size() <= kLongest && line->text.find('\n') == std::string_view::npos,
          "a line of {} bytes", line->text.size());
      const std::string copy(line->text);
      slurm::id_of(copy);
      check(copy, slurm::read_request);
      check(copy, slurm::read_answer);
    }
  }
  const auto newlines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  ALMANAC_CHECK(given >= newlines && given <= newlines + 1, "{} lines of {}", given, newlines);
  return 0;
}
