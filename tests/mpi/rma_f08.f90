! SPDX-License-Identifier: BSD-3-Clause
!
! rma_f08.f90 - windows from Fortran 2008 (use mpi_f08): passive epochs, atomics, requests,
! Fortran's own types, layouts.
module callbacks_f08
  use mpi_f08
  implicit none
  integer :: deleted = 0, told = 0
contains
  subroutine delete_fn(win, keyval, value, extra, ierr)
    type(MPI_Win) :: win
    integer :: keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    if (extra /= 7 .or. keyval == MPI_KEYVAL_INVALID) call fail('a delete function''s arguments')
    deleted = deleted + int(value)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine handler(win, code)
    type(MPI_Win) :: win
    integer :: code
    integer :: class
    call MPI_Error_class(code, class)
    if (win /= MPI_WIN_NULL .and. class == MPI_ERR_RANK) told = told + 1
  end subroutine

  subroutine fail(what)
    character(len=*) :: what
    write (0, *) 'rma_f08: ', what, ' is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end module

program rma_f08
  use mpi_f08
  use callbacks_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 24
  integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0
  type(c_ptr) :: base
  double precision, pointer :: mem(:)
  double precision, asynchronous :: buf(n), got(n)
  integer, asynchronous :: one, old, new
  logical, asynchronous :: mine, was
  real, asynchronous :: pair(2), best(2)
  complex(kind=kind(1d0)), asynchronous :: z, zold
  integer(kind=MPI_ADDRESS_KIND) :: value, bytes
  integer :: me, np, right, left, i, which, keyval, ierr, key_null
  logical :: flag
  type(MPI_Win) :: win, again
  type(MPI_Request) :: q(4)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: column, r15
  type(MPI_Errhandler) :: eh
  type(MPI_Info) :: info
  type(MPI_Group) :: group

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  call MPI_Info_create(info)
  call MPI_Info_set(info, 'accumulate_ordering', 'rar,raw,war,waw')
  bytes = 8 * n
  call MPI_Win_allocate(bytes, 8, info, MPI_COMM_WORLD, base, win)
  call MPI_Info_free(info)
  call c_f_pointer(base, mem, [n])
  mem = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock_all(0, win)

  ! requests, one of them two-sided
  buf = [(100d0 * me + i, i = 1, n)]
  call MPI_Rput(buf, n / 2, MPI_DOUBLE_PRECISION, right, zero, n / 2, MPI_DOUBLE_PRECISION, win, q(1))
  call MPI_Isend(me, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, q(2))
  call MPI_Irecv(old, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q(3))
  q(4) = MPI_REQUEST_NULL
  do i = 1, 3
    call MPI_Waitany(4, q, which, status)
    if (which < 1 .or. which > 3) call fail('MPI_Waitany')
  end do
  call MPI_Waitany(4, q, which, status)
  if (which /= MPI_UNDEFINED .or. old /= left) call fail('requests')
  call MPI_Win_flush(right, win)
  call MPI_Rget(got, n / 2, MPI_DOUBLE_PRECISION, right, zero, n / 2, MPI_DOUBLE_PRECISION, win, q(1))
  call MPI_Raccumulate(buf, 1, MPI_DOUBLE_PRECISION, right, int(n - 1, MPI_ADDRESS_KIND), 1, MPI_DOUBLE_PRECISION, &
                       MPI_SUM, win, q(2))
  call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
  if (any(got(1:n/2) /= buf(1:n/2))) call fail('MPI_Rget')
  call MPI_Win_unlock_all(win)
  call MPI_Barrier(MPI_COMM_WORLD)

  ! atomics on integers, logicals, complex numbers and pairs
  mem = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
  one = 1
  call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, zero, MPI_SUM, win)
  mine = .true.
  call MPI_Fetch_and_op(mine, was, MPI_LOGICAL, 0, 1_MPI_ADDRESS_KIND, MPI_LOR, win)
  z = (1d0, 2d0)
  call MPI_Get_accumulate(z, 1, MPI_DOUBLE_COMPLEX, zold, 1, MPI_DOUBLE_COMPLEX, 0, &
       2_MPI_ADDRESS_KIND, 1, MPI_DOUBLE_COMPLEX, &
                          MPI_SUM, win)
  pair = [real(me * 10), real(me)]
  call MPI_Accumulate(pair, 1, MPI_2REAL, 0, 4_MPI_ADDRESS_KIND, 1, MPI_2REAL, MPI_MAXLOC, win)
  call MPI_Type_create_f90_real(15, MPI_UNDEFINED, r15)
  call MPI_Accumulate(buf, 1, r15, 0, 5_MPI_ADDRESS_KIND, 1, r15, MPI_MAX, win)
  call MPI_Win_flush(0, win)
  if (old < 0 .or. old >= np) call fail('MPI_Fetch_and_op')
  new = me + 100
  old = 0
  call MPI_Compare_and_swap(new, old, which, MPI_INTEGER, 0, 6_MPI_ADDRESS_KIND, win)
  call MPI_Win_unlock(0, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
  call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, zero, MPI_NO_OP, win)
  call MPI_Fetch_and_op(mine, was, MPI_LOGICAL, 0, 1_MPI_ADDRESS_KIND, MPI_NO_OP, win)
  call MPI_Get(z, 1, MPI_DOUBLE_COMPLEX, 0, 2_MPI_ADDRESS_KIND, 1, MPI_DOUBLE_COMPLEX, win)
  call MPI_Get(best, 1, MPI_2REAL, 0, 4_MPI_ADDRESS_KIND, 1, MPI_2REAL, win)
  call MPI_Get(got, 1, r15, 0, 5_MPI_ADDRESS_KIND, 1, r15, win)
  call MPI_Get(new, 1, MPI_INTEGER, 0, 6_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_unlock(0, win)
  if (.not. was) call fail('MPI_LOR')
  if (old /= np .or. z /= np * (1d0, 2d0)) call fail('a sum')
  if (any(best /= [10. * (np - 1), np - 1.])) call fail('MPI_MAXLOC')
  if (got(1) /= 100d0 * (np - 1) + 1 .or. new < 100 .or. new >= 100 + np) call fail('MPI_MAX or MPI_Compare_and_swap')

  ! a column of a matrix against a row
  call MPI_Win_fence(0, win)
  mem = 0
  call MPI_Type_vector(4, 1, 6, MPI_DOUBLE_PRECISION, column)
  call MPI_Type_commit(column)
  call MPI_Win_fence(0, win)
  call MPI_Put(buf, 4, MPI_DOUBLE_PRECISION, right, 2_MPI_ADDRESS_KIND, 1, column, win)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
  if (any(mem(3:24:6) /= [(100d0 * left + i, i = 1, 4)]) .or. sum(mem) /= sum(mem(3:24:6))) call fail('a column')
  call MPI_Type_free(column)

  ! what a window carries
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
  if (.not. flag .or. value /= MPI_WIN_FLAVOR_ALLOCATE) call fail('a flavor')
  value = 7
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_fn, keyval, value)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key_null, value)
  value = 3
  call MPI_Win_set_attr(win, keyval, value)
  call MPI_Win_set_attr(win, key_null, value)
  value = 4
  call MPI_Win_set_attr(win, keyval, value)
  call MPI_Win_delete_attr(win, key_null)
  call MPI_Win_get_attr(win, key_null, value, flag)
  if (flag .or. deleted /= 3) call fail('a deleted attribute')
  call MPI_Win_get_group(win, group)
  call MPI_Group_size(group, i)
  call MPI_Group_free(group)
  if (i /= np) call fail('a group')
  again%MPI_VAL = win%MPI_VAL
  if (again /= win) call fail('a handle')
  call MPI_Win_get_info(win, info)
  call MPI_Info_free(info)
  call MPI_Win_create_errhandler(handler, eh)
  call MPI_Win_set_errhandler(win, eh)
  call MPI_Errhandler_free(eh)
  call MPI_Win_lock(MPI_LOCK_SHARED, np, 0, win, ierr)
  if (ierr == MPI_SUCCESS .or. told /= 1) call fail('the error handler')
  call MPI_Win_call_errhandler(win, MPI_ERR_RANK)
  if (told /= 2) call fail('MPI_Win_call_errhandler')
  call MPI_Win_free(win)
  if (win /= MPI_WIN_NULL .or. deleted /= 7) call fail('MPI_Win_free')
  call MPI_Win_free_keyval(keyval)
  call MPI_Win_free_keyval(key_null)
  if (me == 0) print '(a)', 'ok'
  call MPI_Finalize()
end program
