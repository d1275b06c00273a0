! SPDX-License-Identifier: GPL-3.0-or-later
! Structs of lbmap.f90 have the bytes that they have in C (bindings_sizes.c). Elements of arrays have as many; those
! that are always passed by themselves may have got members behind the last one that Fortran knows.
module expected
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: n = 11, n_elements = 8
    integer(c_size_t), bind(c, name='bindings_sizes') :: of_c(n)
end module

program sizes
    use expected
    use lbmap
    implicit none
    integer(c_size_t) :: own(n)
    type(lbmap_vertex) :: vertex
    type(lbmap_payload) :: payload
    type(lbmap_edge) :: edge
    type(lbmap_state) :: state
    type(lbmap_load) :: load
    type(lbmap_vertex_change) :: vertex_change
    type(lbmap_edge_change) :: edge_change
    type(lbmap_neighbour) :: neighbour
    type(lbmap_step) :: step
    type(lbmap_peer) :: peer
    type(lbmap_callbacks) :: callbacks
    integer :: i
    own = [c_sizeof(vertex), c_sizeof(payload), c_sizeof(edge), c_sizeof(state), c_sizeof(load), &
        c_sizeof(vertex_change), c_sizeof(edge_change), c_sizeof(neighbour), c_sizeof(step), c_sizeof(peer), &
        c_sizeof(callbacks)]
    do i = 1, n
        if (own(i) == of_c(i) .or. (i > n_elements .and. own(i) < of_c(i))) cycle
        print '(a, i0, a, i0, a, i0)', 'struct ', i, ': bytes in Fortran ', own(i), ', in C ', of_c(i)
        error stop
    end do
    if (len(lbmap_version()) < 5) error stop 'lbmap_version has no text'
    if (lbmap_f_text(lbmap_strerror(LBMAP_E_BUSY)) == &
        lbmap_f_text(lbmap_strerror(LBMAP_OK))) error stop 'lbmap_strerror'
end program
