# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques warp_compaction/comparisons.cu warp_compaction/records_of_bytes.cu
                       warp_compaction/records_of_words.cu)
