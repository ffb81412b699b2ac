// SPDX-License-Identifier: Apache-2.0
#include "boxes/writers.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace almanac::boxes {
namespace {

struct Writers {
  std::mutex mutex;
  std::condition_variable ended;
  std::map<std::string, std::uint32_t> user_of;  // by name of the work

  bool has_room(const std::string& name, std::uint32_t uid) const {
    const auto of_user = std::count_if(user_of.begin(), user_of.end(),
                                       [&](const auto& each) { return each.second == uid; });
    return !user_of.contains(name) && user_of.size() < kMostWriters &&
           static_cast<std::size_t>(of_user) < kMostWritersOfUser;
  }
};

/// Shared, because threads may outlive static objects.
const std::shared_ptr<Writers>& writers() {
  static const auto made = std::make_shared<Writers>();
  return made;
}

}  // namespace

bool write_apart(const std::string& name, std::uint32_t uid, std::function<void()> work) {
  const std::shared_ptr<Writers> all = writers();
  std::unique_lock lock(all->mutex);
  if (!all->has_room(name, uid)) return false;
  all->user_of.emplace(name, uid);
  const auto is_done = std::make_shared<bool>(false);
  try {
    std::thread([all, is_done, name, work = std::move(work)] {
      work();
      const std::lock_guard done(all->mutex);
      all->user_of.erase(name);
      *is_done = true;
      all->ended.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    all->user_of.erase(name);  // no thread is to be had now
    return false;
  }
  return all->ended.wait_for(lock, kPatience, [&] { return *is_done; });
}

}  // namespace almanac::boxes
