// SPDX-License-Identifier: Apache-2.0

/// \file
/// The protocol between a run's terminal and the program attached to it: packets of a
/// SOCK_SEQPACKET socket, each a letter and its data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace almanac::shepherd {

/// The socket of a run's terminal, in its folder.
inline constexpr const char* kTerminalFile = "/terminal";
/// Of a packet, including its letter.
inline constexpr std::size_t kMostPacket = 1 << 14;

enum class TerminalWord : char {
  data = 'd',     ///< Both ways: bytes.
  size = 's',     ///< To the terminal: TerminalSize.
  taken = 't',    ///< To the program: another one has attached.
  refused = 'r',  ///< To the program: it runs as another user.
  ended = 'e',    ///< To the program: nothing of the run is left.
};

struct TerminalSize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

}  // namespace almanac::shepherd
