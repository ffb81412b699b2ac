// SPDX-License-Identifier: Apache-2.0

/// \file
/// A model in one file: its training data, its features, and a hash over everything.
///
/// The first line names the file type and the schema. The second line is JSON: the training window,
/// the names of the features, the calibration, and the sizes and SHA-256 of what follows. Then come
/// the trees (XGBoost's UBJSON) and the recently ended jobs of each kind (CBOR).
#pragma once

#include <string>

#include "base/result.h"
#include "predict/model.h"

namespace almanac::predict {

/// The training data of a model.
struct Training {
  std::string trace{};
  std::string sha256{};
  Time from{};  ///< First submission.
  Time to{};    ///< Last known end.
  std::int64_t jobs = 0;
};

struct StoredModel {
  Model model;
  Training training;
  std::vector<Remembered> history{};  ///< Memory::ended_so_far() at the end of the training.
  std::string sha256{};               ///< Of the whole file.
};

/// Writes the file completely or not at all.
Result<void> write_model(const std::string& path, const Model& model, const Training& training,
                         std::span<const Remembered> history);

/// Reads a model. Fails with not_found; with corrupt if the file is damaged or not a model; with
/// unsupported if it has another schema or other features.
Result<StoredModel> read_model(const std::string& path);

}  // namespace almanac::predict
