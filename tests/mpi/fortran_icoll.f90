! SPDX-License-Identifier: BSD-3-Clause
!
! Nonblocking collectives from Fortran: MPI_IN_PLACE, and the one whose types are an array a member long.
! ASYNCHRONOUS: without it a compiler may take a buffer as it was when the call returned, even write
! it back (MPI-3.1, 17.1.17).
program fortran_icoll
    use mpi
    implicit none
    integer, parameter :: n = 400
    integer :: ierr, me, np, i, req(4)
    integer, asynchronous :: sums(n), word(n), scanned
    integer, allocatable, asynchronous :: out(:), in(:)
    integer, allocatable :: counts(:), displs(:), types(:)
    double precision, asynchronous :: x(3)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    allocate(out(0:np - 1), in(0:np - 1), counts(np), displs(np), types(np))
    do i = 1, n
        sums(i) = me + i
        word(i) = merge(i, -1, me == np - 1)
    end do
    do i = 0, np - 1
        out(i) = 100 * me + i
        in(i) = -1
        counts(i + 1) = 1
        displs(i + 1) = 4 * i
        types(i + 1) = MPI_INTEGER
    end do
    call MPI_Iallreduce(MPI_IN_PLACE, sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Ibcast(word, n, MPI_INTEGER, np - 1, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Iscan(me, scanned, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    call check(all(req == MPI_REQUEST_NULL), 'requests')
    do i = 1, n
        call check(sums(i) == np * i + np * (np - 1) / 2, 'iallreduce')
        call check(word(i) == i, 'ibcast')
    end do
    do i = 0, np - 1
        call check(in(i) == 100 * i + me, 'ialltoallw')
    end do
    call check(scanned == me * (me + 1) / 2, 'iscan')
    call MPI_Ialltoallw(MPI_IN_PLACE, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Wait(req(1), MPI_STATUS_IGNORE, ierr)
    do i = 0, np - 1
        call check(in(i) == 100 * me + i, 'ialltoallw in place')
    end do
    x = me + 1
    if (me == 0) then
        call MPI_Ireduce(MPI_IN_PLACE, x, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, req(1), ierr)
    else
        call MPI_Ireduce(x, x, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, req(1), ierr)
    end if
    call MPI_Ibarrier(MPI_COMM_WORLD, req(2), ierr)
    call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, ierr)
    call check(me /= 0 .or. all(x == np), 'ireduce')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize(ierr)

contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        integer :: code
        if (good) return
        print '(a, i0, 2a)', 'rank ', me, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end subroutine
end program
