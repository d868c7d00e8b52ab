! SPDX-License-Identifier: BSD-3-Clause
!
! ftrma.f90 - the module ftrma: what include/ftrma.h is for C. See ftrma_fortran(3).
!
! Compile this file with the program, or use the compiled module. It finds the library at run time, so the program runs
! without the library as well: FTRMA_Run then calls body, and the other calls do nothing.
module ftrma
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: FTRMA_Protect, FTRMA_Unprotect, FTRMA_Run, FTRMA_Safepoint, FTRMA_Replaced, FTRMA_Body

  integer(c_int), parameter :: refused = 13 ! MPI_ERR_ARG of Open MPI, which the library returns as well

  abstract interface
    ! The part of a program that may be entered again.
    subroutine FTRMA_Body()
    end subroutine
    integer(c_int) function memory_call(addr, bytes) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: addr
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function run_call(body, arg) bind(C)
      import :: c_int, c_ptr, c_funptr
      type(c_funptr), value :: body
      type(c_ptr), value :: arg
    end function
    integer(c_int) function safepoint_call() bind(C)
      import :: c_int
    end function
    integer(c_int) function replaced_call(ranks, versions, most) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: ranks(*), versions(*)
      integer(c_int), value :: most
    end function
  end interface

  interface
    type(c_funptr) function dlsym(handle, name) bind(C, name='dlsym')
      import :: c_funptr, c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function
    ! Copies the beginning of the descriptor by which Fortran 2018 hands `x` to C.
    subroutine copy_descriptor(to, x, bytes) bind(C, name='memcpy')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: to
      type(*), dimension(..), intent(in) :: x
      integer(c_size_t), value :: bytes
    end subroutine
    ! Unlike the intrinsic of gfortran 12, this one knows that r(:)%part is not contiguous.
    integer(c_int) function cfi_is_contiguous(x) bind(C, name='CFI_is_contiguous')
      import :: c_int
      type(*), dimension(..), intent(in) :: x
    end function
  end interface

  ! The standard says what a descriptor begins with: the address, the bytes of one element, and a version
  ! (CFI_cdesc_t). The rest is as in gfortran.
  type, bind(C) :: descriptor_head
    type(c_ptr) :: addr
    integer(c_size_t) :: element_bytes
    integer(c_int) :: version
    integer(c_int8_t) :: rank, attribute
    integer(c_int16_t) :: type_code
  end type
  integer(c_int16_t), parameter :: type_other = -1 ! gfortran: class(*), whose descriptor is that of a pointer to it

  ! FTRMA_Run hands this to the library, and the library hands it to `enter`.
  type :: holder
    procedure(FTRMA_Body), pointer, nopass :: body
  end type

