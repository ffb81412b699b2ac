// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processes below one, and what they use, from procfs.
///
/// Cost     one pass over /proc: some 10 us a process of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace almanac::process {

/// The files of a folder whose names are numbers: the processes of "/proc", the threads of
/// "/proc/17/task".
std::vector<pid_t> numbers_in(const std::string& path);

/// Returns living processes (no zombies), without `root`.
std::vector<pid_t> descendants(pid_t root);

/// A process below another one.
struct Descendant {
  pid_t process = 0;
  pid_t parent = 0;
  bool executed = true;  ///< False from its fork to its exec, if it has one.
};
std::vector<Descendant> tree_below(pid_t root);

/// Usage of a process and its descendants. Ended processes count once their parent has waited for
/// them, because the kernel adds their usage to the parent's.
struct Usage {
  double cpu_s = 0;
  double read_gb = 0;  ///< From disk, not from the page cache.
  double written_gb = 0;
  double memory_gb = 0;  ///< Resident now, `root` left out; what is shared counts for each.
  int processes = 0;     ///< Living ones, without `root`.
};

Usage usage_of(pid_t root);

/// Memory of all below `root`, what several share counted once in all. Slower than usage_of(): the
/// kernel walks their page tables, some ms for each GB.
double proportional_memory_gb(pid_t root);

/// Returns when a process started, in ticks since boot. Process numbers are reused; together with
/// this time they are unique. Nothing if there is no such process.
std::optional<std::int64_t> birth_of(pid_t process);

}  // namespace almanac::process
