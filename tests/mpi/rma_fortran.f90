! SPDX-License-Identifier: BSD-3-Clause
!
! rma_fortran.f90 - windows from Fortran (use mpi): MPI_Win_create, fence, put, attributes with a
! delete function, error handlers.
module callbacks
  use mpi
  implicit none
  integer :: deleted = 0, told = 0
contains
  subroutine delete_fn(win, keyval, value, extra, ierr)
    integer :: win, keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    if (extra /= 42) call fail('extra state')
    if (keyval == MPI_KEYVAL_INVALID) call fail('what a delete function is told')
    deleted = deleted + int(value)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine handler(win, code)
    integer :: win, code
    if (win /= MPI_WIN_NULL .and. code /= MPI_SUCCESS) told = told + 1
  end subroutine

  subroutine fail(what)
    character(len=*) :: what
    integer :: ierr
    write (0, *) 'rma_fortran: ', what, ' is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end module

program rma_fortran
  use mpi
  use callbacks
  implicit none
  integer, parameter :: n = 50
  double precision, asynchronous :: mem(n), buf(n)
  integer :: me, np, right, left, win, ierr, keyval, eh, i
  integer(kind=MPI_ADDRESS_KIND) :: bytes, zero, value
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  bytes = 8 * n
  zero = 0
  mem = -1
  buf = [(1000.0d0 * me + i, i = 1, n)]
  call MPI_Win_create(mem, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(buf, n, MPI_DOUBLE_PRECISION, right, zero, n, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  do i = 1, n
    if (mem(i) /= 1000.0d0 * left + i) call fail('what was put')
  end do
  call MPI_Win_fence(0, win, ierr) ! everybody has looked
  call MPI_Accumulate(buf, n, MPI_DOUBLE_PRECISION, right, zero, n, MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  if (mem(3) /= 2 * (1000.0d0 * left + 3)) call fail('what was accumulated')

  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
  if (.not. flag .or. value /= bytes) call fail('MPI_WIN_SIZE')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
  if (.not. flag .or. value /= 8) call fail('MPI_WIN_DISP_UNIT')
  value = 42
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_fn, keyval, value, ierr)
  value = 5
  call MPI_Win_set_attr(win, keyval, value, ierr)
  value = 0
  call MPI_Win_get_attr(win, keyval, value, flag, ierr)
  if (.not. flag .or. value /= 5) call fail('an attribute')

  call MPI_Win_create_errhandler(handler, eh, ierr)
  call MPI_Win_set_errhandler(win, eh, ierr)
  call MPI_Errhandler_free(eh, ierr)
  call MPI_Put(buf, 1, MPI_DOUBLE_PRECISION, np, zero, 1, MPI_DOUBLE_PRECISION, win, ierr)
  if (ierr == MPI_SUCCESS .or. told /= 1) call fail('the error handler')

  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
  call MPI_Win_free(win, ierr)
  if (win /= MPI_WIN_NULL) call fail('a freed handle')
  if (deleted /= 5) call fail('the delete function')
  call MPI_Win_free_keyval(keyval, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a)', 'ok'
  call MPI_Finalize(ierr)
end program
