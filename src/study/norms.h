// SPDX-License-Identifier: Apache-2.0

/// \file
/// Norms for the use of GPUs: when a job is worth a word to its user.
///
/// Source   Job Defense Shield of Princeton University, docs/alert: the values of its examples.
///          "Ours" in known_norms() where it has none, or a site would have to give one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::study {

struct Norms {
  double shortest_min = 60;   ///< Shorter runs are ignored.
  double gpu_hours = 24;      ///< Least GPU-hours of a user's jobs for an alert.
  double low_gpu_use = 0.25;  ///< At most this share of the time is low.
  double cores_per_gpu = 16;  ///< More are too many, if less than `cores_used` is used.
  double cores_used = 0.8;
  double memory_gb_per_gpu = 128;  ///< More is too much, if less than `memory_used` is used.
  double memory_used = 0.8;
  /// A job with one GPU fits on a smaller one if its GPU use is at most this, ...
  double small_gpu_use = 0.15;
  double small_gpu_memory_gb = 10;  ///< ... it used less GPU memory ...
  double small_memory_gb = 32;      ///< ... and less memory.
  double limit_used = 0.2;          ///< A run that took at most this share had too long a limit.
  /// GPU types for which there is a smaller one: parts of Slurm's names, in lower case.
  std::vector<std::string> strong_gpus{"a100", "a800", "h100", "h200", "h800", "b200", "b300"};
};

/// A number among the norms: its key in files, and what it means.
struct Norm {
  const char* key;
  double Norms::*value;
  const char* about;
  const char* source;
};
const std::vector<Norm>& known_norms();

/// Reads a TOML file, or a table of one (text/toml_file.h), over the norms above. Fails with
/// not_found or unavailable if it cannot be read, and with invalid, naming the line, for an unknown
/// key and for a value that is not a number of 0 or more (strong_gpus: a list of texts).
Result<Norms> read_norms(const std::string& path);

}  // namespace almanac::study