contains

  ! `x` belongs to the checkpoints of this rank: a scalar or a contiguous array of any type and rank. (bind(C): a
  ! compiler may hand a contiguous copy of r(:)%part to a procedure of Fortran, but not to one of C.)
  subroutine FTRMA_Protect(x, ierror) bind(C, name='ftrma_fortran_protect')
    type(*), dimension(..), intent(inout), target, asynchronous :: x
    integer(c_int), intent(out), optional :: ierror
    call memory('FTRMA_Protect', x, size(x, kind=c_size_t), ierror)
  end subroutine

  ! What `x` holds at a safepoint is not needed after it.
  subroutine FTRMA_Unprotect(x, ierror) bind(C, name='ftrma_fortran_unprotect')
    type(*), dimension(..), intent(inout), target, asynchronous :: x
    integer(c_int), intent(out), optional :: ierror
    call memory('FTRMA_Unprotect', x, size(x, kind=c_size_t), ierror)
  end subroutine

  ! Runs body, which may be entered again. Collective over MPI_COMM_WORLD, once in a program.
  subroutine FTRMA_Run(body, ierror)
    procedure(FTRMA_Body) :: body
    integer(c_int), intent(out), optional :: ierror
    procedure(run_call), pointer :: run
    type(holder), target :: h
    type(c_funptr) :: f
    integer(c_int) :: code
    f = find('FTRMA_Run')
    code = 0
    if (c_associated(f)) then
      h%body => body
      call c_f_procpointer(f, run)
      code = run(c_funloc(enter), c_loc(h))
    else
      call body()
    end if
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      write (error_unit, '(a,i0)') 'ftrma: FTRMA_Run did not run body, error ', code
      error stop 1
    end if
  end subroutine

  ! body could be entered again from here; a checkpoint may be taken here.
  subroutine FTRMA_Safepoint(ierror)
    integer(c_int), intent(out), optional :: ierror
    logical, save :: looked = .false.
    procedure(safepoint_call), pointer, save :: safepoint => null()
    type(c_funptr) :: f
    integer(c_int) :: code
    if (.not. looked) then
      f = find('FTRMA_Safepoint')
      if (c_associated(f)) call c_f_procpointer(f, safepoint)
      looked = .true.
    end if
    code = 0
    if (associated(safepoint)) code = safepoint()
    if (present(ierror)) ierror = code
  end subroutine

  ! Which ranks are new, where the program handles losses: their number, and of the first of them, as many as fit, the
  ! rank and the checkpoint that its image is of (0: it has none).
  subroutine FTRMA_Replaced(n, ranks, versions)
    integer(c_int), intent(out) :: n
    integer(c_int), intent(inout), optional :: ranks(:), versions(:)
    procedure(replaced_call), pointer :: replaced
    integer(c_int), allocatable :: new(:), version(:)
    type(c_funptr) :: f
    integer :: most
    n = 0
    f = find('FTRMA_Replaced')
    if (.not. c_associated(f)) return
    call c_f_procpointer(f, replaced)
    most = 0
    if (present(ranks)) most = max(most, size(ranks))
    if (present(versions)) most = max(most, size(versions))
    allocate (new(most), version(most))
    n = replaced(new, version, int(most, c_int))
    if (present(ranks)) ranks(:min(n, size(ranks))) = new(:min(n, size(ranks)))
    if (present(versions)) versions(:min(n, size(versions))) = version(:min(n, size(versions)))
  end subroutine

  subroutine enter(arg) bind(C)
    type(c_ptr), value :: arg
    type(holder), pointer :: h
    call c_f_pointer(arg, h)
    call h%body()
  end subroutine

  ! The library's procedure of that name; null if the library is not loaded.
  type(c_funptr) function find(name)
    character(*), intent(in) :: name
    find = dlsym(c_null_ptr, name//c_null_char)
  end function

  subroutine memory(name, x, elements, ierror)
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in) :: x
    integer(c_size_t), intent(in) :: elements
    integer(c_int), intent(out), optional :: ierror
    character(:), allocatable :: why
    integer(c_int) :: code
    code = refused
    if (elements < 0) then
      why = 'the array is of assumed size, (*); declare its last bound'
    else if (polymorphic(x)) then
      why = 'the variable is polymorphic; name it inside select type'
    else if (.not. contiguous(x, elements)) then
      why = 'the array is not contiguous; name the array that it is a part of'
    else
      why = 'the library refused it (see '//name//'(3))'
      code = tell(name, x, elements)
    end if
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      write (error_unit, '(4a)') 'ftrma: ', name, ': ', why
      error stop 1
    end if
  end subroutine

  logical function polymorphic(x)
    type(*), dimension(..), intent(in) :: x
    type(descriptor_head), target :: head
    call copy_descriptor(c_loc(head), x, c_sizeof(head))
    polymorphic = head%type_code == type_other
  end function

  logical function contiguous(x, elements)
    type(*), dimension(..), intent(in) :: x
    integer(c_size_t), intent(in) :: elements
    contiguous = elements < 2
    if (.not. contiguous) contiguous = cfi_is_contiguous(x) /= 0
  end function

  integer(c_int) function tell(name, x, elements)
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in) :: x
    integer(c_size_t), intent(in) :: elements
    type(descriptor_head), target :: head
    procedure(memory_call), pointer :: call_of_library
    type(c_funptr) :: f
    tell = 0
    f = find(name)
    if (.not. c_associated(f)) return
    call copy_descriptor(c_loc(head), x, c_sizeof(head))
    call c_f_procpointer(f, call_of_library)
    tell = call_of_library(head%addr, elements*head%element_bytes)
  end function

end module
