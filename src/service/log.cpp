// SPDX-License-Identifier: Apache-2.0
#include "service/log.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "text/utf8.h"

namespace almanac::service {
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

/// One line of text, whatever a damaged file or the name of one has put into it.
std::string as_line(std::string_view text) {
  std::string made = text::mend_utf8(text);
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  };
  std::replace_if(made.begin(), made.end(), is_control, ' ');
  return made;
}

}  // namespace

void log_info(std::string_view line) { logger().info(as_line(line)); }
void log_warning(std::string_view line) { logger().warn(as_line(line)); }
void log_error(std::string_view line) { logger().error(as_line(line)); }

}  // namespace almanac::service
