/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member.h - which nodes are members of a job, and when a lost process or node can change nothing
 * any more. Three machines without I/O:
 *
 *   arbiter   in ftrun. It grants leases, hears who cannot reach whom, and says that a node is out.
 *   lease     in the keeper of each node. It asks for the lease, and stops the node's ranks when
 * the lease ends (Gray and Cheriton, "Leases", SOSP 1989). fence     in the gateway of each node.
 * It knows which lost processes are closed (all that they had submitted has come), and which nodes
 * are out (nothing of theirs is applied any more).
 *
 * The agents agree as agree.h says. One rule is added: **an agent answers agree's VOTE only when
 * ft_fence_holds says yes for its set on its node, and while its node's lease lasts.** So a
 * decision implies that every node has drained or fenced whoever is in it, and repair and replay
 * may begin at once. [f dies on A. C hears of it and tells B's agent, while f's last put to B is
 * still under way. B votes at once, all adopt, f' is live, and the old put overwrites what f' has
 * put.]
 *
 * What the shells owe:
 *  - A connection between two gateways loses nothing of a class and keeps its order, until one of
 *    the two is out; it is opened again when it breaks. After OUT it is closed for good, and what
 *    still comes is dropped.
 *  - EXITED comes to the fence of the process's own node when all that the process had submitted
 *    was handed to the wire.
 *  - The keepers' clocks go on while a node sleeps (CLOCK_BOOTTIME). They differ from the
 *    arbiter's by at most `drift` in a lease.
 *  - Messages between the arbiter and a node may take any time, and may be lost with their
 *    connection.
 *
 * Thread rules: none; the caller serialises. Times have the unit of the caller.
 */
#ifndef FT_PROTO_MEMBER_H
#define FT_PROTO_MEMBER_H

#include "proto/member_arbiter.h"
#include "proto/member_fence.h"
#include "proto/member_lease.h"

#endif
