// heat.cpp - heat.c in C++: a rod that is held at 1 at one end cools at the other; neighbours exchange their edges.
#include <ftrma.h>
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

class Rod {
    std::vector<double> u; // this rank's part; the first and the last cell are the neighbours' edges
    int step = 0, rank, size;
    MPI_Comm world = MPI_COMM_WORLD;

public:
    Rod(int cells, int rank, int size) : u(cells + 2), rank(rank), size(size)
    {
        FTRMA_Protect(u.data(), u.size() * sizeof u[0]); // the numbers, not the vector, which points to them
        FTRMA_Protect(&step, sizeof step);
    }

    void work() // starts from `step`, whatever its value is
    {
        int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
        for (size_t n = u.size() - 2; step < 2000; step++) {
            FTRMA_Safepoint();
            MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[n + 1], 1, MPI_DOUBLE, right, 0, world, MPI_STATUS_IGNORE);
            MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1, world, MPI_STATUS_IGNORE);
            if (rank == 0)
                u[0] = 1;
            double before = u[0];
            for (size_t i = 1; i <= n; i++) {
                double here = u[i];
                u[i] += 0.25 * (before - 2 * here + u[i + 1]);
                before = here;
            }
        }
    }

    void print() const
    {
        double mine = std::accumulate(u.begin() + 1, u.end() - 1, 0.0), sum = 0;
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("result: %.15f after %d steps\n", sum, step);
    }
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Rod rod(100, rank, size);
    FTRMA_Run([](void *arg) { static_cast<Rod *>(arg)->work(); }, &rod);
    rod.print();
    MPI_Finalize();
}
