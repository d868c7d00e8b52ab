! heat.f90 - heat.c in Fortran: a rod that is held at 1 at one end cools at the other; neighbours exchange their edges.
module rod
  use mpi_f08
  use ftrma
  implicit none
  integer, parameter :: cells = 100
  real(8) :: u(0:cells+1) = 0 ! this rank's part of the rod, next to it the neighbours' edges
  integer :: step = 0, rank, size, left, right
contains
  subroutine work() ! starts from `step`, whatever its value is
    real(8) :: before, here
    integer :: i
    do while (step < 2000)
      call FTRMA_Safepoint()
      call MPI_Sendrecv(u(1), 1, MPI_REAL8, left, 0, u(cells+1), 1, MPI_REAL8, right, 0, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(u(cells), 1, MPI_REAL8, right, 1, u(0), 1, MPI_REAL8, left, 1, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (rank == 0) u(0) = 1
      before = u(0)
      do i = 1, cells
        here = u(i)
        u(i) = here + 0.25d0*(before - 2*here + u(i+1))
        before = here
      end do
      step = step + 1
    end do
  end subroutine
end module

program heat
  use rod
  implicit none
  real(8) :: total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < size)
  call FTRMA_Protect(u)
  call FTRMA_Protect(step)
  call FTRMA_Run(work)
  call MPI_Reduce(sum(u(1:cells)), total, 1, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f0.15, a, i0, a)', 'result: ', total, ' after ', step, ' steps'
  call MPI_Finalize()
end program
