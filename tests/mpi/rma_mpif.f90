! SPDX-License-Identifier: BSD-3-Clause
!
! rma_mpif.f90 - windows with mpif.h: MPI_Win_create on common blocks, MPI_BOTTOM, requests,
! attributes, a shared counter. All buffers are in common blocks: a compiler does not see that a
! local one changes by its address or after its call (MPI-3.1, 17.1.17).
program rma_mpif
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 10
  double precision :: mem(n), buf(n), res(n)
  double precision :: counter(1), one, old
  common /window/ mem, counter
  common /buffers/ buf, res, one, old
  integer :: me, np, right, left, win, ierr, i, request(2), statuses(MPI_STATUS_SIZE, 2), t, idx
  integer :: lens(2), keyval
  integer(kind=MPI_ADDRESS_KIND) :: bytes, zero, at, where(2), value
  logical :: flag
  external :: delete_fn
  integer :: deleted
  common /told/ deleted

  deleted = 0
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, np, ierr)
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  zero = 0
  bytes = 8 * n
  mem = 0
  call MPI_WIN_CREATE(mem, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_WIN_FENCE(MPI_MODE_NOPRECEDE, win, ierr)
  do i = 1, n
    buf(i) = 10 * me + i
  end do
  ! an absolute address at the origin
  call MPI_GET_ADDRESS(buf(1), where(1), ierr)
  call MPI_GET_ADDRESS(buf(6), where(2), ierr)
  lens(1) = 2
  lens(2) = 3
  call MPI_TYPE_CREATE_HINDEXED(2, lens, where, MPI_DOUBLE_PRECISION, t, ierr)
  call MPI_TYPE_COMMIT(t, ierr)
  at = 3
  call MPI_PUT(MPI_BOTTOM, 1, t, right, at, 5, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_WIN_FENCE(0, win, ierr)
  if (mem(4) /= 10 * left + 1 .or. mem(5) /= 10 * left + 2 .or. &
      mem(6) /= 10 * left + 6 .or. mem(8) /= 10 * left + 8) call fail(1)
  if (mem(3) /= 0 .or. mem(9) /= 0) call fail(2)
  res = 0
  call MPI_GET_ADDRESS(res(1), where(1), ierr)
  call MPI_GET_ADDRESS(res(6), where(2), ierr)
  call MPI_TYPE_FREE(t, ierr)
  call MPI_TYPE_CREATE_HINDEXED(2, lens, where, MPI_DOUBLE_PRECISION, t, ierr)
  call MPI_TYPE_COMMIT(t, ierr)
  call MPI_GET(MPI_BOTTOM, 1, t, right, at, 5, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_WIN_FENCE(MPI_MODE_NOSUCCEED, win, ierr)
  if (res(1) /= buf(1) .or. res(2) /= buf(2) .or. res(6) /= buf(6) .or. res(8) /= buf(8) .or. res(3) /= 0) call fail(3)
  call MPI_TYPE_FREE(t, ierr)

  call MPI_WIN_LOCK(MPI_LOCK_EXCLUSIVE, right, 0, win, ierr)
  call MPI_RPUT(buf, 1, MPI_DOUBLE_PRECISION, right, zero, 1, MPI_DOUBLE_PRECISION, win, request(1), ierr)
  call MPI_RGET(res, 1, MPI_DOUBLE_PRECISION, right, at, 1, MPI_DOUBLE_PRECISION, win, request(2), ierr)
  call MPI_WAITALL(2, request, statuses, ierr)
  call MPI_WIN_UNLOCK(right, win, ierr)
  if (request(1) /= MPI_REQUEST_NULL .or. res(1) /= buf(1)) call fail(4)
  call MPI_WAITANY(2, request, idx, statuses, ierr)
  if (idx /= MPI_UNDEFINED) call fail(5)

  value = 9
  call MPI_WIN_CREATE_KEYVAL(MPI_WIN_NULL_COPY_FN, delete_fn, keyval, value, ierr)
  value = 4
  call MPI_WIN_SET_ATTR(win, keyval, value, ierr)
  value = 0
  call MPI_WIN_GET_ATTR(win, keyval, value, flag, ierr)
  if (.not. flag .or. value /= 4) call fail(6)
  call MPI_WIN_GET_ATTR(win, MPI_WIN_BASE, value, flag, ierr)
  call MPI_GET_ADDRESS(mem, where(1), ierr)
  if (.not. flag .or. value /= where(1)) call fail(7)
  call MPI_WIN_FREE(win, ierr)
  if (deleted /= 4 .or. win /= MPI_WIN_NULL) call fail(8)
  call MPI_WIN_FREE_KEYVAL(keyval, ierr)

  ! a counter in rank 0's window alone
  counter(1) = 0
  bytes = 0
  if (me == 0) bytes = 8
  call MPI_WIN_CREATE(counter, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_WIN_LOCK_ALL(0, win, ierr)
  one = 1
  do i = 1, 10
    call MPI_FETCH_AND_OP(one, old, MPI_DOUBLE_PRECISION, 0, zero, MPI_SUM, win, ierr)
    call MPI_WIN_FLUSH(0, win, ierr)
    if (old < 0 .or. old >= 10 * np) call fail(9)
  end do
  call MPI_WIN_UNLOCK_ALL(win, ierr)
  call MPI_WIN_FREE(win, ierr)
  if (me == 0 .and. counter(1) /= 10 * np) call fail(10)
  if (me == 0) print '(a)', 'ok'
  call MPI_FINALIZE(ierr)
end program

subroutine delete_fn(win, keyval, value, extra, ierr)
  implicit none
  include 'mpif.h'
  integer :: win, keyval, ierr, deleted
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  common /told/ deleted
if (extra /= 9 .or. keyval == MPI_KEYVAL_INVALID) call fail(11)
  deleted = deleted + int(value)
  ierr = MPI_SUCCESS
end subroutine

subroutine fail(number)
  implicit none
  include 'mpif.h'
  integer :: number, ierr
  write (0, *) 'rma_mpif: check ', number, ' does not hold'
  call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
end subroutine
