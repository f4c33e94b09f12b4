# Adds a test for every suite of a test program, when ctest begins. The cases of a suite run in one process, so the
# suite's set-up and LibTorch's start are paid once.
#
# Reads     program, prefix (of the tests' names), timeout (seconds), environment, and two regular expressions of
#           suites: two_cores (those whose ranks wait for one another), alone (those that compare times)
if(NOT EXISTS "${program}")
  return() # only some programs were built
endif()
execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} --gtest_list_tests: ${failed}")
endif()
string(REGEX MATCHALL "(^|\n)[^ #\n]+\\." suites "${listed}")
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" name "${suite}")
  add_test("${prefix}${name}" "${program}" "--gtest_filter=${suite}*" --gtest_brief=1)
  set_tests_properties("${prefix}${name}" PROPERTIES TIMEOUT ${timeout} ENVIRONMENT "${environment}")
  if(two_cores AND name MATCHES "${two_cores}")
    # These start before tests of one core, which fill what is left. The other way round, two cores would be free only
    # at the end.
    set_tests_properties("${prefix}${name}" PROPERTIES PROCESSORS 2 COST 500)
  endif()
  if(alone AND name MATCHES "${alone}")
    set_tests_properties("${prefix}${name}" PROPERTIES RUN_SERIAL TRUE)
  endif()
endforeach()
