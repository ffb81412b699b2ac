// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <csignal>

namespace almanac::cli {
namespace {

std::atomic<bool> came{false};

extern "C" void on_signal(int signal) {
  came.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& interrupted() {
  static const bool installed = [] {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    return true;
  }();
  static_cast<void>(installed);
  return came;
}

}  // namespace almanac::cli
