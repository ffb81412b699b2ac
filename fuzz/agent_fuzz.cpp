// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what comes by the line between the service and an agent, in blocks of any size:
/// none opens what it was not sealed for; each greeting, hello, report and order is one, or refused
/// with a word; what is one says the same when it is written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/cpu_list.h"
#include "agent/seal.h"
#include "agent/wire.h"
#include "base/check.h"
#include "slurm/lines.h"

namespace {

using namespace almanac;
using agent::Seal;

constexpr std::size_t kLongest = 2000;

template <typename Read>
void check(std::string_view text, Read&& read) {
  const auto told = read(text);
  if (!told) {
    ALMANAC_CHECK(!told.error().message.empty(), "refused without a word");
    return;
  }
  const std::string written = agent::to_text(*told);
  ALMANAC_CHECK(written.find('\n') == std::string::npos, "not one line: {}", written);
  const auto again = read(written);
  ALMANAC_CHECK(again && agent::to_text(*again) == written, "{}", written);
}

void check_line(const std::string& line) {
  static const agent::Secret secret("what both of them have");
  const std::string nonce(32, '0');
  Seal seal(secret, Seal::Towards::daemon, "n001", nonce, nonce);
  ALMANAC_CHECK(!seal.open(line), "opened: {}", line);
  const std::string closed = seal.close(line);
  Seal other(secret, Seal::Towards::daemon, "n001", nonce, nonce);
  const auto text = other.open(std::string_view(closed).substr(0, closed.size() - 1));
  ALMANAC_CHECK(text == line, "sealed and opened: {}", line);

  const auto greeting = agent::read_greeting(line);
  ALMANAC_CHECK(!greeting || agent::greeting(*greeting) == line + "\n", "{}", line);
  if (const auto hello = agent::read_hello(line)) {
    ALMANAC_CHECK(line.ends_with(agent::to_text(*hello)), "{}", line);
  }
  check(line, agent::read_report);
  check(line, agent::read_orders);
  if (const auto cpus = agent::read_cpus(line)) {
    ALMANAC_CHECK(agent::read_cpus(agent::to_list(*cpus)) == cpus, "{}", line);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  slurm::Lines lines(kLongest);
  const std::size_t block = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]);
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    lines.add(bytes.substr(at, block));
    while (const auto line = lines.next()) {
      if (!line->too_long) check_line(std::string(line->text));
    }
  }
  return 0;
}
