// SPDX-License-Identifier: Apache-2.0

/// \file
/// Destroys objects whose destructors take long, in other threads.
#pragma once

#include <future>
#include <memory>
#include <vector>

namespace almanac {

/// Its destructor waits until all objects are destroyed.
class Retirement {
 public:
  /// Destroys `what`, which must have no other owner, in a thread of low priority. Destroys it in
  /// this thread if no other can be started.
  void take(std::shared_ptr<void> what);

 private:
  std::vector<std::future<void>> ends_;
};

}  // namespace almanac
