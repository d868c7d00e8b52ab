! SPDX-License-Identifier: BSD-3-Clause
!
! told.f90 - a program that handles losses itself: a sum over steps that survivors keep, and that a new rank is given.
module steps
  use mpi
  use ftrma
  implicit none
  integer, save :: rank, ranks, step = 0, entered = 0
  integer(8), save :: total = 0
contains
  subroutine body()
    integer :: n, few, i, code, new(8), version(8), one(1)
    integer(8) :: both(2)
    entered = entered + 1
    call FTRMA_Replaced(n, new, version)
    call FTRMA_Replaced(few)
    if (few /= n) error stop 'two counts'
    if (n > 0) then
      one = -1
      call FTRMA_Replaced(few, one)
      if (few /= n .or. one(1) /= new(1)) error stop 'another first rank'
      if (any(version(1:n) < 1)) error stop 'no image'
      both = [int(step, 8), total]
      if (any(new(1:n) == rank)) both = -1
      call MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD, code)
      step = int(both(1))
      total = both(2)
    end if
    do while (step < 100)
      call FTRMA_Safepoint()
      call MPI_Allreduce(step, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
      total = total + i
      step = step + 1
    end do
  end subroutine
end module

program told
  use steps
  implicit none
  integer :: code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call FTRMA_Run(body)
  print '(a,i0,a,i0)', 'result: ', total, ' of rank ', rank
  if (rank == 0) print '(a,i0)', 'entered: ', entered
  call MPI_Finalize(code)
end program
