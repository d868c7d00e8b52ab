! SPDX-License-Identifier: BSD-3-Clause
!
! clock_f.f90 - an unmodified Fortran program that says what time it is and goes by it: in the end
! the neighbour is asked what it heard, so that a process that is replaced and reads another time is
! found out. The result does not hold it.
program clock_f
  use mpi
  implicit none
  integer, parameter :: rounds = 40
  integer :: ierr, me, np, right, left, r
  double precision :: t, theirs, said, heard, again
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  said = 0
  heard = 0
  do r = 1, rounds
    t = MPI_Wtime()
    call MPI_Sendrecv(t, 1, MPI_DOUBLE_PRECISION, right, r, theirs, 1, MPI_DOUBLE_PRECISION, left, r, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    said = said * 0.5d0 + t
    heard = heard * 0.5d0 + theirs
    if (mod(r, 4) == 0) then
      call MPI_Sendrecv(heard, 1, MPI_DOUBLE_PRECISION, left, 1000 + r, &
                        again, 1, MPI_DOUBLE_PRECISION, right, 1000 + r, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      if (again /= said) then
        print '(a,i0)', 'another time was heard from rank ', me
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end if
    end if
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,i16.16)', 'result: ', rounds
  call MPI_Finalize(ierr)
end program
