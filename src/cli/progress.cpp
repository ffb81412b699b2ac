// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace almanac::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kQuiet{400};  // work that ends sooner needs no bar
constexpr std::chrono::milliseconds kStep{100};

void draw(const std::string& what, double done, double passed_s) {
  constexpr int kWidth = 30;
  const int full = static_cast<int>(std::floor(done * kWidth));
  const std::string bar = std::string(static_cast<std::size_t>(full), '=') +
                          std::string(static_cast<std::size_t>(kWidth - full), ' ');
  const std::string rest =
      done > 0.01 ? fmt::format("{:.0f} s left", passed_s * (1 - done) / done) : std::string("...");
  fmt::print(stderr, "\r\x1b[K{} [{}] {:3.0f} %  {}", what, bar, 100 * done, rest);
  std::fflush(stderr);
}

}  // namespace

ProgressBar::ProgressBar(std::string what, std::function<double()> done) {
  if (isatty(STDERR_FILENO) == 0) return;
  thread_ = std::jthread(
      [this, what = std::move(what), done = std::move(done)](const std::stop_token& stop) {
        const auto start = Clock::now();
        std::unique_lock lock(mutex_);
        const auto stopped = [&] { return stop.stop_requested(); };
        if (wake_.wait_for(lock, stop, kQuiet, stopped)) return;
        do {
          const std::chrono::duration<double> passed = Clock::now() - start;
          draw(what, std::clamp(done(), 0.0, 1.0), passed.count());
        } while (!wake_.wait_for(lock, stop, kStep, stopped));
        fmt::print(stderr, "\r\x1b[K");
      });
}

ProgressBar::~ProgressBar() = default;

bool colour_on_stdout() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace almanac::cli
