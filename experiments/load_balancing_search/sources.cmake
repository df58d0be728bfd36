# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques load_balancing_search/intervals.cu)
