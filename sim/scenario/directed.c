/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each directed scenario leads to a point where one or two rules of the protocol decide. The victim is any
 * host; its backup, and somebody else, play with it. */
#include "sim/scenario/directed.h"

#define ANY_ENGINE .engine = DIRECTED_ANY_ENGINE
#define EXTERNAL .engine = LBM_LOG_ENGINE_EXTERNAL
#define LOCAL .engine = LBM_LOG_ENGINE_LOCAL

/* The words of a step: what happens, to whom; when, in milliseconds and what is drawn on top. */
#define FAULT(what) .kind = FAULT_##what
#define TO(whom) .role = ROLE_##whom
#define AND(whom) .role_b = ROLE_##whom
#define AFTER(ms, spread) .after = {(ms), (spread)}
#define ON(what, whom) .trigger = TRIGGER_##what, .at = ROLE_##whom
#define THEN(ms, spread) .then = {(ms), (spread)}
#define LASTS(ms, spread) .lasts = {(ms), (spread)}
#define LATE(ms, spread) .late = {(ms), (spread)}

const struct directed_scenario directed_scenarios[] = {
    /* The victim's refusal does not come back to its backup, who knows of it by the replica. */
    {.n = 2,
     ANY_ENGINE,
     .limited = ROLE_VICTIM,
     .step = {{FAULT(LAG), TO(BACKUP), AND(VICTIM), AFTER(0, 2000), ON(OFFER, VICTIM), LASTS(3000, 5000)},
              {FAULT(EVICT_DEAD), TO(VICTIM), AFTER(30, 600), LASTS(6500, 6000)}}},
    /* The successor has refused what it inherits, and the victim never heard. */
    {.n = 1,
     ANY_ENGINE,
     .limited = ROLE_BACKUP,
     .step = {{FAULT(EVICT_DEAD), TO(VICTIM), AFTER(0, 3000), ON(OFFER, BACKUP), LASTS(6500, 6000)}}},
    /* A new backup, and the victim is cut off under its first lease. */
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(DRAIN), TO(BACKUP), AFTER(0, 1000)},
              {FAULT(EVICT_LIVE), TO(VICTIM), AFTER(100, 500), ON(LEAVE, ANY), LASTS(9000, 5000)}}},
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(EVICT_DEAD), TO(BACKUP), AFTER(0, 1000), ON(STAGE, ANY), LASTS(9000, 9000)},
              {FAULT(EVICT_LIVE), TO(VICTIM), AFTER(4000, 2000), ON(IN_SYNC, ANY), LASTS(7000, 7000)}}},
    {.n = 3,
     EXTERNAL,
     .work = 1, /* and not soon after its new backup has started, which would wait for that */
     .step = {{FAULT(DRAIN), TO(BACKUP), AFTER(7500, 2500)},
              {FAULT(HOLD), TO(VICTIM), AND(BACKUP), .held = HELD_LEASE_REQ, AFTER(100, 300),
               LASTS(9000, 4000)},
              {FAULT(EVICT_UNHEARD), TO(VICTIM), AFTER(1400, 0), AND(VICTIM), ON(IN_SYNC, ANY), THEN(10, 60),
               LASTS(6000, 6000)}}},
    /* Some go on as if the victim were there, and it comes back or does not know either. */
    {.n = 1,
     EXTERNAL,
     .step = {{FAULT(EVICT_UNHEARD), TO(VICTIM), AFTER(500, 4000), ON(OFFER, VICTIM), LASTS(9000, 12000)}}},
    {.n = 1,
     EXTERNAL,
     .step = {{FAULT(EVICT_UNHEARD), TO(VICTIM), AFTER(500, 4000), ON(STAGE, VICTIM), LASTS(9000, 12000)}}},
    /* A refusal comes late, and the offer again and again. */
    {.n = 2,
     ANY_ENGINE,
     .limited = ROLE_VICTIM,
     .step = {{FAULT(LAG), TO(VICTIM), AND(OTHER), AFTER(0, 2000), ON(OFFER, VICTIM), LASTS(3000, 9000)},
              {FAULT(LAG), TO(VICTIM), AND(BACKUP), AFTER(0, 100), LASTS(3000, 9000)}}},
    /* One backup after the other goes while vertices move. */
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(EVICT_DEAD), TO(VICTIM), AFTER(0, 2000), ON(OFFER, VICTIM), LASTS(20000, 9000)},
              {FAULT(EVICT_DEAD), TO(BACKUP), AFTER(9000, 3000), ON(IN_SYNC, ANY), LASTS(9000, 9000)}}},
    /* The successor of the victim is leaving. */
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(DRAIN), TO(BACKUP), AFTER(0, 1000)}, {FAULT(EVICT), TO(VICTIM), AFTER(0, 1500)}}},
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(EVICT_DEAD), TO(VICTIM), AFTER(0, 1000), ON(OFFER, VICTIM), LASTS(9000, 9000)},
              {FAULT(DRAIN), TO(BACKUP), AFTER(1000, 4500)}}},
    /* A daemon is killed while its application works on what is asked for. */
    {.n = 1,
     ANY_ENGINE,
     .step = {{FAULT(KILL), TO(VICTIM), AFTER(0, 1500), ON(STAGE, VICTIM), LASTS(300, 600)}}},
    /* The successor is away while what it granted lasts, and after. */
    {.n = 2,
     ANY_ENGINE,
     .step = {{FAULT(EVICT_LIVE), TO(VICTIM), AFTER(0, 2000), ON(LEASE, VICTIM), LASTS(9000, 5000)},
              {FAULT(KILL), TO(BACKUP), AFTER(4000, 1500), ON(EVICT, ANY), LASTS(300, 1200)}}},
    /* The victim has taken what somebody offered, who does not hear of it; the successor crashes between the
     * log's word and the merge. */
    {.n = 4,
     ANY_ENGINE,
     .empty = 1,
     .work = 1,
     .step = {{FAULT(HOLD), TO(VICTIM), AND(OTHER), .held = HELD_ANSWER, LASTS(12000, 9000)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(EVICT_DEAD), TO(VICTIM), ON(HELD, OTHER), THEN(200, 1500), LASTS(15000, 9000)},
              {FAULT(KILL), TO(BACKUP), AFTER(4000, 1000), ON(TAKE_OVER, ANY), LASTS(100, 900)}}},
    /* The same, and the successor itself offered it. */
    {.n = 4,
     ANY_ENGINE,
     .empty = 1,
     .work = 1,
     .step = {{FAULT(HOLD), TO(VICTIM), AND(BACKUP), .held = HELD_ANSWER, LASTS(12000, 9000)},
              {FAULT(SUBMIT), TO(BACKUP), AFTER(10, 300)},
              {FAULT(EVICT_DEAD), TO(VICTIM), ON(HELD, BACKUP), THEN(200, 1500), LASTS(15000, 9000)},
              {FAULT(KILL), TO(BACKUP), AFTER(4000, 1000), ON(TAKE_OVER, ANY), LASTS(100, 900)}}},
    /* The same, and the victim had offered it: somebody has taken or refused it, and asks the successor. */
    {.n = 5,
     ANY_ENGINE,
     .hosts = 4,
     .limited = ROLE_OTHER,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(OTHER), AND(VICTIM), .held = HELD_ANSWER, LASTS(12000, 9000)},
              {FAULT(SUBMIT), TO(VICTIM), AFTER(10, 300)},
              {FAULT(EVICT_DEAD), TO(VICTIM), ON(HELD, VICTIM), LASTS(18000, 9000)},
              {FAULT(KILL), TO(BACKUP), AFTER(4000, 1000), ON(TAKE_OVER, ANY), LASTS(100, 900)},
              {FAULT(TO_AND_FRO), TO(OTHER), AFTER(500, 3000), LASTS(1000, 6000)}}},
    /* An offer reaches a host that has not heard that it was evicted, after its successor has merged. */
    {.n = 4,
     EXTERNAL,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(OTHER), AND(VICTIM), .held = HELD_OFFER, LASTS(20000, 0)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(EVICT_UNHEARD), TO(VICTIM), ON(HELD, VICTIM), THEN(0, 500), LASTS(12000, 4000)},
              {FAULT(PASS), AFTER(8100, 2000)}}},
    /* An offer reaches a host that has come back since it was evicted. */
    {.n = 4,
     ANY_ENGINE,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(OTHER), AND(VICTIM), .held = HELD_OFFER, LASTS(20000, 9000)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(EVICT), TO(VICTIM), ON(HELD, VICTIM)},
              {FAULT(PASS), AFTER(7000, 1000), ON(ACTIVATE, ANY), THEN(0, 500)}}},
    /* The end of a handoff is not with the victim's backup yet when it is asked for, and the victim is lost.
     */
    {.n = 4,
     ANY_ENGINE,
     .hosts = 4,
     .empty = 1,
     .step = {{FAULT(SUBMIT), TO(VICTIM)},
              {FAULT(HOLD), TO(VICTIM), AND(BACKUP), .held = HELD_REPL, ON(ANSWER, VICTIM),
               LASTS(12000, 4000)},
              {FAULT(TO_AND_FRO), TO(OTHER), AFTER(4500, 1500), LASTS(1000, 6000)},
              {FAULT(EVICT_DEAD), TO(VICTIM), AFTER(1000, 3000), LASTS(15000, 9000)}}},
    /* The successor is down while the evicted host waits for it, and who had made it an offer hears nothing.
     */
    {.n = 5,
     EXTERNAL,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(VICTIM), AND(OTHER), .held = HELD_ANSWER, LASTS(9000, 9000)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(CRASH_AFTER), TO(BACKUP), ON(HELD, OTHER), THEN(50, 500), LASTS(13000, 9000)},
              {FAULT(EVICT), TO(VICTIM), AND(OTHER), AFTER(20, 500)},
              {FAULT(DEAF), TO(OTHER), AFTER(8000, 4000), LASTS(19000, 6000)}}},
    /* A host that drains and has nothing inherits nothing but an offer. */
    {.n = 6,
     LOCAL,
     .hosts = 4,
     .limited = ROLE_BACKUP,
     .room = 1,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(OTHER), AND(VICTIM), .held = HELD_OFFER, LASTS(20000, 0)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(EVICT_DEAD), TO(VICTIM), ON(HELD, VICTIM), LASTS(15000, 9000)},
              {FAULT(DRAIN), TO(BACKUP), AND(OTHER), AFTER(10, 2000)},
              {FAULT(HOLD), TO(OTHER), AND(BACKUP), .held = HELD_OFFER, AFTER(4500, 1000), ON(TAKE_OVER, ANY),
               LASTS(3200, 800)},
              {FAULT(HOLD), TO(BACKUP), AND(ORDERS), .held = HELD_LOG_APPEND, AFTER(1000, 1500),
               LASTS(3000, 2500)}}},
    /* What a draining host said when it was empty arrives when it drains again. */
    {.n = 5,
     LOCAL,
     .hosts = 4,
     .step = {{FAULT(HOLD), TO(VICTIM), AND(ORDERS), .held = HELD_LOG_APPEND, LASTS(20000, 0)},
              {FAULT(DRAIN), TO(VICTIM), AND(ORDERS), AFTER(10, 300)},
              {FAULT(JOIN), TO(VICTIM), AND(ORDERS), ON(HELD, ORDERS), THEN(0, 300)},
              {FAULT(DRAIN), TO(VICTIM), AND(ORDERS), AFTER(1000, 4000)},
              {FAULT(PASS), AFTER(10, 200)}}},
    /* A disk that went back, and the backup's that does not keep up. */
    {.n = 3,
     EXTERNAL,
     .work = 1,
     .step = {{FAULT(SUBMIT), TO(OTHER), AFTER(500, 2000)},
              {FAULT(STALLED_DISK), TO(BACKUP), ON(ENTRY, ANY), THEN(10, 40)},
              {FAULT(ROLL_BACK), TO(VICTIM), LASTS(60, 1500)}}},
    /* The first offer of a host that was evicted comes when its successor has said the end of another one. */
    {.n = 4,
     EXTERNAL,
     .hosts = 4,
     .limited = ROLE_OTHER,
     .empty = 1,
     .step = {{FAULT(HOLD), TO(VICTIM), AND(OTHER), .held = HELD_OFFER, LASTS(25000, 0)},
              {FAULT(SUBMIT), TO(VICTIM), AFTER(10, 300)},
              {FAULT(EVICT_UNHEARD), TO(VICTIM), ON(HELD, OTHER), LASTS(18000, 4000)},
              {FAULT(PASS), AFTER(9500, 5000)}}},
    /* A repeated offer comes when its refusal is forgotten. */
    {.n = 9,
     EXTERNAL,
     .empty = 1,
     .work = 1,
     .more = 3,
     .step = {{FAULT(LAG), TO(VICTIM), AND(OTHER), LATE(1200, 1000), LASTS(4000, 0)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(DRAIN), TO(VICTIM), ON(STAGE, OTHER)},
              {FAULT(HOLD), TO(OTHER), AND(VICTIM), .held = HELD_OFFER, ON(OFFER, VICTIM), THEN(1, 0),
               LASTS(30000, 0)},
              {FAULT(JOIN), TO(VICTIM), AFTER(1500, 1000)},
              {FAULT(TO_AND_FRO), TO(OTHER), AFTER(1000, 1000), LASTS(6000, 2000)},
              {FAULT(TO_AND_FRO), TO(BACKUP), AFTER(5000, 1000), LASTS(700, 600)},
              {FAULT(TO_AND_FRO), TO(VICTIM), AFTER(1500, 1000), LASTS(500, 500)},
              {FAULT(PASS), AFTER(1500, 3500)}}},
    /* The end of a handoff is said again and again, while the vertex goes round and comes back. */
    {.n = 6,
     EXTERNAL,
     .empty = 1,
     .work = 1,
     .more = 2,
     .step = {{FAULT(LAG), TO(VICTIM), AND(OTHER), LATE(3500, 2500), LASTS(25000, 0)},
              {FAULT(SUBMIT), TO(OTHER), AFTER(10, 300)},
              {FAULT(TO_AND_FRO), TO(VICTIM), AFTER(4500, 2000), LASTS(500, 500)},
              {FAULT(TO_AND_FRO), TO(BACKUP), AFTER(500, 500), LASTS(500, 500)},
              {FAULT(TO_AND_FRO), TO(OTHER), AFTER(500, 500), LASTS(500, 500)},
              {FAULT(TO_AND_FRO), TO(VICTIM), AFTER(500, 500), LASTS(1500, 0)}}},
};

const uint32_t n_directed_scenarios = sizeof directed_scenarios / sizeof *directed_scenarios;
