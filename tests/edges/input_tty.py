# SPDX-License-Identifier: BSD-3-Clause
#
# input_tty.py - ftrun at a terminal:  input_tty.py FTRUN PROGRAM.  A line is answered before the next is typed, rank
# 0 is lost in between, Ctrl-D ends the input. In the background ftrun reads nothing, is not stopped, and ends.
import os
import pty
import select
import sys

ftrun, program = sys.argv[1:]
PATIENCE = 600


def read_until(fd, text, so_far=b""):
    while text not in so_far:
        if not select.select([fd], [], [], PATIENCE)[0]:
            sys.exit("waited in vain for %r, got %r" % (text, so_far))
        try:
            more = os.read(fd, 4096)
        except OSError:
            more = b""
        if not more:
            sys.exit("%r did not come, but %r" % (text, so_far))
        so_far += more
    return so_far[so_far.index(text) + len(text):]


def in_terminal(run):
    pid, fd = pty.fork()
    if pid == 0:
        run()
    return pid, fd


def foreground():
    os.execv(ftrun, [ftrun, "-n", "2", "--inject", "rank=0,point=coll.enter,hit=3", program, "chat"])


def background():
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.execv(ftrun, [ftrun, "-n", "2", program, "never"])
    _, status = os.waitpid(child, os.WUNTRACED)
    print("stopped" if os.WIFSTOPPED(status) else "ended %d" % os.WEXITSTATUS(status), flush=True)
    os._exit(0)


pid, fd = in_terminal(foreground)
rest = b""
for i in range(1, 7):
    os.write(fd, b"%d\n" % i)
    rest = read_until(fd, b"heard %d\r\n" % i, rest)
os.write(fd, b"\x04")
read_until(fd, b"total 0 sum 63", rest)
_, status = os.waitpid(pid, 0)
if status:
    sys.exit("ftrun ended with status %#x" % status)

pid, fd = in_terminal(background)
os.write(fd, b"not for ftrun\n")
read_until(fd, b"ended 0\r\n")
os.waitpid(pid, 0)
print("all was said and heard")
