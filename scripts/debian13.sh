#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# debian13.sh - builds and tests this tree on Debian 13 with its Open MPI 5:
#
#   debian13.sh [DIRECTORY] [CTEST ARGUMENTS ...]      (default: /var/tmp/ftrma-debian13; made once, used again)
#   FTRMA_ULFM=1 debian13.sh ...                       the same with mpirun's --with-ft ulfm
#   debian13.sh --help
#
# debian.sh says what this needs. DIRECTORY keeps the packages and the build; it may be removed when nothing runs.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

dir=/var/tmp/ftrma-debian13
case ${1-} in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
'' | -*) ;; # ctest's
*)
    dir=$1
    shift
    ;;
esac

"$here/scripts/debian.sh" --keep "$dir" trixie env FTRMA_ULFM="${FTRMA_ULFM-}" sh -eu -c '
    sh /src/scripts/deps.sh test
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    if [ "$FTRMA_ULFM" = 1 ]; then
        mkdir -p /tmp/ulfm
        for m in mpirun mpirun.openmpi; do
            printf "#!/bin/sh\nexec /usr/bin/%s --with-ft ulfm \"\$@\"\n" $m >/tmp/ulfm/$m
        done
        chmod +x /tmp/ulfm/*
        PATH=/tmp/ulfm:$PATH
    fi
    unset FTRMA_ULFM
    mpirun --version | head -1
    cmake -S /src -B /build -G Ninja -DBUILD_TESTING=ON -DFTRMA_WERROR=ON >/build.log || { cat /build.log; exit 1; }
    cmake --build /build -- -k 0 >>/build.log || { grep -E "error|FAILED" /build.log; exit 1; }
    ctest --test-dir /build --parallel 2 --output-on-failure --no-tests=error "$@"' sh "$@"
