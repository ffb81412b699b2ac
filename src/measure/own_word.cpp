// SPDX-License-Identifier: Apache-2.0
#include "measure/own_word.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace almanac::measure {
namespace {

/// So much is read, from the end.
constexpr std::size_t kTail = 4096;

}  // namespace

std::optional<double> OwnWord::read(int file, std::int64_t size) {
  std::array<char, kTail> tail{};
  const std::int64_t from = std::max<std::int64_t>(0, size - std::int64_t{kTail});
  const ssize_t got = ::pread(file, tail.data(), tail.size(), from);
  if (got <= 0) return std::nullopt;
  std::istringstream lines(std::string(tail.data(), static_cast<std::size_t>(got)));
  std::optional<double> use;
  std::string word;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    double value = 0;
    if (!(words >> word >> value)) continue;
    if (word == "gpu_use" && value >= 0 && value <= 1) use = value;
    if (word != "step" && word != "metric") continue;
    OwnProgress& known = progress_ ? *progress_ : progress_.emplace();
    if (word == "metric") known.metric = {.value = value, .step = known.step};
    if (word == "step" && value >= 0) known.step = value;
  }
  return use;
}

std::optional<Stretch> OwnWord::look(int file, Time now) {
  struct stat state {};
  if (::fstat(file, &state) != 0) return std::nullopt;
  const auto& written = state.st_mtim;
  const std::int64_t written_ns = std::int64_t{written.tv_sec} * 1'000'000'000 + written.tv_nsec;
  if (written_ns == written_ns_) return std::nullopt;
  written_ns_ = written_ns;
  const auto word = read(file, state.st_size);
  if (!word) return std::nullopt;
  const Stretch said{said_at_, now, *word};
  use_ = word;
  said_at_ = now;
  if (said.to <= said.from) return std::nullopt;
  return said;
}

}  // namespace almanac::measure
