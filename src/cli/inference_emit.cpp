// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_emit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "text/human.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

using inference::Service;

/// Stand for what is not known of the fleet.
constexpr const char *kModel = "MODEL", *kDraftModel = "DRAFT_MODEL", *kImage = "IMAGE",
                     *kResource = "RESOURCE";

std::string repository_of(const Service& service) {
  return service.model.repository.empty() ? kModel : service.model.repository;
}

/// A part of the fleet whose replicas are alike.
struct Pool {
  const char* name;  ///< "decode" also if there is only one.
  int replicas;
};

std::vector<Pool> pools_of(const Service& service) {
  if (service.prefill == 0) return {{"decode", service.replicas}};
  return {{"prefill", service.prefill}, {"decode", service.replicas - service.prefill}};
}

/// The model's name as a name in Kubernetes: lower case, digits and dashes.
std::string resource_name(std::string name) {
  name = name.substr(name.rfind('/') + 1);
  for (char& each : name) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    if ((each < 'a' || each > 'z') && (each < '0' || each > '9')) each = '-';
  }
  return name;
}

/// What the device plugin of NVIDIA calls a board; "" = not known.
std::string product_of(const inference::Board& board) {
  static const std::map<std::string, std::string> kNames{{"h100", "NVIDIA-H100-80GB-HBM3"},
                                                         {"h200", "NVIDIA-H200"},
                                                         {"a100", "NVIDIA-A100-SXM4-80GB"},
                                                         {"l40s", "NVIDIA-L40S"}};
  const auto found = kNames.find(board.name);
  return found == kNames.end() ? "" : found->second;
}

/// A board to Kubernetes.
struct Device {
  const char* type;      ///< Its key in llm-d-modelservice (accelerator.type).
  const char* resource;  ///< What its device plugin offers.
};

/// Source   names of resources: the device plugins of NVIDIA, AMD, Intel (Gaudi, Xe), Google
///          Kubernetes Engine and AWS Neuron.
Device device_of(const inference::Board& board) {
  if (board.vendor == "NVIDIA") return {"nvidia", "nvidia.com/gpu"};
  if (board.vendor == "AMD") return {"amd", "amd.com/gpu"};
  if (board.vendor == "Google") return {"google", "google.com/tpu"};
  if (board.vendor == "AWS") return {"neuron", "aws.amazon.com/neuron"};
  if (board.vendor != "Intel") return {"other", kResource};
  return board.name.starts_with("gaudi") ? Device{"intel-gaudi", "habana.ai/gaudi"}
                                         : Device{"intel-xe", "gpu.intel.com/xe"};
}

/// Whether each replica is a pod.
bool has_pods(const std::string& format) { return format != "vllm" && format != "sglang"; }

/// Whether each GPU has whole experts. Engines need a flag for it, with data-parallel attention
/// too.
bool has_whole_experts(const Service& service) {
  return service.model.has_experts() && (service.whole_experts || service.data_attention);
}

/// Flags of vllm serve without those of the model and of parallelism.
std::vector<std::string> vllm_engine(const Service& service) {
  const inference::Limits& limits = service.limits;
  // Each rank of data parallelism is an engine with limits of its own.
  const int ranks = service.data_attention ? service.gpus : 1;
  std::vector<std::string> flags{
      fmt::format("--max-num-seqs={}", (limits.sequences + ranks - 1) / ranks),
      fmt::format("--max-num-batched-tokens={}", (limits.tokens + ranks - 1) / ranks),
      "--gpu-memory-utilization=0.9",
      limits.reuse ? "--enable-prefix-caching" : "--no-enable-prefix-caching"};
  if (limits.kv_blocks > 0) {
    flags.push_back(
        fmt::format("--num-gpu-blocks-override={}", std::max(1, limits.kv_blocks / ranks)));
  }
  if (service.model.positions > 0) {
    flags.push_back(fmt::format("--max-model-len={}", service.model.positions));
  }
  if (service.adapters > 0) {
    flags.insert(flags.end(), {"--enable-lora", fmt::format("--max-loras={}", service.adapters),
                               fmt::format("--max-lora-rank={}", service.adapter_rank)});
  }
  if (service.speculation.drafts > 0) {
    flags.push_back(fmt::format(R"(--speculative-config={{"method":"eagle3","model":"{}",)"
                                R"("num_speculative_tokens":{}}})",
                                kDraftModel, service.speculation.drafts));
  }
  if (service.prefill > 0) {
    flags.emplace_back(
        R"(--kv-transfer-config={"kv_connector":"NixlConnector","kv_role":"kv_both"})");
  }
  return flags;
}

