! SPDX-License-Identifier: GPL-3.0-or-later
! heat: heat.c in Fortran, by the module lbmap.
!
!     gfortran $(pkg-config --variable=fortran lbmap) heat.f90 $(pkg-config --libs lbmap) -o heat
!     ./heat airfoil 1000 temperatures [SOCKET]
module heat
    use lbmap
    use, intrinsic :: iso_c_binding
    implicit none
    character(:), allocatable :: path

contains

    ! Every 64th vertex is hot, the others are cold.
    subroutine begin(context, vertex, state) bind(c)
        type(c_ptr), value :: context, state
        integer(c_int32_t), value :: vertex
        real(c_double), pointer :: temperature
        call c_f_pointer(state, temperature)
        temperature = merge(1000.0_c_double, 20.0_c_double, mod(vertex, 64) == 0)
    end subroutine

    ! A part of the difference to each neighbour flows along the edge to it.
    subroutine flow(context, step, after) bind(c)
        type(c_ptr), value :: context, after
        type(lbmap_step), intent(in) :: step
        type(lbmap_neighbour), pointer :: neighbour(:)
        real(c_double), pointer :: own, other, next
        real(c_double) :: gain
        integer :: i
        call c_f_pointer(step%state, own)
        call c_f_pointer(step%neighbour, neighbour, [step%degree])
        call c_f_pointer(after, next)
        gain = 0
        do i = 1, size(neighbour)
            call c_f_pointer(neighbour(i)%state, other)
            gain = gain + neighbour(i)%weight * (other - own)
        end do
        next = own + 0.05_c_double * gain
    end subroutine

    subroutine write_one(context, vertex, state, size) bind(c)
        type(c_ptr), value :: context, state
        integer(c_int32_t), value :: vertex
        integer(c_size_t), value :: size
        real(c_double), pointer :: temperature
        integer, save :: file
        call c_f_pointer(state, temperature)
        if (vertex == 0) open (newunit=file, file=path, action='write', status='replace')
        write (file, '(es24.16e3)') temperature
        flush (file)
    end subroutine
end module

program main
    use heat
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    type(lbmap_program) :: program
    character(:), allocatable :: message, steps
    if (command_argument_count() < 3 .or. command_argument_count() > 4) then
        write (error_unit, '(a)') 'usage: heat JOB STEPS FILE [SOCKET]'
        stop 2
    end if
    program%job = argument(1)
    steps = argument(2)
    read (steps, *) program%steps
    path = argument(3)
    program%socket = argument(4)
    program%state_size = c_sizeof(1.0_c_double)
    program%init => begin
    program%step => flow
    program%result => write_one
    if (lbmap_steps(program, message) /= LBMAP_OK) then
        write (error_unit, '(2a)') 'heat: ', message
        stop 1
    end if

contains

    function argument(number) result(text)
        integer, intent(in) :: number
        character(:), allocatable :: text
        integer :: length
        call get_command_argument(number, length=length)
        allocate (character(length) :: text)
        call get_command_argument(number, text)
    end function
end program
