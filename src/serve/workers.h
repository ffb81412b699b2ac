// SPDX-License-Identifier: Apache-2.0

/// \file
/// The threads that answer whole requests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/message.h"

namespace almanac::serve {

class Workers {
 public:
  struct Task {
    std::uint64_t connection = 0;
    std::string request{};
    std::size_t head_size = 0;
    Peer peer{};
    bool is_last = false;  ///< The connection is closed after it.
  };
  struct Done {
    std::uint64_t connection = 0;
    std::string reply{};
    bool closes = false;
  };

  /// `ring` is called, by any thread, when there is something to collect.
  Workers(int count, Handler handler, std::function<void()> ring);
  ~Workers();

  void give(Task task);
  std::vector<Done> collect();

 private:
  void work();

  Handler handler_;
  std::function<void()> ring_;
  std::mutex mutex_;
  std::condition_variable there_is_work_;
  std::deque<Task> tasks_;
  std::vector<Done> done_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace almanac::serve
