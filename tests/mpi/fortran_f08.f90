! SPDX-License-Identifier: BSD-3-Clause
!
! fortran_f08.f90 - the mpi_f08 module: messages, Alltoallw on a part of the world, a reduction by a Fortran function.
! A module's procedures can be passed without a trampoline on the stack, which would have to be executable.
module fortran_f08_largest
    use mpi_f08
    implicit none
    integer :: me, np

contains
    subroutine keep_largest(invec, inoutvec, len, datatype)
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: x(:), y(:)
        if (datatype /= MPI_INTEGER) call fail(6)
        call c_f_pointer(invec, x, (/ len /))
        call c_f_pointer(inoutvec, y, (/ len /))
        y = max(x, y)
    end subroutine keep_largest

    subroutine fail(number)
        integer, intent(in) :: number
        write (0, *) 'fortran_f08: rank', me, 'of', np, 'fails at check', number
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine fail
end module fortran_f08_largest

program fortran_f08
    use mpi_f08
    use fortran_f08_largest
    implicit none
    integer :: half_np, i, right, left
    integer, allocatable, asynchronous :: outs(:), ins(:)
    integer, allocatable :: counts(:), displs(:)
    type(MPI_Datatype), allocatable :: types(:)
    type(MPI_Comm) :: half
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    type(MPI_Op) :: largest
    integer :: a(3), b(3)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, np)
    right = mod(me + 1, np)
    left = mod(me + np - 1, np)

    allocate (outs(10), ins(10))
    outs = me
    ins = -1
    call MPI_Irecv(ins, 10, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(outs, 10, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    if (any(ins /= left) .or. statuses(1)%MPI_SOURCE /= left) call fail(1)
    if (requests(1) /= MPI_REQUEST_NULL) call fail(2)
    deallocate (outs, ins)

    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, half)
    call MPI_Comm_size(half, half_np)
    allocate (outs(half_np), ins(half_np), counts(half_np), displs(half_np), types(half_np))
    do i = 1, half_np
        outs(i) = me * 100 + i
        counts(i) = 1
        displs(i) = (i - 1) * 4
        types(i) = MPI_INTEGER
    end do
    ins = -1
    call MPI_Alltoallw(outs, counts, displs, types, ins, counts, displs, types, half)
    do i = 1, half_np
        if (ins(i) /= (2 * (i - 1) + mod(me, 2)) * 100 + me / 2 + 1) call fail(3)
    end do
    ins = outs
    call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, ins, counts, displs, types, half)
    do i = 1, half_np
        if (ins(i) /= (2 * (i - 1) + mod(me, 2)) * 100 + me / 2 + 1) call fail(4)
    end do
    call MPI_Comm_free(half)

    call MPI_Op_create(keep_largest, .true., largest)
    a = (/ me, -me, mod(me * 3, np) /)
    call MPI_Allreduce(a, b, 3, MPI_INTEGER, largest, MPI_COMM_WORLD)
    if (b(1) /= np - 1 .or. b(2) /= 0) call fail(5)
    call MPI_Op_free(largest)

    call MPI_Barrier(MPI_COMM_WORLD)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize()
end program fortran_f08
