/* SPDX-License-Identifier: BSD-3-Clause
 *
 * polled.h - calls that do not wait, but by which a program may be waiting for somebody: from time
 * to time messages go on in them. Main calls these at the end of such a call; they may longjmp, as
 * ft_wait does. The functions are in wait.c.
 */
#ifndef FT_TRANSPORT_POLLED_H
#define FT_TRANSPORT_POLLED_H

#include "base/base.h"
#include "base/engine.h"

/* Called after a call by which a program may be waiting for somebody (a Test, an atomic that only
 * looks). When many in a row were in vain, messages go on, and the processor is yielded. */
void ft_polled_long(void);
/* Lets messages go on; NULL: there are none. */
extern FT_STATE(__typeof__(void (*)(void)), ft_wait_messages);
#define ft_wait_messages FT_MY(ft_wait_messages)
extern FT_STATE(uint32_t, ft_polls_in_vain);
extern FT_STATE(uint32_t, ft_polls_most);
#define ft_polls_in_vain FT_MY(ft_polls_in_vain)
#define ft_polls_most FT_MY(ft_polls_most)
static inline void ft_polled(int in_vain)
{
    if (!in_vain)
        ft_polls_in_vain = 0;
    else if (FT_UNLIKELY(++ft_polls_in_vain >= ft_polls_most))
        ft_polled_long();
}

/* Called in a call that a program repeats while it polls memory, whatever that call has found: the
 * program may be waiting for somebody who waits for one of its receives (MPI 3.1, 3.7.4). Messages
 * go on once in FT_LOOKS such calls. */
enum { FT_LOOKS = 1024 };
void ft_looked_long(void);
extern FT_STATE(uint32_t, ft_looks);
#define ft_looks FT_MY(ft_looks)
static inline void ft_looked(void)
{
    if (FT_UNLIKELY(++ft_looks >= FT_LOOKS))
        ft_looked_long();
}

#endif