std::vector<std::string> vllm_flags(const Service& service) {
  std::vector<std::string> flags;
  if (service.data_attention) {
    flags = {"--tensor-parallel-size=1", fmt::format("--data-parallel-size={}", service.gpus)};
  } else {
    flags = {fmt::format("--tensor-parallel-size={}", service.gpus)};
  }
  if (has_whole_experts(service)) flags.emplace_back("--enable-expert-parallel");
  if (service.stages > 1) {
    flags.push_back(fmt::format("--pipeline-parallel-size={}", service.stages));
  }
  const std::vector<std::string> engine = vllm_engine(service);
  flags.insert(flags.end(), engine.begin(), engine.end());
  return flags;
}

std::vector<std::string> sglang_flags(const Service& service) {
  std::vector<std::string> flags{fmt::format("--tensor-parallel-size={}", service.gpus),
                                 fmt::format("--max-running-requests={}", service.limits.sequences),
                                 fmt::format("--chunked-prefill-size={}", service.limits.tokens),
                                 "--enable-mixed-chunk"};
  if (service.stages > 1) {
    flags.push_back(fmt::format("--pipeline-parallel-size={}", service.stages));
  }
  if (service.data_attention) {
    flags.insert(flags.end(),
                 {"--enable-dp-attention", fmt::format("--data-parallel-size={}", service.gpus)});
  }
  if (has_whole_experts(service)) {
    flags.push_back(fmt::format("--expert-parallel-size={}", service.gpus));
  }
  if (!service.limits.reuse) flags.emplace_back("--disable-radix-cache");
  if (service.model.positions > 0) {
    flags.push_back(fmt::format("--context-length={}", service.model.positions));
  }
  if (service.adapters > 0) {
    flags.insert(flags.end(),
                 {"--enable-lora", fmt::format("--max-loras-per-batch={}", service.adapters),
                  fmt::format("--max-lora-rank={}", service.adapter_rank)});
  }
  if (const int drafts = service.speculation.drafts; drafts > 0) {
    flags.insert(flags.end(),
                 {"--speculative-algorithm=EAGLE3",
                  fmt::format("--speculative-draft-model-path={}", kDraftModel),
                  fmt::format("--speculative-num-steps={}", drafts), "--speculative-eagle-topk=1",
                  fmt::format("--speculative-num-draft-tokens={}", drafts + 1)});
  }
  return flags;
}

/// A flag whose JSON value a shell leaves as it is.
std::string for_shell(const std::string& flag) {
  const std::size_t value = flag.find("={");
  return value == std::string::npos
             ? flag
             : fmt::format("{}'{}'", flag.substr(0, value + 1), flag.substr(value + 1));
}

/// One command for each pool.
std::string commands(const Service& service, const std::string& start,
                     const std::vector<std::string>& flags, bool sglang) {
  std::string made;
  for (const Pool& pool : pools_of(service)) {
    made += fmt::format("# {} of {} ({}){}\n{}",
                        text::counted(static_cast<std::uint64_t>(pool.replicas), "replica"),
                        text::counted(static_cast<std::uint64_t>(service.replica_gpus()), "GPU"),
                        service.board.name,
                        service.prefill > 0 ? fmt::format(": {}", pool.name) : "", start);
    for (const std::string& flag : flags) made += fmt::format(" \\\n  {}", for_shell(flag));
    if (sglang && service.prefill > 0) {
      made += fmt::format(
          " \\\n  --disaggregation-mode={} \\\n  "
          "--disaggregation-transfer-backend=nixl",
          pool.name);
    }
    made += "\n";
  }
  return made;
}

