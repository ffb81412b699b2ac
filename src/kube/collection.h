// SPDX-License-Identifier: Apache-2.0

/// \file
/// Follows one collection of objects: lists it in pages, then watches what changes.
///
/// Source   Kubernetes documentation, "Kubernetes API Concepts" (chunks, efficient detection of
///          changes, bookmarks, 410 Gone).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "kube/client.h"

namespace almanac::kube {

/// Takes the objects of a collection. An object that was deleted and made again has the same name
/// and another uid: it is removed and put.
class Sink {
 public:
  virtual ~Sink() = default;
  /// A list begins, maybe again: what it does not put until end_list() has gone.
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void put(const nlohmann::json& object) = 0;
  /// `object` is its last state.
  virtual void remove(const nlohmann::json& object) = 0;
  /// A watch has begun: from now on the sink is current.
  virtual void begin_watch() {}
};

/// Puts all objects of `path` in pages of 500, and returns the version of the list. A list that
/// expires between pages begins again. `from_cache` is fast and may be some seconds old, but most
/// servers then answer with all objects in one page. Fails like Client::get(); no end_list() then.
Result<std::string> list(Client& client, const std::string& path, Sink& sink,
                         bool from_cache = true);

/// Keeps a sink current over lost connections and expired versions.
class Reflector {
 public:
  /// `seed` spreads the ends of streams and the pauses after trouble. `from_cache` as in list(),
  /// for the first list.
  Reflector(std::string path, std::uint64_t seed, bool from_cache = true)
      : path_(std::move(path)), from_cache_(from_cache), rng_(seed) {}

  /// Lists if no version is known, then watches until the stream ends, at most 10 minutes. Returns
  /// how long to wait before the next round: nothing after a normal end. Fails with `conflict` if
  /// the server refuses us, and with not_found if it has no such collection; other trouble is
  /// trouble().
  Result<Duration> round(Client& client, Sink& sink, const std::atomic<bool>* stop = nullptr);

  /// Why the sink may be out of date; empty message = it is current.
  const Error& trouble() const { return trouble_; }

 private:
  Result<Duration> watch(Client& client, Sink& sink, const std::atomic<bool>* stop);
  Duration failed(Error why, Duration asked = kNoDuration);
  /// Returns the pause before the next try, which doubles with each failure in a row.
  Duration back_off(Duration asked = kNoDuration);
  /// Applies a line; false = the stream is of no more use.
  bool apply(std::string_view line, Sink& sink);

  std::string path_;
  bool from_cache_;
  std::string version_{};  ///< "" = list first.
  bool has_expired_ = false;
  Rng rng_;
  int failures_ = 0;  ///< In a row.
  Error trouble_{};
};

}  // namespace almanac::kube
