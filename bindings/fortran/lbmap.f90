! SPDX-License-Identifier: LGPL-3.0-or-later
! lbmap.f90: liblbmap for Fortran 2008. Compile it with the program, and link with -llbmap:
!
!     gfortran $(pkg-config --variable=fortran lbmap) heat.f90 $(pkg-config --libs lbmap) -o heat
!
! lbmap_steps runs a program in steps: what its components mean is said in lbmap_steps.h. Those of lbmap.h are
! here with their C names and arguments: texts are character arrays that end with c_null_char, as
! lbmap_c_text(text) makes them, and pointers are type(c_ptr). Functions that the program gives are bind(c).
module lbmap
    use, intrinsic :: iso_c_binding
    implicit none
    private

    ! ---- errors --------------------------------------------------------------------------------------------

    integer(c_int), parameter, public :: LBMAP_OK = 0, LBMAP_E_NOMEM = 1, LBMAP_E_RANGE = 2, LBMAP_E_SYNTAX = 3, &
        LBMAP_E_LIMIT = 4, LBMAP_E_IO = 5, LBMAP_E_EXISTS = 6, LBMAP_E_NOTFOUND = 7, LBMAP_E_STATE = 8, &
        LBMAP_E_CORRUPT = 9, LBMAP_E_VERSION = 10, LBMAP_E_DENIED = 11, LBMAP_E_UNSUPPORTED = 12, &
        LBMAP_E_UNREACHABLE = 13, LBMAP_E_TIMEOUT = 14, LBMAP_E_BUSY = 15
    integer(c_int), parameter, public :: LBMAP_WORK = 0, LBMAP_STOP = 1, LBMAP_LOST = 2 ! lbmap_lease_valid
    integer(c_int32_t), parameter, public :: LBMAP_NOWHERE = -1 ! UINT32_MAX
    integer, parameter, public :: LBMAP_PAYLOAD_MAX = 67108864, LBMAP_NOTE_MAX = 256, LBMAP_MESSAGE_MAX = 1048576
    integer, parameter, public :: LBMAP_SEND_MAX = 65536, LBMAP_MAIL_MAX = 131072, LBMAP_PARTNERS_MAX = 2048

    ! ---- structs of lbmap.h --------------------------------------------------------------------------------

    type, bind(c), public :: lbmap_vertex
        integer(c_int32_t) :: id
        integer(c_int64_t) :: token
    end type
    type, bind(c), public :: lbmap_payload
        type(c_ptr) :: bytes = c_null_ptr
        integer(c_size_t) :: len = 0
    end type
    type, bind(c), public :: lbmap_edge
        integer(c_int32_t) :: other, weight, host
    end type
    type, bind(c), public :: lbmap_peer
        integer(c_int32_t) :: host
        integer(c_int) :: finished
        type(c_ptr) :: name, address, note
        integer(c_size_t) :: note_len
    end type
    type, bind(c), public :: lbmap_callbacks ! size: c_sizeof of the variable; functions: c_funloc
        integer(c_size_t) :: size = 0
        type(c_ptr) :: context = c_null_ptr
        type(c_funptr) :: acquire = c_null_funptr, release = c_null_funptr, revoked = c_null_funptr
        type(c_funptr) :: edges = c_null_funptr, peer_up = c_null_funptr, peer_down = c_null_funptr
        type(c_funptr) :: message = c_null_funptr, deliver = c_null_funptr
        integer(c_int) :: send_kept = 0
        type(c_funptr) :: vertex_moved = c_null_funptr
    end type
    type, bind(c), public :: lbmap_state
        integer(c_int32_t) :: vertex
        integer(c_int64_t) :: token
        type(lbmap_payload) :: payload
    end type
    type, bind(c), public :: lbmap_load
        integer(c_int32_t) :: vertex
        integer(c_int64_t) :: token
        real(c_double) :: load
    end type
    type, bind(c), public :: lbmap_vertex_change
        integer(c_int32_t) :: vertex
        integer(c_int64_t) :: token = 0
        integer(c_int32_t) :: near = 0, work = 0
        integer(c_int) :: removed = 0
        type(lbmap_payload) :: payload
    end type
    type, bind(c), public :: lbmap_edge_change
        integer(c_int32_t) :: vertex, other, weight
    end type

    ! ---- structs of lbmap_steps.h --------------------------------------------------------------------------

    type, bind(c), public :: lbmap_neighbour
        integer(c_int32_t) :: vertex, weight
        type(c_ptr) :: state ! c_f_pointer makes it what it is
        integer(c_size_t) :: size
    end type
    type, bind(c), public :: lbmap_step
        integer(c_int32_t) :: vertex
        integer(c_int64_t) :: step
        type(c_ptr) :: state
        integer(c_size_t) :: size
        type(c_ptr) :: neighbour ! of type(lbmap_neighbour), `degree` of them
        integer(c_size_t) :: degree
    end type

    abstract interface
        subroutine lbmap_init_function(context, vertex, state) bind(c)
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: context, state
            integer(c_int32_t), value :: vertex
        end subroutine
        subroutine lbmap_step_function(context, step, after) bind(c)
            import :: c_ptr, lbmap_step
            type(c_ptr), value :: context, after
            type(lbmap_step), intent(in) :: step
        end subroutine
        function lbmap_length_function(context, vertex, state) result(bytes) bind(c)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: context, state
            integer(c_int32_t), value :: vertex
            integer(c_size_t) :: bytes
        end function
        function lbmap_load_function(context, vertex) result(cost) bind(c)
            import :: c_ptr, c_int32_t, c_double
            type(c_ptr), value :: context
            integer(c_int32_t), value :: vertex
            real(c_double) :: cost
        end function
        subroutine lbmap_result_function(context, vertex, state, size) bind(c)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: context, state
            integer(c_int32_t), value :: vertex
            integer(c_size_t), value :: size
        end subroutine
        subroutine lbmap_stable_function(context, step) bind(c)
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: context
            integer(c_int64_t), value :: step
        end subroutine
    end interface
    public :: lbmap_init_function, lbmap_step_function, lbmap_length_function, lbmap_load_function, &
        lbmap_result_function, lbmap_stable_function

    ! A program in steps. What has a value here may be left as it is.
    type, public :: lbmap_program
        character(:), allocatable :: job
        character(:), allocatable :: socket ! not allocated, or empty: the usual one
        integer(c_int64_t) :: steps
        integer(c_size_t) :: state_size
        integer(c_int32_t) :: keep = 0
        type(c_ptr) :: context = c_null_ptr
        procedure(lbmap_init_function), pointer, nopass :: init => null()
        procedure(lbmap_step_function), pointer, nopass :: step => null()
        procedure(lbmap_length_function), pointer, nopass :: length => null()
        procedure(lbmap_load_function), pointer, nopass :: load => null()
        procedure(lbmap_result_function), pointer, nopass :: result => null()
        procedure(lbmap_stable_function), pointer, nopass :: stable => null()
    end type

    ! struct lbmap_steps
    type, bind(c) :: steps_struct
        integer(c_size_t) :: size
        type(c_ptr) :: job, socket_path
        integer(c_int64_t) :: steps
        integer(c_size_t) :: state_size
        integer(c_int32_t) :: keep
        type(c_ptr) :: context
        type(c_funptr) :: init = c_null_funptr, step = c_null_funptr, length = c_null_funptr
        type(c_funptr) :: load = c_null_funptr, result = c_null_funptr, stable = c_null_funptr
        type(c_ptr) :: stop
    end type

    ! ---- functions of lbmap.h ------------------------------------------------------------------------------

    interface
        function lbmap_strerror(error) result(text) bind(c)
            import :: c_ptr, c_int
            integer(c_int), value :: error
            type(c_ptr) :: text
        end function
        function lbmap_open(socket_path, map) result(error) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: socket_path
            type(c_ptr), intent(out) :: map
            integer(c_int) :: error
        end function
        subroutine lbmap_close(map) bind(c)
            import :: c_ptr
            type(c_ptr), value :: map
        end subroutine
        function lbmap_message(map) result(text) bind(c)
            import :: c_ptr
            type(c_ptr), value :: map
            type(c_ptr) :: text
        end function
        function lbmap_set_timeout(map, timeout_ms) result(error) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int), value :: timeout_ms
            integer(c_int) :: error
        end function
        function lbmap_attach(map, job) result(error) bind(c)
            import :: c_ptr, c_int, c_char
            type(c_ptr), value :: map
            character(kind=c_char), intent(in) :: job(*)
            integer(c_int) :: error
        end function
        function lbmap_host(map) result(host) bind(c)
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: map
            integer(c_int32_t) :: host
        end function
        function lbmap_vertices(map) result(n) bind(c)
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: map
            integer(c_int32_t) :: n
        end function
        function lbmap_owned(map, vertices, n) result(error) bind(c) ! lbmap_free(vertices)
            import :: c_ptr, c_int, c_size_t
            type(c_ptr), value :: map
            type(c_ptr), intent(out) :: vertices
            integer(c_size_t), intent(out) :: n
            integer(c_int) :: error
        end function
        function lbmap_locate(map, vertex, n, host, token) result(error) bind(c) ! token: c_loc, or c_null_ptr
            import :: c_ptr, c_int, c_size_t, c_int32_t
            type(c_ptr), value :: map, token
            integer(c_size_t), value :: n
            integer(c_int32_t), intent(in) :: vertex(n)
            integer(c_int32_t), intent(inout) :: host(n)
            integer(c_int) :: error
        end function
        function lbmap_serve(map, callbacks) result(error) bind(c)
            import :: c_ptr, c_int, lbmap_callbacks
            type(c_ptr), value :: map
            type(lbmap_callbacks), intent(in) :: callbacks
            integer(c_int) :: error
        end function
        function lbmap_dispatch(map, timeout_ms) result(error) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int), value :: timeout_ms
            integer(c_int) :: error
        end function
        function lbmap_fd(map) result(fd) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int) :: fd
        end function
        function lbmap_events(map) result(events) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int) :: events
        end function
        function lbmap_lease_valid(map) result(lease) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int) :: lease
        end function
        function lbmap_checkpoint(map, states, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, lbmap_state
            type(c_ptr), value :: map
            integer(c_size_t), value :: n
            type(lbmap_state), intent(in) :: states(n)
            integer(c_int) :: error
        end function
        ! Payloads of more than 262144 bytes must stay as they are until lbmap_checkpoint_done says so: give them
        ! the target or asynchronous attribute.
        function lbmap_checkpoint_start(map, states, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, lbmap_state
            type(c_ptr), value :: map
            integer(c_size_t), value :: n
            type(lbmap_state), intent(in) :: states(n)
            integer(c_int) :: error
        end function
        function lbmap_checkpoint_done(map, done) result(error) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int), intent(out) :: done
            integer(c_int) :: error
        end function
        function lbmap_report_load(map, loads, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, lbmap_load
            type(c_ptr), value :: map
            integer(c_size_t), value :: n
            type(lbmap_load), intent(in) :: loads(n)
            integer(c_int) :: error
        end function
        function lbmap_set_load(map, loads, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, lbmap_load
            type(c_ptr), value :: map
            integer(c_size_t), value :: n
            type(lbmap_load), intent(in) :: loads(n)
            integer(c_int) :: error
        end function
        function lbmap_publish(map, note, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t
            type(c_ptr), value :: map, note
            integer(c_size_t), value :: n
            integer(c_int) :: error
        end function
        function lbmap_post(map, host, bytes, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, c_int32_t
            type(c_ptr), value :: map, bytes
            integer(c_int32_t), value :: host
            integer(c_size_t), value :: n
            integer(c_int) :: error
        end function
        function lbmap_send(map, from, to, tag, bytes, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, c_int32_t
            type(c_ptr), value :: map, bytes
            integer(c_int32_t), value :: from, to, tag
            integer(c_size_t), value :: n
            integer(c_int) :: error
        end function
        function lbmap_finish(map) result(error) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: map
            integer(c_int) :: error
        end function
        function lbmap_new_vertices(map, vertex, n) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, c_int32_t
            type(c_ptr), value :: map
            integer(c_size_t), value :: n
            integer(c_int32_t), intent(inout) :: vertex(n)
            integer(c_int) :: error
        end function
        function lbmap_change(map, vertices, n, edges, m) result(error) bind(c)
            import :: c_ptr, c_int, c_size_t, lbmap_vertex_change, lbmap_edge_change
            type(c_ptr), value :: map
            integer(c_size_t), value :: n, m
            type(lbmap_vertex_change), intent(in) :: vertices(n)
            type(lbmap_edge_change), intent(in) :: edges(m)
            integer(c_int) :: error
        end function
        function lbmap_count(map, vertex, other, amount) result(error) bind(c)
            import :: c_ptr, c_int, c_int32_t, c_double
            type(c_ptr), value :: map
            integer(c_int32_t), value :: vertex, other
            real(c_double), value :: amount
            integer(c_int) :: error
        end function
        function lbmap_follow_counts(map, unit) result(error) bind(c)
            import :: c_ptr, c_int, c_double
            type(c_ptr), value :: map
            real(c_double), value :: unit
            integer(c_int) :: error
        end function
        subroutine lbmap_free(memory) bind(c, name='free')
            import :: c_ptr
            type(c_ptr), value :: memory
        end subroutine
        function steps_of_c(program, message, len) result(error) bind(c, name='lbmap_steps')
            import :: c_int, c_size_t, c_char, steps_struct
            type(steps_struct), intent(in) :: program
            character(kind=c_char), intent(inout) :: message(*)
            integer(c_size_t), value :: len
            integer(c_int) :: error
        end function
        function version_of_c() result(text) bind(c, name='lbmap_version')
            import :: c_ptr
            type(c_ptr) :: text
        end function
        pure function length_of_c(text) result(n) bind(c, name='strlen')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: n
        end function
    end interface
    public :: lbmap_strerror, lbmap_open, lbmap_close, lbmap_message, lbmap_set_timeout, lbmap_attach, lbmap_host, &
        lbmap_vertices, lbmap_owned, lbmap_locate, lbmap_serve, lbmap_dispatch, lbmap_fd, lbmap_events, &
        lbmap_lease_valid, lbmap_checkpoint, lbmap_checkpoint_start, lbmap_checkpoint_done, lbmap_report_load, &
        lbmap_set_load, lbmap_publish, lbmap_post, &
        lbmap_send, lbmap_finish, lbmap_new_vertices, lbmap_change, lbmap_count, lbmap_follow_counts, lbmap_free
    public :: lbmap_c_text, lbmap_f_text, lbmap_version, lbmap_steps

contains

    ! A text for C.
    pure function lbmap_c_text(text) result(array)
        character(*), intent(in) :: text
        character(kind=c_char) :: array(len(text) + 1)
        integer :: i
        do i = 1, len(text)
            array(i) = text(i:i)
        end do
        array(len(text) + 1) = c_null_char
    end function

    ! A text of C: lbmap_f_text(lbmap_message(map)).
    function lbmap_f_text(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(:), allocatable :: copy
        character(kind=c_char), pointer :: array(:)
        integer :: i
        call c_f_pointer(text, array, [length_of_c(text)])
        allocate (character(size(array)) :: copy)
        do i = 1, size(array)
            copy(i:i) = array(i)
        end do
    end function

    ! Version of liblbmap.
    function lbmap_version() result(text)
        character(:), allocatable :: text
        text = lbmap_f_text(version_of_c())
    end function

    ! Work until every vertex of the job has done all steps. message: what went wrong, or empty.
    function lbmap_steps(program, message) result(error)
        type(lbmap_program), intent(in) :: program
        character(:), allocatable, optional, intent(out) :: message
        integer(c_int) :: error
        character(kind=c_char), target :: text(512)
        character(kind=c_char), allocatable, target :: job(:), socket(:)
        type(steps_struct) :: c
        text(1) = c_null_char
        if (.not. allocated(program%job)) then
            error = LBMAP_E_RANGE
            if (present(message)) message = 'lbmap_steps: the program has no job'
            return
        end if
        job = lbmap_c_text(program%job)
        c = steps_struct(size=c_sizeof(c), job=c_loc(job), socket_path=c_null_ptr, steps=program%steps, &
            state_size=program%state_size, keep=program%keep, context=program%context, stop=c_null_ptr)
        if (allocated(program%socket)) then
            socket = lbmap_c_text(program%socket)
            if (len(program%socket) > 0) c%socket_path = c_loc(socket)
        end if
        if (associated(program%init)) c%init = c_funloc(program%init)
        if (associated(program%step)) c%step = c_funloc(program%step)
        if (associated(program%length)) c%length = c_funloc(program%length)
        if (associated(program%load)) c%load = c_funloc(program%load)
        if (associated(program%result)) c%result = c_funloc(program%result)
        if (associated(program%stable)) c%stable = c_funloc(program%stable)
        error = steps_of_c(c, text, size(text, kind=c_size_t))
        if (present(message)) message = lbmap_f_text(c_loc(text))
    end function
end module
