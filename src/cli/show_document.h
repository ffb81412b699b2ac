// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints the findings of a report on the terminal.
#pragma once

#include <string>

#include "figure/document.h"

namespace almanac::cli {

/// Prints findings as text, or with `format` "json" the contents. `folder` is where the figures
/// are; "" = nowhere.
void show_document(const figure::Document& document, const std::string& format,
                   const std::string& folder);

/// Prints that the report and its figures are in `folder`.
void note_report(const std::string& folder);

}  // namespace almanac::cli