/// A string in YAML.
std::string yaml_string(const std::string& text) {
  std::string made;
  for (const char each : text) made += each == '\'' ? "''" : std::string(1, each);
  return fmt::format("'{}'", made);
}

/// Flags as a list in YAML.
std::string items(const std::vector<std::string>& flags, int indent) {
  std::string made;
  for (const std::string& flag : flags)
    made += fmt::format("{:{}}- {}\n", "", indent, yaml_string(flag));
  return made;
}

/// Room for the weights and for what else a repository has, of which drafts are a part.
std::string model_volume(const inference::Model& model) {
  constexpr double kMargin = 1.25, kGib = 1024.0 * 1024 * 1024;
  return fmt::format("{:.0f}Gi", std::ceil(kMargin * model.bytes() / kGib) + 1);
}

/// Values of the chart llm-d-modelservice.
std::string llm_d(const Service& service) {
  const Device device = device_of(service.board);
  std::string made = fmt::format(
      "modelArtifacts:\n"
      "  name: {0}\n"
      "  uri: hf://{0}\n"
      "  size: {2}\n"
      "accelerator:\n"
      "  type: {3}\n"
      "  resources:\n"
      "    {3}: {4}\n"
      "routing:\n"
      "  proxy:\n"
      "    enabled: {1}\n",
      repository_of(service), service.prefill > 0, model_volume(service.model), device.type,
      device.resource);
  std::vector<std::string> flags = vllm_engine(service);
  if (service.stages > 1) {
    flags.push_back(fmt::format("--pipeline-parallel-size={}", service.stages));
  }
  if (has_whole_experts(service)) flags.emplace_back("--enable-expert-parallel");
  const std::string product = product_of(service.board);
  for (const Pool& pool : pools_of(service)) {
    made += fmt::format(
        "{0}:\n"
        "  create: true\n"
        "  replicas: {1}\n"
        "  parallelism:\n"
        "    tensor: {2}\n"
        "    data: {3}\n"
        "    dataLocal: {3}\n"
        "    workers: 1\n",
        pool.name, pool.replicas, service.data_attention ? 1 : service.gpus,
        service.data_attention ? service.gpus : 1);
    if (!product.empty()) {
      made += fmt::format(
          "  acceleratorTypes:\n"
          "    labelKey: nvidia.com/gpu.product\n"
          "    labelValues:\n"
          "      - {}\n",
          product);
    }
    made += fmt::format(
        "  containers:\n"
        "    - name: vllm\n"
        "      image: {}\n"
        "      modelCommand: vllmServe\n"
        "      mountModelVolume: true\n"
        "      args:\n{}"
        "      resources:\n"
        "        limits:\n"
        "          {}: '{}'\n",
        kImage, items(flags, 8), device.resource, service.replica_gpus());
  }
  if (service.prefill == 0) made += "prefill:\n  create: false\n";
  return made;
}

