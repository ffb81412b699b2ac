// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers of every kind, with the headers that each must carry.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "serve/message.h"

namespace almanac::serve {

/// {"error": {"code", "message", "hint"}} with a status of HTTP.
Answer problem(int status, const std::string& message, const std::string& hint = {});
/// Same for one of our Errors.
Answer problem(const Error& error);
/// "code" of an Error of ours.
const char* code_word(Code code);
/// JSON text that may change at any time.
Answer json(std::string text);
/// Same, valid while `revision` stays; 304 if the client has it already.
Answer json_at(const Ask& ask, std::uint64_t revision,
               const std::function<Result<std::string>()>& text);

/// 204: the resource may exist later.
Answer none_yet();

/// Adds what every answer carries: nothing is guessed, framed, kept or loaded from elsewhere.
void protect(Answer& answer);

}  // namespace almanac::serve
