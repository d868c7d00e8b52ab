! SPDX-License-Identifier: BSD-3-Clause
!
! fortran_p2p.f90 - a Fortran program through the host's own Fortran layer: nonblocking messages and
! their handles, reductions, communicators, persistent requests, attributes of a type.
program fortran_p2p
    use mpi
    implicit none
    integer, parameter :: n = 1000
    integer :: ierr, me, np, right, left, i, half, hme, hnp, column, index
    integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), st(MPI_STATUS_SIZE)
    integer :: outs(n), outa(2)
    integer, volatile :: ins(n), ina(2), total ! they change while no call names them
    double precision :: x, y, m(10, 10), row(10)
    logical :: flag

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    right = mod(me + 1, np)
    left = mod(me + np - 1, np)

    do i = 1, n
        outs(i) = me * 100000 + i
    end do
    ins = -1
    outa = (/ me, me + 1 /)
    call MPI_Irecv(ins, n, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Irecv(ina, 2, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Isend(outs, n, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(3), ierr)
    call MPI_Isend(outa, 2, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(4), ierr)
    call MPI_Waitall(4, requests, statuses, ierr)
    do i = 1, n
        if (ins(i) /= left * 100000 + i) call fail(1)
    end do
    if (any(ina /= (/ left, left + 1 /))) call fail(2)
    if (statuses(MPI_SOURCE, 1) /= left .or. statuses(MPI_TAG, 2) /= 6) call fail(3)
    if (any(requests /= MPI_REQUEST_NULL)) call fail(4)

    x = me + 0.5d0
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (y /= np * (np - 1) / 2 + 0.5d0 * np) call fail(5)
    total = me
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (total /= np - 1) call fail(6)

    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, ierr)
    call MPI_Comm_rank(half, hme, ierr)
    call MPI_Comm_size(half, hnp, ierr)
    if (hnp /= (np + 1 - mod(me, 2)) / 2 .or. hme /= hnp - 1 - me / 2) call fail(7)
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
    if (total /= hnp) call fail(8)
    call MPI_Comm_free(half, ierr)
    if (half /= MPI_COMM_NULL) call fail(9)

    ! a false Test leaves the handle as it is
    call MPI_Irecv(total, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Test(requests(1), flag, st, ierr)
    if (flag) call fail(10)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Send(me, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Test(requests(1), flag, st, ierr)
    end do
    if (total /= left .or. st(MPI_SOURCE) /= left .or. requests(1) /= MPI_REQUEST_NULL) call fail(11)

    ! persistent requests keep their handles
    call MPI_Recv_init(total, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send_init(me, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 3
        total = -1
        call MPI_Startall(2, requests, ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        if (total /= left) call fail(12)
        if (any(requests(1:2) == MPI_REQUEST_NULL)) call fail(13)
    end do
    call MPI_Start(requests(1), ierr)
    call MPI_Start(requests(2), ierr)
    call MPI_Waitany(2, requests, index, st, ierr)
    if (index < 1 .or. index > 2) call fail(14)
    call MPI_Wait(requests(1), st, ierr)
    call MPI_Wait(requests(2), st, ierr)
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)

    ! a row of a matrix that lies in columns
    m = me
    call MPI_Type_vector(10, 1, 10, MPI_DOUBLE_PRECISION, column, ierr)
    call MPI_Type_commit(column, ierr)
    call MPI_Sendrecv(m(3, 1), 1, column, right, 9, row, 10, MPI_DOUBLE_PRECISION, left, 9, MPI_COMM_WORLD, st, ierr)
    call MPI_Type_free(column, ierr)
    if (any(row /= left)) call fail(15)

    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize(ierr)

contains
    subroutine fail(number)
        integer, intent(in) :: number
        write (0, *) 'fortran_p2p: rank', me, 'of', np, 'fails at check', number
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine fail
end program fortran_p2p