/// A DynamoGraphDeployment of vLLM.
Result<std::string> dynamo(const Service& service) {
  if (!service.board.vendor.empty() && service.board.vendor != "NVIDIA") {
    return fail(Code::usage,
                fmt::format("--emit dynamo requests GPUs of NVIDIA, and {} is of {}",
                            service.board.name, service.board.vendor),
                {}, "use --emit vllm, llm-d or kserve");
  }
  const std::string repository = repository_of(service);
  std::string made = fmt::format(
      "apiVersion: nvidia.com/v1alpha1\n"
      "kind: DynamoGraphDeployment\n"
      "metadata:\n"
      "  name: {0}\n"
      "spec:\n"
      "  backendFramework: vllm\n"
      "  services:\n"
      "    Frontend:\n"
      "      componentType: frontend\n"
      "      replicas: 1\n"
      "      extraPodSpec:\n"
      "        mainContainer:\n"
      "          image: {1}\n",
      resource_name(repository), kImage);
  for (const Pool& pool : pools_of(service)) {
    const bool is_prefill = std::string_view(pool.name) == "prefill";
    std::vector<std::string> flags = vllm_flags(service);
    flags.insert(flags.begin(), fmt::format("--model={}", repository));
    if (service.prefill > 0) flags.push_back(fmt::format("--disaggregation-mode={}", pool.name));
    made += fmt::format(
        "    {}:\n"
        "      componentType: worker\n"
        "{}"
        "      replicas: {}\n"
        "      resources:\n"
        "        limits:\n"
        "          gpu: '{}'\n"
        "      extraPodSpec:\n"
        "        mainContainer:\n"
        "          image: {}\n"
        "          command:\n"
        "            - python3\n"
        "            - '-m'\n"
        "            - dynamo.vllm\n"
        "          args:\n{}",
        is_prefill ? "VllmPrefillWorker" : "VllmDecodeWorker",
        service.prefill > 0 ? fmt::format("      subComponentType: {}\n", pool.name) : "",
        pool.replicas, service.replica_gpus(), kImage, items(flags, 12));
  }
  return made;
}

/// A pod of an LLMInferenceService under a key of its own.
std::string kserve_pod(const Service& service, const char* key, int indent) {
  const std::string by(static_cast<std::size_t>(indent), ' ');
  std::string made = fmt::format("{}{}:\n", by, key);
  if (const std::string product = product_of(service.board); !product.empty()) {
    made += fmt::format("{0}  nodeSelector:\n{0}    nvidia.com/gpu.product: {1}\n", by, product);
  }
  std::string flags;
  for (const std::string& each : vllm_engine(service)) {
    flags += (flags.empty() ? "" : " ") + for_shell(each);
  }
  made += fmt::format(
      "{0}  containers:\n"
      "{0}    - name: main\n"
      "{0}      env:\n"
      "{0}        - name: VLLM_ADDITIONAL_ARGS\n"
      "{0}          value: {1}\n"
      "{0}      resources:\n"
      "{0}        limits:\n"
      "{0}          {2}: '{3}'\n",
      by, yaml_string(flags), device_of(service.board).resource, service.replica_gpus());
  return made;
}

/// The part of an LLMInferenceService that is the same for prefill and decode.
std::string kserve_workload(const Service& service, int replicas, int indent) {
  const std::string by(static_cast<std::size_t>(indent), ' ');
  std::string made = fmt::format("{0}replicas: {1}\n{0}parallelism:\n", by, replicas);
  if (!service.data_attention) {
    return made + fmt::format("{0}  tensor: {1}\n", by, service.gpus) +
           (has_whole_experts(service) ? by + "  expert: true\n" : "") +
           kserve_pod(service, "template", indent);
  }
  // KServe starts data parallelism only where there is a worker, of which one pod has none.
  return made +
         fmt::format("{0}  data: {1}\n{0}  dataLocal: {1}\n{0}  expert: true\n", by, service.gpus) +
         kserve_pod(service, "template", indent) + kserve_pod(service, "worker", indent);
}

