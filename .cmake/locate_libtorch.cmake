# Locates LibTorch. FindLibTorch.cmake includes this file; ./quickstart runs it by itself to learn whether LibTorch must
# be installed at all:
#   cmake -DUT_CUDA=OFF -P .cmake/locate_libtorch.cmake     prints the torch directory, or fails

# The version that the set-up script installs and the code is written for.
set(UT_LIBTORCH_VERSION 2.11.0)

# Sets `result` to the version of the LibTorch in `directory`, or to nothing if there is none.
function(libtorch_version directory result)
  set(found "")
  foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    if(NOT found AND EXISTS "${directory}/${header}")
      file(STRINGS "${directory}/${header}" lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
      string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
      string(REPLACE ";" "." found "${numbers}")
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Sets `result` to the compiler of kernels for the LibTorch in `directory`: that of CUDACXX, the one beside LibTorch or
# that of a CUDA toolkit; to nothing if there is none.
function(locate_nvcc directory result)
  set(found_nvcc NOTFOUND)
  find_program(
    found_nvcc
    NAMES "$ENV{CUDACXX}" nvcc
    HINTS "${directory}/../nvidia/cu13/bin" ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda
    PATH_SUFFIXES bin
    NO_CACHE)
  if(NOT found_nvcc)
    set(found_nvcc "")
  endif()
  set(${result} "${found_nvcc}" PARENT_SCOPE)
endfunction()

# Sets `result` to the first complete LibTorch, looking in CMAKE_PREFIX_PATH and Torch_DIR, then at python3's, then in
# the user's cache. One that the user named is taken whatever its version; others are passed over if theirs is wrong.
function(locate_libtorch result)
  set(library libtorch_cpu.so)
  if(UT_CUDA)
    set(library libtorch_cuda.so)
  endif()

  set(named "")
  foreach(directory ${Torch_DIR} $ENV{Torch_DIR})
    list(APPEND named "${directory}" "${directory}/../../..")  # …/torch/share/cmake/Torch
  endforeach()
  string(REPLACE ":" ";" from_environment "$ENV{CMAKE_PREFIX_PATH}")
  foreach(directory ${CMAKE_PREFIX_PATH} ${from_environment})
    list(APPEND named "${directory}" "${directory}/../.." "${directory}/torch")  # …/torch/share/cmake
  endforeach()
  foreach(directory IN LISTS named)
    get_filename_component(directory "${directory}" ABSOLUTE)
    libtorch_version("${directory}" version)
    if(version AND EXISTS "${directory}/lib/${library}")
      set(${result} "${directory}" PARENT_SCOPE)
      return()
    endif()
  endforeach()

  set(others "")
  # find_spec does not run torch's own start-up, which takes seconds.
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE from_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    list(APPEND others "${from_python}")
  endif()
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  foreach(kind cpu cuda)
    list(APPEND others "${cache}/ut/libtorch-${UT_LIBTORCH_VERSION}-${kind}/torch")
  endforeach()
  foreach(directory IN LISTS others)
    libtorch_version("${directory}" version)
    if(NOT version OR NOT EXISTS "${directory}/lib/${library}")
      continue()
    endif()
    if(NOT version VERSION_EQUAL UT_LIBTORCH_VERSION)
      message(STATUS "Passing over LibTorch ${version} at ${directory}: ${UT_LIBTORCH_VERSION} is needed")
      continue()
    endif()
    # The wheel always has libtorch_cuda, whatever was installed beside it. NCCL's header shows that CUDA's libraries
    # are there, too.
    locate_nvcc("${directory}" nvcc)
    set(beside "${directory}/../nvidia")
    if(UT_CUDA AND EXISTS "${beside}" AND NOT (nvcc AND EXISTS "${beside}/nccl/include/nccl.h"))
      continue()
    endif()
    set(${result} "${directory}" PARENT_SCOPE)
    return()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  locate_libtorch(directory)
  if(NOT directory)
    message(FATAL_ERROR "no LibTorch ${UT_LIBTORCH_VERSION}")
  endif()
  message(NOTICE "${directory}")
endif()
