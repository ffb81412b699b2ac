// SPDX-License-Identifier: Apache-2.0

/// \file
/// The gateway as a program that ends at once: what is made of its last words.
#include "slurm/gateway_program.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

Error end_of(const std::string& script) {
  const TemporaryFolder folder;
  const std::string path = folder.write("gateway", "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  GatewayProgram program(path);
  const auto started = program.start();
  EXPECT_TRUE(started) << to_string(started.error());
  const auto line =
      program.receive(GatewayProgram::Clock::now() + GatewayProgram::Clock::duration(60s));
  EXPECT_TRUE(program.ended());
  return line ? Error{} : line.error();
}

TEST(GatewayProgram, TellsItsLastWords) {
  EXPECT_EQ(end_of("echo one >&2; echo oh >&2; exit 3").message,
            "almanac-slurm-gateway has ended: exit status 3: oh");
}

TEST(GatewayProgram, SaysThatThereIsNoSlurm) {
  const Error error =
      end_of("echo 'gateway: fatal: Could not establish a configuration source' >&2; exit 1");
  EXPECT_EQ(error.message, "no Slurm is configured here");
  EXPECT_NE(error.hint.find("SLURM_CONF"), std::string::npos);
}

}  // namespace
}  // namespace almanac::slurm
