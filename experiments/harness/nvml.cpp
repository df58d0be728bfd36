#include "harness/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace warpath::harness {
namespace {

// From NVML's documentation, whose ABI is stable: 0 is success, and clock 1 is that of the
// multiprocessors.
constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;
using NvmlDevice = void*;

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  NvmlDevice device = nullptr;
  int (*shutdown)() = nullptr;
  int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (shutdown != nullptr) shutdown();
    if (handle != nullptr) dlclose(handle);
  }

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
};

Nvml::Nvml(const std::string& pci_bus) {
  auto library = std::make_unique<Library>();
  library->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) return;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_pci_bus)(const char*, NvmlDevice*) = nullptr;
  if (!library->find(init, "nvmlInit_v2") || !library->find(shutdown, "nvmlShutdown") ||
      !library->find(by_pci_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
      !library->find(library->max_clock, "nvmlDeviceGetMaxClockInfo") ||
      !library->find(library->driver, "nvmlSystemGetDriverVersion") || init() != nvml_success) {
    return;
  }
  library->shutdown = shutdown;
  if (by_pci_bus(pci_bus.c_str(), &library->device) != nvml_success) return;
  library_ = std::move(library);
}

Nvml::~Nvml() = default;

std::optional<unsigned> Nvml::max_sm_clock_mhz() const {
  unsigned mhz = 0;
  if (!library_ || library_->max_clock(library_->device, nvml_clock_sm, &mhz) != nvml_success) {
    return {};
  }
  return mhz;
}

std::optional<std::string> Nvml::driver() const {
  std::array<char, 96> text{};
  if (!library_ ||
      library_->driver(text.data(), static_cast<unsigned>(text.size())) != nvml_success) {
    return {};
  }
  return text.data();
}

}  // namespace warpath::harness
