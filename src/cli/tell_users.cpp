// SPDX-License-Identifier: Apache-2.0
#include "cli/tell_users.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/program.h"
#include "table/output_file.h"
#include "text/human.h"

namespace almanac::cli {

Result<int> tell_users(const std::string& command, const std::vector<UserLetter>& letters) {
  // A command that does not read its input is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  std::size_t failed = 0;
  for (const UserLetter& letter : letters) {
    ::setenv("ALMANAC_USER", letter.user.c_str(), 1);
    std::FILE* const pipe = ::popen(command.c_str(), "w");
    if (pipe == nullptr)
      return fail(Code::unavailable, "cannot start a process", {.file = command});
    std::fwrite(letter.text.data(), 1, letter.text.size(), pipe);
    const int status = ::pclose(pipe);
    if (status == 0) continue;
    ++failed;
    note(fmt::format("user {}: the command ended with status {}", letter.user,
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)));
  }
  fmt::print("informed {}\n", text::counted(letters.size() - failed, "user"));
  return failed == 0 ? kDone : 1;
}

Result<int> write_letters(const std::string& folder, const std::vector<UserLetter>& letters) {
  std::uint64_t written_letters = 0;
  for (const UserLetter& letter : letters) {
    const std::string& user = letter.user;
    if (user.empty() || user == "." || user == ".." || user.find('/') != std::string::npos) {
      note(fmt::format("no letter for user \"{}\": the name cannot be that of a file", user));
      continue;
    }
    const auto written =
        table::write_file(fmt::format("{}/{}.txt", folder, letter.user), letter.text);
    if (!written) return tl::unexpected(written.error());
    ++written_letters;
  }
  fmt::print("wrote {} to {}\n", text::counted(written_letters, "letter"), folder);
  return kDone;
}

}  // namespace almanac::cli
