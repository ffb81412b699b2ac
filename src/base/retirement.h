// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ends what takes long to end.
#pragma once

#include <future>
#include <memory>
#include <vector>

namespace almanac {

/// Its destructor waits until all have ended.
class Retirement {
 public:
  /// Destroys `what`, of which no other owner may be left, where no caller waits for it; here,
  /// where no thread is to be had.
  void take(std::shared_ptr<void> what);

 private:
  std::vector<std::future<void>> ends_;
};

}  // namespace almanac
