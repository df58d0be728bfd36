# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques map_reduce/dimensions.cu map_reduce/few_dimensions.cu map_reduce/further_cases.cu
  map_reduce/gaussian_sums.cu map_reduce/k_nearest.cu map_reduce/nearest.cu map_reduce/others.cu map_reduce/signals.cu
  map_reduce/signals_in_many_dimensions.cu)
