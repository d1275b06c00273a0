# bindings
# liblbmap for other languages. C++ headers go to the others; the Fortran module is compiled with each program, since
# every compiler has its own module files; the Python module is one file, and whoever uses it copies it.
include_HEADERS += bindings/cpp/lbmap.hpp bindings/cpp/lbmap_steps.hpp bindings/mpi/lbmap_mpi.h
fortrandir = $(pkgdatadir)/fortran
dist_fortran_DATA = bindings/fortran/lbmap.f90
bindingdir = $(docdir)/python
dist_binding_DATA = bindings/python/lbmap.py
# For programs that are built with CMake: find_package(lbmap).
cmakedir = $(libdir)/cmake/lbmap
nodist_cmake_DATA = bindings/cmake/lbmapConfig.cmake bindings/cmake/lbmapConfigVersion.cmake
# What is installed builds programs in every language whose compiler is here.
installcheck-local:
	DESTDIR='$(DESTDIR)' libdir='$(libdir)' docdir='$(docdir)' bash $(srcdir)/tests/tools/installcheck.sh
