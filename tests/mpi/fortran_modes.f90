! SPDX-License-Identifier: BSD-3-Clause
!
! fortran_modes.f90 - send modes, matched probes and files from Fortran.
program fortran_modes
    use mpi
    implicit none
    integer :: me, np, ierr, right, left, v, message, request, fh, got, code
    integer, asynchronous :: w
    integer :: status(MPI_STATUS_SIZE), data(16), back(16)
    integer(kind=MPI_OFFSET_KIND) :: at
    character, target :: buffer(4096), other(8)
    character(len=200) :: name
    logical :: flag

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    right = mod(me + 1, np)
    left = mod(me + np - 1, np)

    call MPI_Buffer_attach(buffer, 4096, ierr)
    v = me
    call MPI_Bsend(v, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    v = -1
    call MPI_Mprobe(left, 1, MPI_COMM_WORLD, message, status, ierr)
    call check(message /= MPI_MESSAGE_NULL .and. status(MPI_SOURCE) == left, 1)
    call MPI_Mrecv(w, 1, MPI_INTEGER, message, status, ierr)
    call check(w == left .and. message == MPI_MESSAGE_NULL .and. status(MPI_TAG) == 1, 2)
    call MPI_Buffer_detach(other, got, ierr)
    call check(got == 4096, 3)

    call MPI_Issend(me, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, request, ierr)
    call MPI_Test(request, flag, status, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, flag, message, status, ierr)
    end do
    w = -1
    call MPI_Imrecv(w, 1, MPI_INTEGER, message, code, ierr)
    call MPI_Wait(code, status, ierr)
    call check(w == left .and. status(MPI_SOURCE) == left, 4)
    call MPI_Wait(request, status, ierr)
    call MPI_Mprobe(MPI_PROC_NULL, 2, MPI_COMM_WORLD, message, status, ierr)
    call check(message == MPI_MESSAGE_NO_PROC, 5)
    call MPI_Mrecv(w, 1, MPI_INTEGER, message, status, ierr)
    call check(message == MPI_MESSAGE_NULL .and. status(MPI_SOURCE) == MPI_PROC_NULL, 6)

    name = ' '
    if (me == 0) then
        call MPI_Get_processor_name(name, got, ierr)
        write (name, '(a,i0)') '/tmp/ftrma-fortran-files.', int(MPI_Wtime()*1000)
    end if
    call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    data = me*100
    call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
                       MPI_INFO_NULL, fh, ierr)
    call check(ierr == MPI_SUCCESS, 7)
    at = me*64
    call MPI_File_write_at_all(fh, at, data, 16, MPI_INTEGER, status, ierr)
    call MPI_File_sync(fh, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    at = right*64
    call MPI_File_read_at(fh, at, back, 16, MPI_INTEGER, status, ierr)
    call check(all(back == right*100), 8)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_close(fh, ierr)

    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize(ierr)

contains
    subroutine check(good, number)
        logical, intent(in) :: good
        integer, intent(in) :: number
        if (.not. good) then
            print '(a,i0,a,i0)', 'rank ', me, ': check ', number
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end subroutine
end program