/// An LLMInferenceService of KServe.
Result<std::string> kserve(const Service& service) {
  if (service.stages > 1) {
    return fail(Code::usage,
                fmt::format("--emit kserve cannot describe replicas of {} pipeline stages: KServe "
                            "starts each stage in a pod of its own",
                            service.stages),
                {}, "leave out --stages, or use --emit vllm, llm-d or dynamo");
  }
  const std::string repository = repository_of(service);
  std::string made = fmt::format(
      "apiVersion: serving.kserve.io/v1alpha1\n"
      "kind: LLMInferenceService\n"
      "metadata:\n"
      "  name: {0}\n"
      "spec:\n"
      "  model:\n"
      "    uri: hf://{1}\n"
      "    name: {1}\n",
      resource_name(repository), repository);
  made += kserve_workload(service, service.replicas - service.prefill, 2);
  if (service.prefill > 0) {
    made += "  prefill:\n" + kserve_workload(service, service.prefill, 4);
  }
  return made + "  router:\n    scheduler: {}\n    route: {}\n    gateway: {}\n";
}

/// The text without the comments at its top.
Result<std::string> body(const std::string& format, const Service& service) {
  const auto& known = deployment_formats();
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    return fail(Code::not_found, fmt::format("no deployment format is named \"{}\"", format), {},
                text::meant_or_known(format, known));
  }
  if (has_pods(format) && service.replica_gpus() > inference::kNodeGpus) {
    return fail(Code::usage,
                fmt::format("--emit {} cannot describe replicas of {} GPUs: each is one pod here, "
                            "and a node has {} GPUs",
                            format, service.replica_gpus(), inference::kNodeGpus),
                {}, "use --emit vllm or sglang, or fewer GPUs per replica");
  }
  if (format == "vllm") {
    return commands(service, "vllm serve " + repository_of(service), vllm_flags(service), false);
  }
  if (format == "sglang") {
    return commands(service,
                    "python3 -m sglang.launch_server --model-path=" + repository_of(service),
                    sglang_flags(service), true);
  }
  if (format == "llm-d") return llm_d(service);
  if (format == "dynamo") return dynamo(service);
  return kserve(service);
}

}  // namespace

const std::vector<std::string>& deployment_formats() {
  static const std::vector<std::string> kFormats{"vllm", "sglang", "llm-d", "dynamo", "kserve"};
  return kFormats;
}

std::vector<std::string> left_to_do(const std::string& format, const Service& service) {
  std::vector<std::string> made;
  const bool is_nvidia = service.board.vendor == "NVIDIA";
  if (format == "llm-d" || format == "dynamo") {
    made.push_back(fmt::format("replace {} with a container image of vLLM{}", kImage,
                               !is_nvidia ? fmt::format(" for {}", service.board.name)
                               : format == "dynamo"
                                   ? ", such as nvcr.io/nvidia/ai-dynamo/vllm-runtime:TAG"
                                   : ", such as ghcr.io/llm-d/llm-d-cuda:TAG"));
  }
  if ((format == "llm-d" || format == "kserve") &&
      device_of(service.board).resource == std::string_view(kResource)) {
    made.push_back(
        fmt::format("replace {} with what the device plugin of {} offers, such as "
                    "nvidia.com/gpu",
                    kResource, service.board.name));
  }
  if (!has_pods(format) && service.replica_gpus() > inference::kNodeGpus) {
    const int nodes = (service.replica_gpus() + inference::kNodeGpus - 1) / inference::kNodeGpus;
    made.push_back(
        fmt::format("start each replica on {} nodes of {} GPUs ({}--nnodes and "
                    "--node-rank): the command is that of one",
                    nodes, inference::kNodeGpus, format == "vllm" ? "a Ray cluster, or " : ""));
  }
  if (service.model.repository.empty()) {
    made.push_back(fmt::format("replace {} with the model's repository", kModel));
  }
  if (service.speculation.drafts > 0) {
    made.push_back(fmt::format("replace {} with the draft model's repository", kDraftModel));
  }
  return made;
}

Result<std::string> deployment_text(const std::string& format, const Service& service) {
  auto text = body(format, service);
  if (!text) return text;
  std::string made;
  for (const std::string& each : left_to_do(format, service)) made += fmt::format("# {}\n", each);
  return made + *text;
}

}  // namespace almanac::cli
