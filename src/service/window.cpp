// SPDX-License-Identifier: Apache-2.0
#include "service/window.h"

#include <fmt/format.h>

#include "text/datetime.h"

namespace almanac::service {

std::string to_words(const Window& window) {
  return fmt::format("from {} to {}{}", text::format_datetime(window.from),
                     text::format_datetime(window.to),
                     window.why.empty() ? "" : fmt::format(" ({})", window.why));
}

}  // namespace almanac::service
