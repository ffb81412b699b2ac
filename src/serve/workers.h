// SPDX-License-Identifier: Apache-2.0

/// \file
/// The threads that answer complete requests.
///
/// Clients take turns, and one client uses at most all threads but two, so a client with many or
/// slow requests waits for itself.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
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
  /// Waiting requests of one client, and the number being answered.
  struct Line {
    std::deque<Task> tasks{};
    int answering = 0;
  };
  void work();
  void end();
  /// The next in turn; nothing = none is ready.
  std::optional<Task> take();

  Handler handler_;
  std::function<void()> ring_;
  std::mutex mutex_;
  std::condition_variable there_is_work_;
  const int most_of_one_;
  std::map<std::uint64_t, Line> lines_;  // by Peer::client
  std::deque<std::uint64_t> turns_;      // of those that have tasks
  std::vector<Done> done_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace almanac::serve
