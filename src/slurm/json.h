// SPDX-License-Identifier: Apache-2.0

/// \file
/// The names of site/read_document.h and site/shape.h here. Only for the .cpp files of this room.
#pragma once

#include <simdjson.h>

#include "site/read_document.h"
#include "site/shape.h"

namespace almanac::slurm {

using site::json::BadShape;
using site::json::find;
using site::json::has;
using site::json::moment;
using site::json::number;
using site::json::read_document;
using site::json::read_each;
using site::json::records;
using site::json::text;
using site::json::truth;
using site::json::Value;
using site::json::words;

}  // namespace almanac::slurm
