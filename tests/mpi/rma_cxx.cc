// SPDX-License-Identifier: BSD-3-Clause
//
// rma_cxx.cc - windows from C++: memory of containers, C++'s own types, handles held by objects,
// exceptions from error handlers.
#define OMPI_SKIP_MPICXX
#include "check.h"

#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
class window
{
    MPI_Win win_ = MPI_WIN_NULL;

  public:
    template <class T> window(std::vector<T> &v, MPI_Comm comm)
    {
        MPI_Win_create(v.data(), static_cast<MPI_Aint>(v.size() * sizeof(T)), sizeof(T), MPI_INFO_NULL, comm, &win_);
        MPI_Win_lock_all(0, win_);
    }
    window(const window &) = delete;
    ~window()
    {
        MPI_Win_unlock_all(win_);
        MPI_Win_free(&win_);
    }
    operator MPI_Win() const { return win_; }
};

void thrower(MPI_Win *, int *code, ...)
{
    int error_class;
    MPI_Error_class(*code, &error_class);
    throw std::runtime_error("class " + std::to_string(error_class));
}

template <class T> void sum(MPI_Datatype type, T one)
{
    std::vector<T> memory(1000), old(1000), ones(1000, one);
    window w(memory, MPI_COMM_WORLD);
    MPI_Get_accumulate(ones.data(), 1000, type, old.data(), 1000, type, 0, 0, 1000, type, MPI_SUM, w);
    MPI_Win_flush(0, w);
    MPI_Barrier(MPI_COMM_WORLD);
    T got{};
    MPI_Get(&got, 1, type, 0, 999, 1, type, w);
    MPI_Win_flush(0, w);
    CHECK(got == one * static_cast<T>(np));
    MPI_Barrier(MPI_COMM_WORLD);
}

void logical()
{
    auto memory = std::vector<char>(1, 0);
    window w(memory, MPI_COMM_WORLD);
    bool mine = true, old = false;
    MPI_Fetch_and_op(&mine, &old, MPI_CXX_BOOL, (me + 1) % np, 0, MPI_LOR, w);
    MPI_Win_flush_all(w);
    CHECK(!old);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w);
    CHECK(memory[0] == 1);
}

void exceptions()
{
    std::vector<int> memory(4);
    window w(memory, MPI_COMM_WORLD);
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(thrower, &handler);
    MPI_Win_set_errhandler(w, handler);
    MPI_Errhandler_free(&handler);
    int x = 1, caught = 0;
    for (int i = 0; i < 3; i++)
        try {
            MPI_Put(&x, 1, MPI_INT, np + i, 0, 1, MPI_INT, w);
        } catch (const std::runtime_error &e) {
            caught += e.what() == "class " + std::to_string(MPI_ERR_RANK);
        }
    CHECK(caught == 3);
    MPI_Win_set_errhandler(w, MPI_ERRORS_ARE_FATAL);
}
} // namespace

int main(int argc, char **argv)
{
    start(&argc, &argv);
    sum<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX, {1, 2});
    sum<std::complex<float>>(MPI_CXX_FLOAT_COMPLEX, {1, 2});
    sum<long double>(MPI_LONG_DOUBLE, 1.5L);
    sum<unsigned char>(MPI_UNSIGNED_CHAR, 3);
    logical();
    exceptions();
    return finish();
}
