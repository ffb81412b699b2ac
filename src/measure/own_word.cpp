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

std::optional<double> last_word(int file, std::int64_t size) {
  std::array<char, kTail> tail{};
  const std::int64_t from = std::max<std::int64_t>(0, size - std::int64_t{kTail});
  const ssize_t read = ::pread(file, tail.data(), tail.size(), from);
  if (read <= 0) return std::nullopt;
  std::istringstream lines(std::string(tail.data(), static_cast<std::size_t>(read)));
  std::optional<double> use;
  std::string word;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    if (double value = 0; words >> word >> value && word == "gpu_use" && value >= 0 && value <= 1) {
      use = value;
    }
  }
  return use;
}

}  // namespace

std::optional<Stretch> OwnWord::look(int file, Time now) {
  struct stat state {};
  if (::fstat(file, &state) != 0) return std::nullopt;
  const auto& written = state.st_mtim;
  const std::int64_t written_ns = std::int64_t{written.tv_sec} * 1'000'000'000 + written.tv_nsec;
  if (written_ns == written_ns_) return std::nullopt;
  written_ns_ = written_ns;
  const auto word = last_word(file, state.st_size);
  if (!word) return std::nullopt;
  const Stretch said{said_at_, now, *word};
  said_ = word;
  said_at_ = now;
  if (said.to <= said.from) return std::nullopt;
  return said;
}

}  // namespace almanac::measure
