// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lists a collection into a picture.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kube/collection.h"
#include "kube/picture.h"
#include "kube/read_objects.h"

namespace almanac::kube {

/// Objects of one list.
template <typename T>
class Collector final : public Sink {
 public:
  using Read = std::function<Result<T>(const nlohmann::json&)>;
  explicit Collector(Read read) : read_(std::move(read)) {}

  void begin_list() override {
    made.clear();
    notes.clear();
    unreadable.clear();
  }
  void end_list() override {}
  void put(const nlohmann::json& object) override {
    if (auto read = read_(object)) {
      made.push_back(std::move(*read));
    } else {
      notes.push_back("left out: " + read.error().message);
      unreadable.insert(uid_of(object));
    }
  }
  void remove(const nlohmann::json& /*object*/) override {}

  std::vector<T> made{};
  std::vector<std::string> notes{};
  std::set<std::string> unreadable{};  ///< Uids.

 private:
  Read read_;
};

/// Returns the objects of a list. One that cannot be read is left out, with a note in `picture`.
/// Fails like list().
template <typename T>
Result<std::vector<T>> collect(Client& client, const std::string& path, Picture& picture,
                               typename Collector<T>::Read read) {
  Collector<T> sink(std::move(read));
  // A list from the cache may be older than what Almanac wrote last to a workload.
  constexpr bool kFromCache = !std::is_same_v<T, Workload>;
  if (auto listed = list(client, path, sink, kFromCache); !listed) {
    return tl::unexpected(listed.error());
  }
  picture.notes.insert(picture.notes.end(), sink.notes.begin(), sink.notes.end());
  if constexpr (std::is_same_v<T, Workload>) picture.unreadable = std::move(sink.unreadable);
  return std::move(sink.made);
}

}  // namespace almanac::kube
