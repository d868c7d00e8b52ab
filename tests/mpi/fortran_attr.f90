! SPDX-License-Identifier: BSD-3-Clause
!
! fortran_attr.f90 - attributes of communicators from Fortran (MPI-3.1, 6.7): copied to a dup of
! MPI_COMM_WORLD, and of a dup, by the copy function of their keyval, in the form of MPI-2 and in
! that of MPI-1; deleted; the predefined ones on every communicator.
module copies
    use mpi
    implicit none
    integer :: copied = 0
contains
    subroutine twice(comm, keyval, extra, in, out, flag, ierr)
        integer :: comm, keyval, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
        logical :: flag
        out = 2 * in + extra
        flag = .true.
        copied = copied + 1
        ierr = MPI_SUCCESS
    end subroutine
    subroutine thrice(comm, keyval, extra, in, out, flag, ierr)
        integer :: comm, keyval, extra, in, out, ierr
        logical :: flag
        out = 3 * in + extra
        flag = .true.
        copied = copied + 1
        ierr = MPI_SUCCESS
    end subroutine
end module

program fortran_attr
    use mpi
    use copies
    implicit none
    integer :: ierr, dup, again, same, none, doubled, old, i4, me
    integer(kind=MPI_ADDRESS_KIND) :: extra, value
    logical :: flag

    call MPI_Init(ierr)
    extra = 7
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same, extra, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, none, extra, ierr)
    call MPI_Comm_create_keyval(twice, MPI_COMM_NULL_DELETE_FN, doubled, extra, ierr)
    call MPI_Keyval_create(thrice, MPI_NULL_DELETE_FN, old, 5, ierr)
    value = 1000
    call MPI_Comm_set_attr(MPI_COMM_WORLD, same, value, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, none, value, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, doubled, value, ierr)
    call MPI_Attr_put(MPI_COMM_WORLD, old, 30, ierr)

    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
    call expect(dup, same, .true., 1000, 1)
    call expect(dup, none, .false., 0, 2)
    call expect(dup, doubled, .true., 2007, 3)
    call MPI_Attr_get(dup, old, i4, flag, ierr)
    if (.not. flag .or. i4 /= 95) call fail(4)
    if (copied /= 2) call fail(5)

    call MPI_Comm_dup(dup, again, ierr)
    call expect(again, same, .true., 1000, 6)
    call expect(again, doubled, .true., 4021, 7)
    call MPI_Attr_get(again, old, i4, flag, ierr)
    if (.not. flag .or. i4 /= 290) call fail(8)

    call MPI_Comm_get_attr(again, MPI_TAG_UB, value, flag, ierr)
    if (.not. flag .or. value < 32767) call fail(9)

    call MPI_Comm_delete_attr(MPI_COMM_WORLD, doubled, ierr)
    call MPI_Attr_delete(MPI_COMM_WORLD, old, ierr)
    copied = 0
    call MPI_Comm_free(again, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, again, ierr)
    call expect(again, same, .true., 1000, 11)
    call expect(again, doubled, .false., 0, 12)
    if (copied /= 0) call fail(13)

    call MPI_Comm_free(again, ierr)
    call MPI_Comm_free(dup, ierr)
    call MPI_Comm_free_keyval(same, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize(ierr)

contains
    subroutine expect(comm, keyval, there, is, number)
        integer, intent(in) :: comm, keyval, is, number
        logical, intent(in) :: there
        integer(kind=MPI_ADDRESS_KIND) :: got
        logical :: found
        call MPI_Comm_get_attr(comm, keyval, got, found, ierr)
        if (found .neqv. there) call fail(number)
        if (there .and. got /= is) call fail(number)
    end subroutine
    subroutine fail(number)
        integer, intent(in) :: number
        write (0, *) 'fortran_attr: fails at check', number
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine
end program
