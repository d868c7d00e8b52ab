! SPDX-License-Identifier: BSD-3-Clause
!
! kinds.f90 - variables of many types and ranks are protected, changed in body, and summed up. What cannot be protected
! is refused.
module kinds
  use mpi
  use ftrma
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  type pair
    integer :: number
    real(8) :: part(3)
  end type
  integer :: step = 0
  integer(1) :: tiny(3) = 0
  real(8), allocatable :: field(:, :)
  real :: part_of(4, 4, 4) = 0
  complex :: waves(2, 2, 2, 2) = 0
  type(pair) :: pairs(5) = pair(0, 0)
  character(4) :: words(2) = 'aaaa'
  logical :: flags(7) = .false.
contains
  subroutine work()
    integer :: all, ierr
    do while (step < 40)
      call FTRMA_Safepoint()
      call MPI_Allreduce(step, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      step = step + 1
      tiny = tiny + 1_1
      field = field + all
      part_of(:, :, 2:3) = part_of(:, :, 2:3) + step
      waves = waves + cmplx(step, all)
      pairs%number = pairs%number + step
      pairs%part(2) = pairs%part(2) + all
      words(2)(1:1) = achar(iachar('a') + mod(all, 26))
      flags = .not. flags
    end do
  end subroutine

  subroutine expect(what, ierror, wanted)
    character(*), intent(in) :: what
    integer(c_int), intent(in) :: ierror
    logical, intent(in) :: wanted
    integer :: ierr
    if ((ierror == 0) .eqv. wanted) return
    print *, 'FTRMA_Protect of ', what, ' returned ', ierror
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine refusals(unbounded)
    real :: unbounded(*)
    integer(c_int) :: e
    call FTRMA_Protect(field(3, :), e)
    call expect('a row', e, .false.)
    call FTRMA_Protect(pairs%number, e)
    call expect('a component', e, .false.)
    call FTRMA_Protect(flags(7:1:-1), e)
    call expect('what runs backwards', e, .false.)
    call FTRMA_Protect(unbounded, e)
    call expect('an assumed size', e, .false.)
    call FTRMA_Protect(flags(2:1), e)
    call expect('nothing', e, .true.)
    call refuse_polymorphic(step)
  end subroutine

  subroutine refuse_polymorphic(x)
    class(*), target :: x
    integer(c_int) :: e
    call FTRMA_Protect(x, e)
    call expect('a polymorphic variable', e, .false.)
    select type (x)
    type is (integer)
      call FTRMA_Unprotect(x, e)
      call expect('its type', e, .true.)
    end select
  end subroutine
end module

program many
  use kinds
  implicit none
  integer :: ierr, rank
  character(10) :: how
  real(8) :: mine, all
  call get_command_argument(1, how)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  allocate (field(10, 20))
  field = rank
  if (how == 'slice') call FTRMA_Protect(field(1, :))
  call refusals(part_of)
  call FTRMA_Protect(step)
  call FTRMA_Protect(tiny)
  call FTRMA_Protect(field)
  call FTRMA_Protect(part_of(:, :, 2:3))
  call FTRMA_Protect(waves)
  call FTRMA_Protect(pairs)
  call FTRMA_Protect(words)
  call FTRMA_Protect(flags)
  call FTRMA_Run(work)
  mine = sum(tiny) + sum(field) + sum(part_of) + sum(abs(waves)) + sum(pairs%number) + sum(pairs%part(2)) &
         + iachar(words(2)(1:1)) + count(flags)
  call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, z16.16)', 'result: ', all
  call MPI_Finalize(ierr)
end program
