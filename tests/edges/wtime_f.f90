! SPDX-License-Identifier: BSD-3-Clause
!
! wtime_f.f90 - wtime.c's check from Fortran: one clock for all processes, through mpi and mpi_f08.
module by_f08
  implicit none
contains
  double precision function clock_f08()
    use mpi_f08
    clock_f08 = MPI_Wtime()
  end function
  double precision function tick_f08()
    use mpi_f08
    tick_f08 = MPI_Wtick()
  end function
end module

program wtime_f
  use mpi
  use by_f08, only: clock_f08, tick_f08
  implicit none
  integer, parameter :: rounds = 60
  integer :: ierr, me, np, r
  integer(kind=MPI_ADDRESS_KIND) :: global
  logical :: flag
  double precision :: t, theirs, last
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, global, flag, ierr)
  if (.not. flag .or. global /= 1) call wrong('MPI_WTIME_IS_GLOBAL')
  t = MPI_Wtick()
  if (t <= 0 .or. t > 1d-6) call wrong('MPI_Wtick')
  t = tick_f08()
  if (t <= 0 .or. t > 1d-6) call wrong('MPI_Wtick of mpi_f08')
  last = 0
  do r = 1, rounds
    t = MPI_Wtime()
    if (t < last) call wrong('the clock went back')
    call MPI_Sendrecv(t, 1, MPI_DOUBLE_PRECISION, mod(me + 1, np), r, theirs, 1, &
                      MPI_DOUBLE_PRECISION, mod(me + np - 1, np), r, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    last = clock_f08()
    if (last < theirs) call wrong('a time came that is not there yet')
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,i0)', 'sum ', rounds
  call MPI_Finalize(ierr)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', me, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
