# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques balanced_path_sets/no_duplicates.cu)
