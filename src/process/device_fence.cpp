// SPDX-License-Identifier: Apache-2.0
#include "process/device_fence.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::process {
namespace {

constexpr std::uint8_t kAnswer = BPF_REG_0;
constexpr std::uint8_t kAsked = BPF_REG_1;  // bpf_cgroup_dev_ctx
constexpr std::uint8_t kRead = BPF_REG_2;

bpf_insn instruction(int code, std::uint8_t to, std::uint8_t from, std::int16_t offset,
                     std::int32_t value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = to & 0xF;
  made.src_reg = from & 0xF;
  made.off = offset;
  made.imm = value;
  return made;
}

bpf_insn load(std::size_t field) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, kRead, kAsked, static_cast<std::int16_t>(field), 0);
}

/// Skips so many instructions where what was read compares so with `value`.
bpf_insn skip(int comparison, int value, std::size_t instructions) {
  return instruction(BPF_JMP | BPF_K | comparison, kRead, 0,
                     static_cast<std::int16_t>(instructions), value);
}

/// Answers 1, allowed, or 0.
std::vector<bpf_insn> program(const DeviceFence& fence) {
  const std::vector<bpf_insn> answer_no{instruction(BPF_ALU64 | BPF_MOV | BPF_K, kAnswer, 0, 0, 0),
                                        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  const std::vector<bpf_insn> answer_yes{instruction(BPF_ALU64 | BPF_MOV | BPF_K, kAnswer, 0, 0, 1),
                                         instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  // What follows the tests of the minor number, and of each earlier test.
  const std::size_t to_yes = fence.open.size() + answer_no.size();
  const std::size_t by_minor = 2;
  const std::size_t by_major = 2;
  std::vector<bpf_insn> made{
      load(offsetof(bpf_cgroup_dev_ctx, access_type)),
      instruction(BPF_ALU64 | BPF_AND | BPF_K, kRead, 0, 0, 0xFFFF),
      skip(BPF_JNE, BPF_DEVCG_DEV_CHAR, by_major + by_minor + to_yes),
      load(offsetof(bpf_cgroup_dev_ctx, major)),
      skip(BPF_JNE, fence.major, by_minor + to_yes),
      load(offsetof(bpf_cgroup_dev_ctx, minor)),
      skip(BPF_JGE, fence.end, to_yes),
  };
  for (std::size_t at = 0; at < fence.open.size(); ++at) {
    made.push_back(skip(BPF_JEQ, fence.open[at], to_yes - at - 1));
  }
  made.insert(made.end(), answer_no.begin(), answer_no.end());
  made.insert(made.end(), answer_yes.begin(), answer_yes.end());
  return made;
}

int call(bpf_cmd command, bpf_attr& with) {
  return static_cast<int>(::syscall(SYS_bpf, command, &with, sizeof(with)));
}

tl::unexpected<Error> refused(const char* what) {
  return fail(Code::unsupported, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<void> close_devices(const std::string& cgroup, const DeviceFence& fence) {
  const Descriptor group(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group) return refused("open the control group");
  const std::vector<bpf_insn> instructions = program(fence);
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insns = reinterpret_cast<std::uintptr_t>(instructions.data());
  load.insn_cnt = static_cast<std::uint32_t>(instructions.size());
  load.license = reinterpret_cast<std::uintptr_t>("Apache-2.0");
  const Descriptor loaded(call(BPF_PROG_LOAD, load));
  if (!loaded) return refused("load a BPF program for a control group");
  bpf_attr attach{};
  attach.target_fd = static_cast<std::uint32_t>(group.get());
  attach.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;  // next to those of systemd and containers
  if (call(BPF_PROG_ATTACH, attach) != 0) return refused("attach a BPF program to a control group");
  return {};
}

}  // namespace almanac::process
