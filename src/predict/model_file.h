// SPDX-License-Identifier: Apache-2.0

/// \file
/// A model in one file: what it was learned from, what it looks at, and a hash over all of it.
///
/// The first line says what the file is and of which schema; the second is JSON: the training
/// window, the names of the features, the calibration, the sizes and the SHA-256 of what follows;
/// then come the trees (XGBoost's UBJSON) and what ended lately of each kind of job (CBOR).
#pragma once

#include <string>

#include "base/result.h"
#include "predict/model.h"

namespace almanac::predict {

/// What a model was learned from.
struct Training {
  std::string trace{};
  std::string sha256{};
  Time from{};  ///< The first submission.
  Time to{};    ///< The last end that it knows of.
  std::int64_t jobs = 0;
};

struct StoredModel {
  Model model;
  Training training;
  std::vector<Remembered> history{};  ///< Memory::ended_so_far() when the training ended.
  std::string sha256{};               ///< Of all of it.
};

/// Writes it wholly or not at all.
Result<void> write_model(const std::string& path, const Model& model, const Training& training,
                         std::span<const Remembered> history);

/// Fails with not_found; with corrupt when the file is damaged or no model; with unsupported when
/// it is of another schema or looks at other features.
Result<StoredModel> read_model(const std::string& path);

}  // namespace almanac::predict
