// SPDX-License-Identifier: Apache-2.0
#include "process/oom_score.h"

#include <array>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::process {

void set_oom_score(int score) {
  std::array<char, 8> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), score);
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) {
    static_cast<void>(
        ::write(file.get(), text.data(), static_cast<std::size_t>(end - text.data())));
  }
}

}  // namespace almanac::process
