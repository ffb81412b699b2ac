// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the lines of slurm.conf, gres.conf and topology.conf: Key=Value pairs, keys in any case,
/// comments behind #, lines that go on behind a backslash, and other files by Include.
///
/// Source   slurm.conf(5) of Slurm 20.11 to 25.11.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::cluster {

/// The fields of a line, by their keys in lower case.
struct ConfEntry {
  std::string first{};  ///< The first key.
  std::map<std::string, std::string> fields{};
  Where where{};
  std::map<std::string, Where> places{};         ///< Of keys that are elsewhere.
  std::map<std::string, std::string> spelled{};  ///< Keys as the file has them, if not lower case.

  /// Returns where a key is.
  const Where& where_of(const std::string& key) const {
    const auto found = places.find(key);
    return found == places.end() ? where : found->second;
  }
  const std::string& spelling_of(const std::string& key) const {
    const auto found = spelled.find(key);
    return found == spelled.end() ? key : found->second;
  }
  /// Returns "" if the line lacks the key.
  std::string get(const std::string& key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? "" : found->second;
  }
  bool has(const std::string& key) const { return fields.count(key) > 0; }
};

/// Returns the entries of `text`, the content of file `path`, with those of the files that it
/// includes in their place. Relative names are of the folder of `path`, and so is the last part of
/// an absolute name that does not exist. Fails with `not_found` for
/// an included file that cannot be read, with `invalid` for a NodeName, PartitionName, NodeSet or
/// gres line that is not Key=Value pairs; the value of any other line may be any text.
Result<std::vector<ConfEntry>> read_conf_file(const std::string& path, std::string_view text);

}  // namespace almanac::cluster
