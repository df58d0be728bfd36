# Writes ${output}: the commit and whether the working tree differs from it. Runs at every build (cmake -P), and touches the
# file only if its content changes. Without git, or where <dir> is not a checkout's top (an unpacked archive, be it inside another
# repository), the commit is "unknown", and so is whether the tree differs from it.
#   cmake -Dsource=<dir> -Doutput=<file> -P git_version.cmake

set(commit unknown)
set(dirty std::nullopt)
find_program(git_program git)
if(git_program)
  execute_process(COMMAND ${git_program} -C ${source} rev-parse --show-prefix OUTPUT_VARIABLE folder
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_checkout)
  execute_process(COMMAND ${git_program} -C ${source} rev-parse HEAD OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE no_commit)
  if(no_checkout EQUAL 0 AND folder STREQUAL "" AND no_commit EQUAL 0)
    set(commit ${head})
    execute_process(COMMAND ${git_program} -C ${source} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes
                    ERROR_QUIET RESULT_VARIABLE no_status)
    if(no_status EQUAL 0 AND changes STREQUAL "")
      set(dirty false)
    elseif(no_status EQUAL 0)
      set(dirty true)
    endif()
  endif()
endif()

set(content "// Written at every build.\n#pragma once\n\n#include <optional>\n\nnamespace warpath::harness {\n\n\
inline constexpr const char* git_commit = \"${commit}\";\n\
inline constexpr std::optional<bool> git_dirty = ${dirty};\n\n}  // namespace warpath::harness\n")
set(present "")
if(EXISTS ${output})
  file(READ ${output} present)
endif()
if(NOT content STREQUAL present)
  file(WRITE ${output} "${content}")
endif()
