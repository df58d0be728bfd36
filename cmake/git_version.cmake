# Writes ${output}: the commit and whether the working tree differs from it. Runs at every build (cmake -P), and touches the
# file only if its content changes. Without git, or outside a repository, the commit is "unknown".
#   cmake -Dsource=<dir> -Doutput=<file> -P git_version.cmake

set(commit unknown)
set(dirty false)
find_program(git_program git)
if(git_program)
  execute_process(COMMAND ${git_program} -C ${source} rev-parse HEAD OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(commit ${head})
    execute_process(COMMAND ${git_program} -C ${source} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes
                    ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(dirty true)
    endif()
  endif()
endif()

set(content "// Written at every build.\n#pragma once\n\nnamespace warpath::harness {\n\n\
inline constexpr const char* git_commit = \"${commit}\";\n\
inline constexpr bool git_dirty = ${dirty};\n\n}  // namespace warpath::harness\n")
set(present "")
if(EXISTS ${output})
  file(READ ${output} present)
endif()
if(NOT content STREQUAL present)
  file(WRITE ${output} "${content}")
endif()
