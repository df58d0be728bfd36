# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques merge_sort/superkeys_4_bytes.cu merge_sort/superkeys_8_bytes.cu)
