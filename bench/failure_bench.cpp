// SPDX-License-Identifier: Apache-2.0

/// \file
/// Megabytes of log text a second that one thread judges, beside the least that any reader does:
/// counting lines with memchr.
///
///   failure_bench [megabytes] [repeats]
///
/// Prints CSV: text,mb,cpu_s,mb_per_s,floor_mb_per_s (the best of the repeats), and before it the
/// time to compile the rules.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "failure/classifier.h"

namespace {

using namespace almanac;

double processor_s() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Lines as training prints them: no rule finds anything.
std::string training_line(Rng& rng, std::size_t at) {
  return fmt::format(
      "2024-05-01 10:{:02}:{:02},123 INFO train.py:412 epoch {} [{}/5004] loss: {:.4f} (4.1312) "
      "top1-error: 0.{:04} lr: 0.00100 data 0.003 batch 0.{:03} mem: 13411\n",
      at / 60 % 60, at % 60, at / 5004, at % 5004, 7.0 / static_cast<double>(1 + at % 977),
      rng.below(10'000), rng.below(1000));
}

/// A progress bar that is drawn over and over, with colours.
std::string progress_line(Rng& rng, std::size_t at) {
  return fmt::format("\r\x1b[32m{:3}%|{:#<30}| {}/1563 [00:12<00:08, 7{}.31it/s]\x1b[0m{}",
                     at % 101, "", at % 1563, rng.below(10), at % 101 == 100 ? "\n" : "");
}

/// Words that rules look for, in lines that decide nothing or are soon outdone.
std::string noisy_line(Rng& rng, std::size_t at) {
  constexpr const char* kLines[] = {
      "WARNING: /data/cache/{}.idx: No such file or directory, building it\n",
      "UserWarning: CUDA out of memory was caught at step {}, retrying with half the batch\n",
      "[rank3]:   File \"/opt/env/lib/python3.10/site-packages/torch/nn/module.py\", line {}\n",
      "Traceback (most recent call last): step {}\n",
      "gpu07:4711:4912 [3] NCCL INFO Channel {}/0 : 3[3] -> 2[2] via P2P/IPC\n"};
  const char* const line = kLines[rng.below(std::size(kLines))];
  return fmt::format(fmt::runtime(line), at);
}

/// No newline, and every byte value.
std::string binary_line(Rng& rng, std::size_t) {
  std::string bytes;
  for (int i = 0; i < 64; ++i) {
    const auto byte = static_cast<char>(rng.below(256));
    bytes += byte == '\n' ? ' ' : byte;
  }
  return bytes;
}

std::string make_text(std::size_t size, std::string (*line)(Rng&, std::size_t)) {
  Rng rng(1);
  std::string text;
  for (std::size_t at = 0; text.size() < size; ++at) text += line(rng, at);
  return text;
}

std::size_t count_lines(std::string_view text) {
  std::size_t lines = 0;
  while (const void* const found = std::memchr(text.data(), '\n', text.size())) {
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1);
    ++lines;
    if (text.empty()) break;
  }
  return lines;
}

template <class Work>
double best_of(int repeats, Work work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeats; ++i) {
    const double begin = processor_s();
    work();
    best = std::min(best, processor_s() - begin);
  }
  return std::max(best, 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t size = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200) * 1'000'000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  const double begin = processor_s();
  const auto set = failure::RuleSet::compile(failure::builtin_rules());
  if (!set) {
    fmt::print(stderr, "{}\n", to_string(set.error()));
    return 1;
  }
  fmt::print(stderr, "{} rules compiled in {:.2f} s\n", set->rules.rules.size(),
             processor_s() - begin);
  failure::Classifier classifier(*set);
  struct Text {
    const char* name;
    std::string (*line)(Rng&, std::size_t);
  };
  fmt::print("text,mb,cpu_s,mb_per_s,floor_mb_per_s\n");
  for (const auto& [name, line] : {Text{"training", training_line}, Text{"progress", progress_line},
                                   Text{"noisy", noisy_line}, Text{"binary", binary_line}}) {
    const std::string text = make_text(size, line);
    std::size_t lines = 0;
    const double floor_s = best_of(repeats, [&] { lines += count_lines(text); });
    const double cpu_s = best_of(repeats, [&] {
      classifier.feed(text);
      lines += static_cast<std::size_t>(classifier.finish().line);
    });
    const double mb = static_cast<double>(text.size()) / 1e6;
    fmt::print("{},{:.0f},{:.3f},{:.0f},{:.0f}\n", name, mb, cpu_s, mb / cpu_s, mb / floor_s);
    if (lines == 1) return 1;  // so that no work is optimised away
    std::fflush(stdout);
  }
}
