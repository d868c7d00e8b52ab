! SPDX-License-Identifier: BSD-3-Clause
!
! whoami_f.f90 - a Fortran program asks the environment who it is, and finds what MPI says.
program whoami_f
  use mpi
  implicit none
  character(len=20) :: text
  integer :: ierr, me, np, i, total, named
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  do i = 1, 20
    call MPI_Allreduce(i, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  read (text, *) named
  if (named /= me) call wrong(text)
  call get_environment_variable('OMPI_COMM_WORLD_SIZE', text)
  read (text, *) named
  if (named /= np) call wrong(text)
  if (me == 0) print '(a,i0)', 'sum ', total
  call MPI_Finalize(ierr)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,a,i0,2a)', 'rank ', me, ' of ', np, ' is called ', trim(what)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
