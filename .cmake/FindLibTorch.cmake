# Finds LibTorch without the package file that comes with it, which insists on the CUDA toolkit if the wheel was built
# with CUDA. Here the CPU build links only libtorch_cpu and libc10. libtorch and libtorch_cuda, and with them gigabytes
# of CUDA's libraries, are left out.
#
# Reads     UT_CUDA, CMAKE_PREFIX_PATH, Torch_DIR (see locate_libtorch.cmake)
# Defines   LibTorch_FOUND, LibTorch_VERSION, LibTorch_DIRECTORY
#           target LibTorch::cpu     tensors and autograd on the CPU, and the OpenMP run time that they use
#           target LibTorch::cuda    with UT_CUDA: the same, and CUDA tensors, the CUDA run time and NCCL, to be linked
#           LibTorch_CUDA_INCLUDES   with UT_CUDA: directories of their headers
#           LibTorch_NVCC            with UT_CUDA: the compiler of kernels
include(${CMAKE_CURRENT_LIST_DIR}/locate_libtorch.cmake)
include(FindPackageHandleStandardArgs)

# Looks again if what was found is gone or has changed, or if another would be found now.
set(libtorch_wanted "${UT_CUDA};${UT_LIBTORCH_VERSION};${CMAKE_PREFIX_PATH};${Torch_DIR}")
if(LibTorch_DIRECTORY)
  libtorch_version("${LibTorch_DIRECTORY}" LibTorch_VERSION)
endif()
if(NOT LibTorch_DIRECTORY OR NOT EXISTS "${LibTorch_DIRECTORY}/lib"
   OR (DEFINED LibTorch_FOUND_AS AND NOT LibTorch_FOUND_AS STREQUAL "${LibTorch_VERSION};${libtorch_wanted}"))
  locate_libtorch(located)
  set(LibTorch_DIRECTORY "${located}" CACHE PATH "Directory with LibTorch's include/ and lib/" FORCE)
  libtorch_version("${LibTorch_DIRECTORY}" LibTorch_VERSION)
endif()
set(LibTorch_FOUND_AS "${LibTorch_VERSION};${libtorch_wanted}" CACHE INTERNAL "LibTorch's version, and what was wanted")

set(missing "./quickstart build installs it into your cache, or name one with -DCMAKE_PREFIX_PATH=…/torch")
if(UT_CUDA)
  set(missing "./quickstart build --cuda installs it with CUDA and NCCL, or name one with -DCMAKE_PREFIX_PATH=…/torch")
endif()
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_DIRECTORY
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "${missing}")
if(NOT LibTorch_FOUND)
  return()
endif()

set(libtorch_lib "${LibTorch_DIRECTORY}/lib")

