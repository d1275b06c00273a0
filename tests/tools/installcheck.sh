#!/usr/bin/env bash
# The installed examples build with what is installed, in C, C++ and Fortran: by pkg-config, and by CMake's
# find_package. Each program then says that no daemon listens. Needs DESTDIR, libdir, docdir: run by make installcheck.
set -u

root=${DESTDIR-}
libdir=${libdir:?run by make installcheck}
examples=$root${docdir:?run by make installcheck}/examples
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0 built=0
export PKG_CONFIG_PATH=$root$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=$root$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

bad() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}
# runs NAME: it finds its library, and says what is wrong.
runs() {
    "$scratch/$1" job 1 "$scratch/field" "$scratch/no.sock" >"$scratch/output" 2>&1
    if [ $? -eq 1 ] && grep -q 'not reachable' "$scratch/output"; then
        built=$((built + 1))
    else
        bad "$1 runs: $(head -c 400 "$scratch/output")"
    fi
}
# build NAME COMMAND...
build() {
    local name=$1
    shift
    if "$@" -o "$scratch/$name" >"$scratch/output" 2>&1; then
        runs "$name"
    else
        bad "$name: $* -o $name: $(head -c 800 "$scratch/output")"
    fi
}
have() {
    command -v "$1" >/dev/null && return
    echo "skipped: $1 is not installed"
    return 1
}

if have pkg-config; then
    read -ra flags <<<"$(pkg-config --cflags --libs lbmap)" || bad "pkg-config does not find lbmap"
    fortran=$(pkg-config --variable=fortran lbmap)
    fortran=$root${fortran#"$root"}
    build c cc "$examples/heat.c" "${flags[@]}"
    ! have g++ || build cpp g++ -std=c++17 "$examples/heat.cpp" "${flags[@]}"
    ! have gfortran || build fortran gfortran -J "$scratch" "$fortran" "$examples/heat.f90" "${flags[@]}"
fi

if have cmake; then
    languages='C'
    ! have g++ || languages+=' CXX'
    ! have gfortran || languages+=' Fortran'
    cat >"$scratch/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(heat LANGUAGES $languages)
find_package(lbmap 0.1 REQUIRED)
add_executable(cmake_c $examples/heat.c)
target_link_libraries(cmake_c lbmap::lbmap)
if(CMAKE_CXX_COMPILER)
    add_executable(cmake_cpp $examples/heat.cpp)
    target_compile_features(cmake_cpp PRIVATE cxx_std_17)
    target_link_libraries(cmake_cpp lbmap::lbmap)
endif()
if(CMAKE_Fortran_COMPILER)
    add_executable(cmake_fortran $examples/heat.f90)
    target_link_libraries(cmake_fortran lbmap::fortran)
endif()
CMAKE
    cmake_build() {
        cmake -S "$scratch" -B "$scratch" -DCMAKE_PREFIX_PATH="$root${libdir%/*}" -Dlbmap_DIR="$root$libdir/cmake/lbmap" &&
            cmake --build "$scratch"
    }
    if cmake_build >"$scratch/output.cmake" 2>&1; then
        for name in c cpp fortran; do [ ! -x "$scratch/cmake_$name" ] || runs "cmake_$name"; done
        [ -x "$scratch/cmake_c" ] || bad "CMake built nothing"
    else
        bad "CMake: $(tail -n 15 "$scratch/output.cmake")"
    fi
    sed -i 's/lbmap 0.1 REQUIRED/lbmap 0.0 REQUIRED/' "$scratch/CMakeLists.txt"
    ! cmake_build >"$scratch/output.cmake" 2>&1 || bad "CMake takes another version for this one"
fi
[ "$failed" -ne 0 ] || echo "$built programs build with what is installed"
exit "$failed"
