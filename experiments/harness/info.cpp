#include "harness/info.hpp"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/ceilings.hpp"
#include "harness/json_file.hpp"
#include "harness/links.hpp"
#include "harness/provenance.hpp"
#include "harness/store.hpp"

namespace warpath::harness {
namespace {

Json to_json(const std::vector<Bandwidth>& sizes) {
  Json list = Json::array();
  for (const Bandwidth& size : sizes) {
    list.push_back({{"elements", size.elements}, {"bytes", size.bytes}, {"value", size.gb_per_s}});
  }
  return list;
}

Json to_json(const Ceilings& ceilings) {
  Json json;
  json["copy_gb_per_s"] = to_json(ceilings.copy);
  json["fill_gb_per_s"] = to_json(ceilings.fill);
  if (ceilings.fma_per_s) json["fma_per_s"] = *ceilings.fma_per_s;
  if (ceilings.ex2_per_s) json["ex2_per_s"] = *ceilings.ex2_per_s;
  return json;
}

void print(const char* name, const std::vector<Bandwidth>& sizes) {
  for (const Bandwidth& size : sizes) {
    std::printf("  %s of %11lld u32: %8.1f GB/s\n", name, static_cast<long long>(size.elements),
                size.gb_per_s);
  }
}

void print(const Device& device, const Ceilings& ceilings) {
  if (emulated) {
    std::printf(
        "backend emulated: kernels run on the CPU and are not timed; these are the host's "
        "ceilings\n");
    std::printf("host %s\n", cpu_name().c_str());
  } else {
    std::printf("GPU %s, %d SMs, compute capability %s, %s, L2 %s, driver %s, CUDA %s\n",
                device.name.c_str(), device.sm_count, device.compute_capability.c_str(),
                bytes_text(device.memory_bytes).c_str(), bytes_text(device.l2_bytes).c_str(),
                device.driver.c_str(), device.cuda_version.c_str());
  }
  print("copy", ceilings.copy);
  print("fill", ceilings.fill);
  if (ceilings.fma_per_s) std::printf("  fused multiply-adds: %.4g/s\n", *ceilings.fma_per_s);
  if (ceilings.ex2_per_s) std::printf("  ex2: %.4g/s\n", *ceilings.ex2_per_s);
}

}  // namespace

int print_info(const std::string& out, bool as_json) {
  const Device device = query_device();
  const std::filesystem::path folder = std::filesystem::path(out) / device.slug;
  const FolderLock lock(folder);
  GpuClock clock(device.l2_bytes, device.pci_bus);
  const Ceilings ceilings = measure_ceilings(clock, /*quick=*/false);
  const Links links = measure_links();
  const Json info = {{"schema", 1},
                     {"provenance", provenance(device)},
                     {"ceilings", to_json(ceilings)},
                     {"links", to_json(links)}};
  write_atomically(folder / "info.json", file_text(info));
  if (as_json) {
    std::fputs(file_text(info).c_str(), stdout);
  } else {
    print(device, ceilings);
    std::fputs(links_text(links).c_str(), stdout);
  }
  return 0;
}

}  // namespace warpath::harness