# Symbols have different names in the two ABIs of std::string, so linking one call tells which one LibTorch has.
if(NOT DEFINED LibTorch_CXX11_ABI OR NOT LibTorch_CXX11_ABI_OF STREQUAL LibTorch_DIRECTORY)
  unset(LibTorch_CXX11_ABI CACHE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES "${libtorch_lib}/libc10.so")
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles(
    "#include <cstdint>
     #include <string>
     namespace c10::detail {
     [[noreturn]] void torchCheckFail(const char*, const char*, uint32_t, const std::string&);
     }
     int main() { c10::detail::torchCheckFail(\"\", \"\", 0, std::string()); }"
    LibTorch_CXX11_ABI)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(LibTorch_CXX11_ABI_OF "${LibTorch_DIRECTORY}" CACHE INTERNAL "The LibTorch for which the ABI was checked")
endif()
if(NOT LibTorch_CXX11_ABI)
  message(
    FATAL_ERROR
      "LibTorch ${LibTorch_VERSION} at ${LibTorch_DIRECTORY} does not link with this compiler's std::string. Most "
      "likely it was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0), while MPI and the other libraries here use "
      "the new one. Take a LibTorch with the new ABI: the wheel ${UT_LIBTORCH_VERSION}, which ./quickstart build "
      "installs.")
endif()

if(NOT TARGET LibTorch::cpu)
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  # By their real path: the set-up's two LibTorches share headers, so one build's objects serve the other.
  file(REAL_PATH "${LibTorch_DIRECTORY}/include" libtorch_include)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE "${libtorch_include}"
                                                            "${libtorch_include}/torch/csrc/api/include")
  foreach(name c10 torch_cpu)
    add_library(LibTorch::lib${name} SHARED IMPORTED)
    set_target_properties(LibTorch::lib${name} PROPERTIES IMPORTED_LOCATION "${libtorch_lib}/lib${name}.so")
    target_link_libraries(LibTorch::cpu INTERFACE LibTorch::lib${name})
  endforeach()
  # at::parallel_for is parallel only in files compiled with OpenMP. The run time must be the one that LibTorch brings:
  # two of them in one program would each start their own threads.
  file(GLOB libtorch_gomp "${libtorch_lib}/libgomp*.so*")
  if(libtorch_gomp)
    list(GET libtorch_gomp 0 libtorch_gomp)
    add_library(LibTorch::gomp SHARED IMPORTED)
    set_target_properties(LibTorch::gomp PROPERTIES IMPORTED_LOCATION "${libtorch_gomp}")
    target_link_libraries(LibTorch::cpu INTERFACE LibTorch::gomp)
    target_compile_options(LibTorch::cpu INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
  endif()
endif()

if(UT_CUDA AND NOT TARGET LibTorch::cuda)
  # CUDA's headers and libraries: what the wheel installs beside itself or, if that is missing, a toolkit's.
  get_filename_component(libtorch_beside "${LibTorch_DIRECTORY}/../nvidia" ABSOLUTE)
  find_path(
    LibTorch_CUDA_INCLUDE crt/host_defines.h
    HINTS "${libtorch_beside}/cu13/include" ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include)
  find_library(
    LibTorch_CUDART NAMES libcudart.so.13 libcudart.so
    HINTS "${libtorch_beside}/cu13/lib" ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda
    PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
  locate_nvcc("${LibTorch_DIRECTORY}" LibTorch_NVCC)
  find_path(LibTorch_NCCL_INCLUDE nccl.h HINTS "${libtorch_beside}/nccl/include" PATH_SUFFIXES include)
  find_library(LibTorch_NCCL NAMES libnccl.so.2 HINTS "${libtorch_beside}/nccl/lib" PATH_SUFFIXES lib)
  foreach(needed LibTorch_NVCC LibTorch_CUDA_INCLUDE LibTorch_CUDART LibTorch_NCCL_INCLUDE LibTorch_NCCL)
    if(NOT ${needed})
      message(FATAL_ERROR "UT_CUDA is on, but ${needed} was not found, neither in a CUDA toolkit nor beside LibTorch "
                          "in ${libtorch_beside}. ./quickstart build --cuda installs all that is needed; to build "
                          "without CUDA: -DUT_CUDA=OFF.")
    endif()
  endforeach()

  set(LibTorch_CUDA_INCLUDES "${LibTorch_CUDA_INCLUDE}" "${LibTorch_NCCL_INCLUDE}")
  if(EXISTS "${libtorch_beside}/cu13/include")
    list(APPEND LibTorch_CUDA_INCLUDES "${libtorch_beside}/cu13/include")
  endif()
  add_library(LibTorch::cuda INTERFACE IMPORTED)
  # torch_cuda registers its kernels when it is loaded, but no symbol of ours asks for it.
  target_link_libraries(
    LibTorch::cuda
    INTERFACE LibTorch::cpu "-Wl,--no-as-needed,${libtorch_lib}/libtorch_cuda.so,--as-needed"
              "${libtorch_lib}/libc10_cuda.so" "${LibTorch_NCCL}" "${LibTorch_CUDART}")
  # The libraries that torch_cuda itself needs are in a dozen folders that only its own search path names.
  target_link_options(LibTorch::cuda INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
endif()
