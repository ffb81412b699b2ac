// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps the runs that end while one watches, because a cluster forgets them: a job log that grows
/// by a row for each workload that has run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "kube/collection.h"
#include "kube/workload.h"
#include "process/descriptor.h"

namespace almanac::kube {

/// A job log, as log_of() makes it, with the uid of the workload as comment. Each row is on disk
/// before the next object is taken, so a recorder that was killed goes on where it was.
///
/// A workload that is deleted while it runs has ended then. One that goes while no recorder runs is
/// lost. The runs before an eviction count as attempts only.
class Recorder final : public Sink {
 public:
  /// Reads the uids that `path` has, and repairs a row that was cut. `now` is the server's clock.
  /// Fails with `unavailable` if the file cannot be written, with `invalid` if it is no log of a
  /// recorder, and like trace::read_trace().
  static Result<Recorder> open(const std::string& path, std::string user_label,
                               std::function<Time()> now);

  void begin_list() override { listed_.clear(); }
  void end_list() override;
  void put(const nlohmann::json& object) override;
  void remove(const nlohmann::json& object) override;

  std::int64_t rows() const { return static_cast<std::int64_t>(recorded_.size()); }
  std::int64_t lost() const { return lost_; }  ///< Ran, and went while no recorder ran.
  /// The last error of the disk or of an object; the recorder goes on.
  const std::string& trouble() const { return trouble_; }

 private:
  Recorder(process::Descriptor file, std::string user_label, std::function<Time()> now)
      : file_(std::move(file)), user_label_(std::move(user_label)), now_(std::move(now)) {}
  void write(const Workload& workload, Time end);

  process::Descriptor file_;
  std::string user_label_;
  std::function<Time()> now_;
  std::set<std::string> recorded_{};           ///< Uids.
  std::map<std::string, Workload> running_{};  ///< By uid.
  std::set<std::string> listed_{};
  std::int64_t lost_ = 0;
  std::string trouble_{};
};

}  // namespace almanac::kube
