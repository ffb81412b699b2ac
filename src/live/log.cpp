// SPDX-License-Identifier: Apache-2.0
#include "live/log.h"

#include <cstdlib>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace almanac::live {
namespace {

spdlog::logger& logger() {
  static const auto made = [] {
    auto stderr_logger = spdlog::stderr_logger_mt("almanac");
    // journald keeps the time itself.
    const bool is_journal = std::getenv("JOURNAL_STREAM") != nullptr;
    stderr_logger->set_pattern(is_journal ? "%v" : "%Y-%m-%dT%H:%M:%S%z %-7l %v");
    return stderr_logger;
  }();
  return *made;
}

}  // namespace

void log_info(std::string_view line) { logger().info(line); }
void log_warning(std::string_view line) { logger().warn(line); }
void log_error(std::string_view line) { logger().error(line); }

}  // namespace almanac::live
