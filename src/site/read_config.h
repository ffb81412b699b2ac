// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the settings of a controller.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/site.h"
#include "site/values.h"

namespace almanac::site {

/// Returns the settings of `scontrol show config`, "Key = Value" a line, as one record.
Record config_record(const std::string& path, std::string_view text);

/// Returns the settings among the lines of a slurm.conf as one record; a later line wins.
Record config_record(std::span<const Record> lines);

/// Reads the settings, the resources of AccountingStorageTRES and the licenses into `site`. `rows`
/// are the rows of `sacctmgr show tres`, which has the order of the resources; empty if unknown.
/// Adds what it assumes, and what it does not know. Fails with `invalid` for a value that cannot be
/// right.
Result<void> read_config(const Record& settings, std::span<const Record> rows, Site& site);

/// Returns the settings of `site` after the values of some keys of slurm.conf (in any case) were
/// changed: a what-if, or a scontrol reconfigure. Fails with `invalid` for a value that cannot be
/// right.
Result<Config> with_settings(const Site& site, const std::map<std::string, std::string>& changed);

/// Reads the value of SchedulerParameters into `made`, whose other fields it leaves alone. Adds
/// words that it does not know, and numbers that Slurm does not take, to `unknown`.
void read_scheduler_parameters(const Record& settings, SchedulerSettings& made,
                               std::vector<std::string>& unknown);

/// The numbers that Slurm takes for a word of SchedulerParameters. Of others it takes the default.
struct ParameterRange {
  std::int64_t least = 0;
  std::int64_t most = 0;

  bool has(std::int64_t number) const { return number >= least && number <= most; }
};

/// Returns the range of a word, in lower case. -1, which switches intervals off, is in none.
///
/// Source   Slurm 22.05 to 25.11, slurm.conf(5).
ParameterRange range_of(std::string_view word);

/// Returns the words of SchedulerParameters that a schedule depends on, with their values as
/// slurm.conf has them; a flag's is "yes" or "no".
std::map<std::string, std::string> scheduler_parameters(const SchedulerSettings& settings);

/// Reads "gang,suspend" and the like; `key` is PreemptMode.
PreemptMode read_preempt_mode(const Record& record, const std::string& key, PreemptMode missing);

/// Reads JobDefaults ("DefCpuPerGPU=8,DefMemPerGPU=16000") into `made`.
void read_job_defaults(const Record& record, JobDefaults& made);

/// Reads the words of SelectTypeParameters ("CR_CORE_MEMORY") into `made`.
void read_select_parameters(const Record& record, SelectSettings& made,
                            std::vector<std::string>& unknown);

}  // namespace almanac::site
