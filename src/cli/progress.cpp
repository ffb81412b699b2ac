// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "table/stream.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kQuiet = 400ms;  // work that ends sooner needs no bar
constexpr auto kStep = 100ms;
constexpr auto kFirstLine = 5s;
constexpr auto kWorthSaying = 2s;

}  // namespace

std::string time_left(double done, double told_after_s, double passed_s) {
  if (!(done > 0.01)) return "...";
  // What was estimated when something was last heard; it counts down until more is.
  const double left_s = told_after_s / done - passed_s;
  return left_s >= 0 ? text::human_time(left_s) + " left" : "longer than estimated";
}

ProgressBar::ProgressBar(std::string what, std::function<double()> done)
    : what_(std::move(what)), done_(std::move(done)), terminal_(isatty(STDERR_FILENO) != 0) {
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

ProgressBar::~ProgressBar() = default;

void ProgressBar::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto stopped = [&] { return stop.stop_requested(); };
  Clock::duration pause = terminal_ ? Clock::duration(kQuiet) : Clock::duration(kFirstLine);
  while (!wake_.wait_for(lock, stop, pause, stopped)) {
    draw();
    pause = terminal_ ? Clock::duration(kStep) : Clock::now() - start_;
  }
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::draw() {
  const std::chrono::duration<double> passed = Clock::now() - start_;
  const double told = done_();
  if (std::isnan(told)) {
    fmt::print(stderr, "{}{}: {} so far{}", terminal_ ? "\r\x1b[K" : "almanac: ", what_,
               text::human_time(passed.count()), terminal_ ? "" : "\n");
    std::fflush(stderr);
    drawn_ = terminal_;
    return;
  }
  const double done = std::clamp(told, 0.0, 1.0);
  if (done != told_) {
    told_ = done;
    told_at_ = Clock::now();
  }
  const std::string left =
      time_left(done, std::chrono::duration<double>(told_at_ - start_).count(), passed.count());
  if (terminal_) {
    constexpr int kWidth = 30;
    const auto full = static_cast<std::size_t>(std::floor(done * kWidth));
    fmt::print(stderr, "\r\x1b[K{} [{:30}] {:3.0f} %  {}", what_, std::string(full, '='),
               100 * done, left);
    drawn_ = true;
  } else {
    fmt::print(stderr, "almanac: {}: {:.0f} %, {}\n", what_, 100 * done, left);
  }
  std::fflush(stderr);
}

void ProgressBar::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - start_ < kWorthSaying) return;
  fmt::print(stderr, "{}almanac: {}\n", drawn_ ? "\r\x1b[K" : "", text);
}

ProgressBar reading_bar(const std::vector<std::string>& paths) {
  double size = 0;
  for (const std::string& path : paths) {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(path, unknown);
    if (!unknown) size += static_cast<double>(bytes);
  }
  return {paths.size() == 1 ? "reading " + std::filesystem::path(paths[0]).filename().string()
                            : std::string("reading"),
          [size, before = table::bytes_taken()] {
            return size > 0 ? static_cast<double>(table::bytes_taken() - before) / size : 0;
          }};
}

bool colour_on_stdout() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace almanac::cli
