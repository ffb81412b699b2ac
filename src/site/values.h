// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the values of a record of any of Slurm's files. Only for the .cpp files of this
/// room: a value that cannot be right is thrown, and readers turn it into an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/conf_file.h"
#include "cluster/slurm_words.h"
#include "site/tres.h"

namespace almanac::site {

using Record = cluster::ConfEntry;

/// Thrown for a value that cannot be right.
struct BadValue {
  Error error;
};

/// The unit of a length of time that is a plain number.
enum class Unit : std::uint8_t { seconds, minutes };

// Keys are in the spelling of Slurm's manual, and match in any case.

/// Returns "" for a value that stands for none: "(null)", "N/A", "None".
std::string word(const Record& record, const std::string& key);
/// Returns the items between commas; empty for none and for "ALL".
std::vector<std::string> list(const Record& record, const std::string& key);
/// Whether the value is "yes", "true", "1"; `missing` if there is no such key.
bool truth(const Record& record, const std::string& key, bool missing = false);
/// Returns a whole number of 0 or more; `missing` for none, and for UNLIMITED. "2K" is 2048.
std::int64_t whole(const Record& record, const std::string& key, std::int64_t missing);
/// Returns the same as an int; larger numbers are its largest.
int whole_int(const Record& record, const std::string& key, int missing);
/// Returns a whole number from 0 to `most`; `missing` for none. As in slurmctld's src/common/
/// parse_value.c, UNLIMITED and INFINITE are `most`, a number of more than 16 bits may end with K
/// (1024), and "-1" and other suffixes are refused.
std::int64_t whole_up_to(const Record& record, const std::string& key, std::int64_t missing,
                         std::int64_t most);
/// Returns a whole number, which may be "-1" or UNLIMITED for none: `kNoLimit`.
std::int64_t limit(const Record& record, const std::string& key);
double decimal(const Record& record, const std::string& key, double missing);
/// Returns "30 sec", "5 min", "01:00:00", "2-00:00:00", or a number of `unit`; text::kUnlimited for
/// UNLIMITED and INFINITE, `missing` for none.
Duration length(const Record& record, const std::string& key, Unit unit, Duration missing);
/// Returns a moment: seconds since 1970, or local time, which is read as UTC. kNoTime for none.
Time moment(const Record& record, const std::string& key);
/// Returns the nodes of a host list.
std::vector<std::string> hosts(const Record& record, const std::string& key);
/// Returns amounts such as "cpu=16,mem=100G,gres/gpu:a100=8". Adds resources that `table` lacks.
TresCounts counts(const Record& record, const std::string& key, std::vector<Tres>& table);
/// Returns weights such as "CPU=1.0,Mem=0.25G,GRES/gpu=4.0". Slurm ignores resources that it does
/// not count. They are ignored here too, with a line in `unknown`.
TresWeights weights(const Record& record, const std::string& key, const std::vector<Tres>& table,
                    std::vector<std::string>& unknown);

/// Throws: `key` of `record` must be `expected`.
[[noreturn]] void refuse(const Record& record, const std::string& key, std::string_view expected);

/// Returns "slurm.conf:12: ", the place of a key of `record` in front of a note; "" if unknown.
std::string place_of(const Record& record, const std::string& key);

/// Returns the position of `name` in `table`, ignoring case; adds it if `add`, else returns -1.
int tres_index(std::vector<Tres>& table, std::string_view name, bool add);

/// Returns the value of the row whose word is that of `key`; `missing` for none. The words are in
/// lower case and match as a whole. Throws for any other word.
template <typename Value, std::size_t n>
Value choice(const Record& record, const std::string& key, Value missing,
             const std::pair<std::string_view, Value> (&rows)[n]) {
  const std::string text = cluster::in_lower_case(word(record, key));
  if (text.empty()) return missing;
  std::string known;
  for (const auto& [name, value] : rows) {
    if (text == name) return value;
    known.append(known.empty() ? "" : ", ").append(name);
  }
  refuse(record, key, "one of " + known);
}

/// Returns what `read` returns, or the Error that it threw.
template <typename Read>
auto catching(Read&& read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (BadValue& bad) {
    return tl::unexpected(std::move(bad.error));
  }
}

}  // namespace almanac::site
