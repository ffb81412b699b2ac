// SPDX-License-Identifier: Apache-2.0
#include "perf/own_word.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace almanac::perf {
namespace {

/// Of a larger file only the end is read.
constexpr std::int64_t kMost = std::int64_t{1} << 20;

/// Written since `from`: whole lines only, as the last may not be finished.
std::string whole_lines(int file, std::int64_t from, std::int64_t size) {
  std::string made(static_cast<std::size_t>(size - from), '\0');
  std::size_t got = 0;
  while (got < made.size()) {
    const ssize_t more =
        ::pread(file, made.data() + got, made.size() - got, from + static_cast<std::int64_t>(got));
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  made.resize(got);
  const auto end = made.rfind('\n');
  made.resize(end == std::string::npos ? 0 : end + 1);
  return made;
}

/// What no training says: sums and squares of it would not be numbers any more.
constexpr double kTooMuch = 1e15;
constexpr double kShortestStep = 1e-6;  // seconds
constexpr double kLongestStep = 1e6;
constexpr double kMostSamples = 1e7;

bool is_number(double value) { return std::abs(value) <= kTooMuch; }

bool is_amount(double value) { return value >= 0 && is_number(value); }

bool is_count(double value) {
  return value >= 1 && value <= kMostSamples && value == std::floor(value);
}

}  // namespace

void OwnWord::hear(const std::string& line, std::optional<double>& use) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> word)) return;
  const auto known = [this]() -> OwnProgress& {
    return progress_ ? *progress_ : progress_.emplace();
  };
  if (word == "gpus") {
    std::string gpus;
    if (!(words >> gpus)) return;
    known().gpus = gpus;
    ++known().times_gpus;
    known().pace.reset();
    return;
  }
  std::array<double, 3> values{};
  std::size_t told = 0;
  while (told < values.size() && words >> values[told]) ++told;
  // What is no number leaves 0, what is too large for one the largest that there is.
  if (told < values.size() && values[told] != 0) return;
  const auto [first, second, third] = values;
  if (told == 0) return;
  if (word == "gpu_use" && first >= 0 && first <= 1) use = first;
  if (word == "metric" && is_number(first)) {
    reported_.push_back(known().metric.emplace(OwnProgress::Metric{first, known().step}));
  }
  if (word == "step" && is_amount(first)) known().step = first;
  if (word == "step_s" && first >= kShortestStep && first <= kLongestStep && second >= 0 &&
      second < first && (told < 3 || is_count(third))) {
    known().pace = {.step_s = first, .exchange_s = second, .samples = static_cast<int>(third)};
  }
  if (word == "noise" && told >= 2 && is_amount(first) && is_amount(second)) {
    known().noise = {.sqr = first, .var = second};
  }
  if (word == "batches" && is_count(first) && (told < 2 || is_count(second)) &&
      (told < 3 || (is_count(third) && third >= second))) {
    known().batches = {.most = static_cast<int>(first),
                       .least_of_gpu = told < 2 ? 1 : static_cast<int>(second),
                       .most_of_gpu = static_cast<int>(third)};
  }
}

std::optional<double> OwnWord::read(int file, std::int64_t size) {
  if (size < read_to_) read_to_ = 0;  // it was emptied
  read_to_ = std::max(read_to_, size - kMost);
  const std::string said = whole_lines(file, read_to_, size);
  read_to_ += static_cast<std::int64_t>(said.size());
  std::istringstream lines(said);
  std::optional<double> use;
  for (std::string line; std::getline(lines, line);) hear(line, use);
  return use;
}

std::optional<Stretch> OwnWord::look(int file, Time now) {
  reported_.clear();
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

}  // namespace almanac::perf
