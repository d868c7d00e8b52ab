# SPDX-License-Identifier: BSD-3-Clause
"""ftrma for Python: numpy arrays survive the loss of a process of an mpi4py program.

    from mpi4py import MPI
    import ftrma

    ftrma.protect(array)    the array belongs to the checkpoints of this rank
    ftrma.unprotect(array)  what it holds at a safepoint is not needed after it
    ftrma.run(body, ...)    calls body(...), which may be called again in a replacement
    ftrma.safepoint()       body could begin again from here; a checkpoint may be taken here

A replacement of a lost process runs the program up to run(), gets the bytes of the protected arrays back, and calls
body. No other object is restored. A process that lives never leaves body: what needs that ends the job with status 75.
Without the library, run() calls body, and the other functions do nothing. See ftrma_python(3).
"""
import ctypes
import sys
import traceback

import numpy

__all__ = ["protect", "unprotect", "run", "safepoint"]

_Body = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_process = ctypes.PyDLL(None)  # keeps the interpreter's lock: no other thread changes arrays while they are copied
_kept = []  # protected arrays live as long as the process


def _find(name, *arguments):
    """The function of the preloaded library; None without the library."""
    function = getattr(_process, name, None)
    if function is not None:
        function.argtypes = arguments
        function.restype = ctypes.c_int
    return function


_protect = _find("FTRMA_Protect", ctypes.c_void_p, ctypes.c_size_t)
_unprotect = _find("FTRMA_Unprotect", ctypes.c_void_p, ctypes.c_size_t)
_run = _find("FTRMA_Run_local", _Body, ctypes.c_void_p)
_safepoint = _find("FTRMA_Safepoint")


def _flush():
    """What was printed so far belongs to what was done so far."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _tell(function, array):
    if not isinstance(array, numpy.ndarray):
        raise TypeError("ftrma: only numpy arrays can be protected, and this is of type %s. Keep it in an array: "
                        "step = numpy.zeros(1, int)" % type(array).__name__)
    if array.dtype.hasobject:
        raise TypeError("ftrma: an array of Python objects holds pointers, which mean nothing in another process")
    if not array.flags.forc:
        raise ValueError("ftrma: the array is not contiguous; name the array that it is a part of")
    if not array.flags.writeable:
        raise ValueError("ftrma: the array is read-only")
    if function is None:
        return
    code = function(array.ctypes.data, array.nbytes)
    if code != 0:
        raise RuntimeError("ftrma: the library refused the array, error %d. Protect arrays after MPI was initialized "
                           "and before run() (see FTRMA_Protect(3), FTRMA_Unprotect(3))" % code)
    _kept.append(array)


def protect(array):
    """The bytes of this contiguous numpy array belong to the checkpoints of this rank. Change it in place."""
    _tell(_protect, array)


def unprotect(array):
    """What this array holds at a safepoint is not needed after it."""
    _tell(_unprotect, array)


def _end(error):
    """The job ends here: an exception must not pass through the library."""
    from mpi4py import MPI
    code = error.code if isinstance(error, SystemExit) else 1
    if not isinstance(code, int) or not isinstance(error, SystemExit):
        traceback.print_exc()
        code = 1
    _flush()
    MPI.COMM_WORLD.Abort(code)


def run(body, *arguments):
    """Calls body(*arguments). Collective over MPI.COMM_WORLD, once in a program."""
    if _run is None:
        body(*arguments)
        return

    def enter(_):
        try:
            body(*arguments)
            _flush()
        except BaseException as error:
            _end(error)

    _flush()
    code = _run(_Body(enter), None)
    if code != 0:
        raise RuntimeError("ftrma: run() did not call body, error %d (see FTRMA_Run(3))" % code)


def safepoint():
    """body could begin again from here, with what protected arrays hold now. A checkpoint may be taken here."""
    if _safepoint is not None:
        _flush()
        _safepoint()
