// SPDX-License-Identifier: Apache-2.0

/// \file
/// The parts of a study's report other than its figures: the head, and whether it has findings.
#pragma once

#include <string>

#include "figure/document.h"
#include "study/study.h"

namespace almanac::study {

/// Facts that only the caller of the study knows.
struct Introduction {
  std::string title{};
  std::string filter{};   ///< "submitted from 2020-05-01"; "" for every job.
  std::string version{};  ///< Of the program.
  std::string command{};  ///< Command that repeats the study.
};

/// Fills in title, subtitle, facts, notes and provenance. The trace is not empty.
void introduce(figure::Document& document, const Study& study, const Introduction& introduction);

/// If there are too few jobs for findings, replaces the findings by a note.
void hold_back(figure::Document& document, const Study& study);

}  // namespace almanac::study
