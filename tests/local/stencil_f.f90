! SPDX-License-Identifier: BSD-3-Clause
!
! stencil_f.f90 - an unmodified Fortran program: a rod that cools, halos by Isend, Irecv and Waitall, one sum a round.
program stencil_f
    use mpi
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer, parameter :: cells = 200, rounds = 60
    real(real64), asynchronous :: u(0:cells + 1)
    real(real64) :: next(cells), heat, total
    integer(int64) :: mine, all
    integer :: ierr, me, np, left, right, i, r, req(4)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    left = merge(MPI_PROC_NULL, me - 1, me == 0)
    right = merge(MPI_PROC_NULL, me + 1, me == np - 1)
    u = 0
    do i = 1, cells
        u(i) = real(mod((me * cells + i) * 7919, 1000), real64)
    end do
    do r = 1, rounds
        call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, r, MPI_COMM_WORLD, req(1), ierr)
        call MPI_Irecv(u(cells + 1), 1, MPI_DOUBLE_PRECISION, right, r, MPI_COMM_WORLD, req(2), ierr)
        call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, left, r, MPI_COMM_WORLD, req(3), ierr)
        call MPI_Isend(u(cells), 1, MPI_DOUBLE_PRECISION, right, r, MPI_COMM_WORLD, req(4), ierr)
        call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
        do i = 1, cells
            next(i) = u(i) + 0.25_real64 * (u(i - 1) - 2 * u(i) + u(i + 1))
        end do
        u(1:cells) = next
        heat = sum(next)
        call MPI_Allreduce(heat, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        if (.not. (total > 0 .and. total < 1000.0_real64 * cells * np)) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        u(1 + mod(r, cells)) = u(1 + mod(r, cells)) + total / 1e6_real64
    end do
    mine = me
    do i = 1, cells
        mine = ieor(ishftc(mine, 13), transfer(u(i), mine))
        mine = ieor(mine, ishft(mine, -7))
    end do
    mine = ishftc(mine, 3 * me)
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a, z16.16)', 'result: ', all
    call MPI_Finalize(ierr)
end program stencil_f
