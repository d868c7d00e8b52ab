! SPDX-License-Identifier: BSD-3-Clause
!
! fortran_topo.f90 - topologies, neighbours and intercommunicators by way of the host's Fortran
! layer: logicals, arrays of types, constants that are addresses.
program fortran_topo
    use mpi
    implicit none
    integer :: ierr, me, np, right, left, ring, line, dup, half, inter, both, i, low, high, kind, request, n, m, side
    integer :: dims(2), coords(2), sources(2), dests(2), weights(2), counts(4), types(4), outs(4)
    integer, volatile :: ins(4) ! they change while no call names them
    integer(kind=MPI_ADDRESS_KIND) :: displs(4)
    logical :: periods(2), remain(2), flag

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    right = mod(me + 1, np)
    left = mod(me + np - 1, np)

    dims = (/ 1, np /)
    periods = (/ .false., .true. /)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., ring, ierr)
    dims = -1
    periods = .true.
    call MPI_Cart_get(ring, 2, dims, periods, coords, ierr)
    if (any(dims /= (/ 1, np /)) .or. periods(1) .or. .not. periods(2) .or. any(coords /= (/ 0, me /))) call fail(1)
    call MPI_Cart_shift(ring, 1, 1, low, high, ierr)
    if (low /= left .or. high /= right) call fail(2)
    call MPI_Cart_shift(ring, 0, 1, low, high, ierr)
    if (low /= MPI_PROC_NULL .or. high /= MPI_PROC_NULL) call fail(3)
    remain = (/ .true., .false. /)
    call MPI_Cart_sub(ring, remain, line, ierr)
    call MPI_Comm_size(line, n, ierr)
    call MPI_Cartdim_get(line, m, ierr)
    if (n /= 1 .or. m /= 1) call fail(4)
    call MPI_Comm_free(line, ierr)

    ! to the left a word, to the right two words as one; above and below there is nobody
    call MPI_Type_contiguous(2, MPI_INTEGER, types(1), ierr)
    call MPI_Type_commit(types(1), ierr)
    types = (/ MPI_INTEGER, MPI_INTEGER, MPI_INTEGER, types(1) /)
    counts = (/ 1, 1, 1, 1 /)
    displs = (/ 0, 0, 0, 4 /)
    outs = (/ 10 * me, 10 * me + 1, 10 * me + 2, -7 /)
    do i = 1, 2
        ins = -1
        if (i == 1) then ! from the left come two
            call MPI_Neighbor_alltoallw(outs, counts, displs, types, ins, counts, &
                (/ displs(1:2), displs(4) * 2, displs(1) /), &
                                        (/ types(1:2), types(4), types(3) /), ring, ierr)
        else
            call MPI_Ineighbor_alltoallw(outs, counts, displs, types, ins, counts, &
                (/ displs(1:2), displs(4) * 2, displs(1) /), &
                                         (/ types(1:2), types(4), types(3) /), ring, request, ierr)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        end if
        if (any(ins /= (/ 10 * right, -1, 10 * left + 1, 10 * left + 2 /))) call fail(4 + i)
    end do
    call MPI_Type_free(types(4), ierr)
    call MPI_Comm_idup(ring, dup, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Topo_test(dup, kind, ierr)
    if (kind /= MPI_CART) call fail(7)
    call MPI_Comm_free(ring, ierr)
    call MPI_Comm_free(dup, ierr)

    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (/ left /), MPI_UNWEIGHTED, 1, (/ right /), MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., ring, ierr)
    call MPI_Dist_graph_neighbors_count(ring, n, m, flag, ierr)
    if (n /= 1 .or. m /= 1 .or. flag) call fail(8)
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, ins, 1, MPI_INTEGER, ring, ierr)
    if (ins(1) /= left) call fail(9)
    call MPI_Comm_free(ring, ierr)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, (/ right /), (/ 1 /), (/ me /), (/ me + 5 /), &
        MPI_INFO_NULL, .false., ring, ierr)
    call MPI_Dist_graph_neighbors(ring, 1, sources, weights, 1, dests, weights(2:2), ierr)
    if (sources(1) /= right .or. dests(1) /= left .or. any(weights /= (/ me, left /) + 5)) call fail(10)
    call MPI_Comm_free(ring, ierr)

    if (np > 1) then
        side = mod(me, 2)
        call MPI_Comm_split(MPI_COMM_WORLD, side, me, half, ierr)
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, inter, ierr)
        call MPI_Comm_test_inter(inter, flag, ierr)
        call MPI_Comm_remote_size(inter, n, ierr)
        if (.not. flag .or. n /= (np + side) / 2) call fail(11)
        ins(1) = 0
        call MPI_Allreduce(1, ins(1), 1, MPI_INTEGER, MPI_SUM, inter, ierr)
        if (ins(1) /= n) call fail(12)
        call MPI_Intercomm_merge(inter, side == 0, both, ierr) ! the odd ones first
        call MPI_Comm_rank(both, i, ierr)
        if (i /= me / 2 + merge(np / 2, 0, side == 0)) call fail(13)
        call MPI_Comm_free(both, ierr)
        call MPI_Comm_free(inter, ierr)
        call MPI_Comm_free(half, ierr)
    end if

    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a)', 'ok'
    call MPI_Finalize(ierr)

contains
    subroutine fail(number)
        integer, intent(in) :: number
        write (0, *) 'fortran_topo: rank', me, 'of', np, 'fails at check', number
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine fail
end program fortran_topo
