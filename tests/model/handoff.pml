/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handoff, replication, eviction, return, drain and collection of records, for Spin 6.5.
 *
 * What is modelled
 *   - the control log: entries in one order; every host learns them late, one by one. Commands are
 *     proposed first and land later, whatever has landed before them, as in lib/node/log/control_log.c.
 *   - records: one step is one transaction; what is stored survives crashes, acknowledgements do not.
 *   - messages between hosts: once sent, delivered any number of times, in any order, at any moment or
 *     never. Receivers drop what names an incarnation that is not theirs, and offers of a sender that they
 *     know is gone. One thing is assumed of the network, see after_fin().
 *   - applications: go on when their daemon crashes, until the lease is over.
 *   - time: only leases and the wait of the successor for their end. Every other delay is any delay.
 * What is not: several vertices in one message, positions, payloads, sequence numbers of the stream (the
 * backup either has the present record or an older one), a disk that is rolled back.
 *
 * Records change by T_ macros only; lib/node/core/transitions.h has the same list, and tests/model/model.sh compares.
 *
 * With two copies a host has two backups, each with a stream, a lease and an INSYNC of its own: a record counts when
 * both have it, and a lease holds while both grant it (docs/adr/0040-keep-two-copies-of-each-record.md).
 *
 * Defines: NV vertices (1 or 2); COPIES backups of a host (1 or 2); N hosts (3 or 4); REJOIN: who is gone may come
 * back, empty, as incarnation 1; IDLE: hosts that own nothing hold leases too; PROMPT: INSYNC lands when it is proposed, and FIN is heard when it is said, for
 * runs that would be too long. From the environment, so that one compilation serves many runs: ME, a handoff
 * begins below this epoch; how often may happen CR a crash, EV an eviction, RF a refusal without reason, LX a
 * lease that ends early, RC a rejoin, DR a drain, RM a removal, HO a handoff (if it is not set only ME counts); and M, a
 * mutation: each removes one rule, and a property must then fail (tests/model/run has the list). */

#ifndef NV
#define NV 1
#endif

#ifndef N
#define N 3          /* hosts: 3 or 4 */
#endif
#ifndef COPIES
#define COPIES 1     /* backups of a host: 1 or 2 */
#endif
#define EE 9         /* epochs are below; TRANSITION asserts it */
#define ENTRIES 7    /* views are below: 3 bits in RETARGETED; new_entry asserts it */
#ifdef REJOIN
#define INCARNATIONS 2
#else
#define INCARNATIONS 1
#endif

/* ---- records --------------------------------------------------------------------------------------------- */

/* A record is epoch * 16 + stage: records compare as they rank. A host with its incarnation is one number. */
#define WHO(h, i) ((h) + N * (i))
#define HOST(w) ((w) % N)
#define INCARNATION(w) ((w) / N)

#define NONE 0
#define MAKE_NONE(e, w) NONE
#define MAKE_OWN(e, w) ((e) * 16 + 1)
#define MAKE_OUT(e, w) ((e) * 16 + 2 + (w))
#define MAKE_REF(e, w) ((e) * 16 + 8)
#define MAKE_MOV(e, w) ((e) * 16 + 9)
#define EPOCH(r) ((r) >> 4)
#define IS_OWN(r) (((r) & 15) == 1)
#define IS_OUT(r) (((r) & 15) >= 2 && ((r) & 15) <= 7)
#define IS_REF(r) (((r) & 15) == 8)
#define IS_MOV(r) (((r) & 15) == 9)
#define HOLDS(r) (IS_OWN(r) || IS_OUT(r))
#define TARGET(r) (((r) & 15) - 2)

#define FROM_NONE 1
#define FROM_OWN 2
#define FROM_OUT 4
#define FROM_REF 8
#define FROM_MOV 16
#define FROM_LOWER (FROM_NONE | FROM_OUT | FROM_REF | FROM_MOV)
#define FROM_FINISHED (FROM_REF | FROM_MOV)
#define STAGE(r) ((r) == NONE -> FROM_NONE : (IS_OWN(r) -> FROM_OWN : \
    (IS_OUT(r) -> FROM_OUT : (IS_REF(r) -> FROM_REF : FROM_MOV))))

#define BASE_ZERO(h, v, b) 0
#define BASE_SELF(h, v, b) EPOCH(R(h, v))
#define BASE_OFFER(h, v, b) (b)
#define BASE_REPLICA(h, v, b) (b)

/* The only statement that changes a record. I9: its rank never falls. */
#define TRANSITION(h, v, from, to, base, plus, b, who) \
    transition_allowed = (FROM_##from & STAGE(R(h, v))) != 0; \
    assert(transition_allowed); \
    made = BASE_##base(h, v, b) + plus; \
    assert(made < EE); \
    made = MAKE_##to(made, who); \
    rank_grows = made == NONE || made > R(h, v); \
    assert(rank_grows); \
    R(h, v) = made; \
    A(h, v) = 0

#define T_BEGIN(h, v) TRANSITION(h, v, NONE, OWN, ZERO, 1, 0, 0)
#define T_ACCEPT(h, v, c) TRANSITION(h, v, LOWER, OWN, OFFER, 0, c, 0)
#define T_REFUSE(h, v, c) TRANSITION(h, v, LOWER, REF, OFFER, 0, c, 0)
#define T_RELEASE(h, v, w) TRANSITION(h, v, OWN, OUT, SELF, 0, 0, w)
#define T_MOVE(h, v) TRANSITION(h, v, OUT, MOV, SELF, 0, 0, 0)
#define T_REMOVE(h, v) TRANSITION(h, v, OWN, MOV, SELF, 0, 0, 0)
#define T_RETURN(h, v) TRANSITION(h, v, OUT, OWN, SELF, 2, 0, 0)
#define T_INHERIT(h, v) TRANSITION(h, v, OUT, OWN, SELF, 1, 0, 0)
#define T_TAKE_BACK(h, v) TRANSITION(h, v, OUT, OWN, SELF, 1, 0, 0)
#define T_TAKE_OVER_OWN(h, v, e) TRANSITION(h, v, LOWER, OWN, REPLICA, 1, e, 0)
#define T_TAKE_OVER_MINE(h, v, e) TRANSITION(h, v, LOWER, OWN, REPLICA, 1, e, 0)
#define T_TAKE_OVER_REFUSED_HERE(h, v, e) TRANSITION(h, v, REF, OWN, REPLICA, 2, e, 0)
#define T_TAKE_OVER_REFUSED_THERE(h, v) TRANSITION(h, v, OUT, OWN, SELF, 2, 0, 0)
#define T_TAKE_OVER_OUT(h, v, e, w) TRANSITION(h, v, LOWER, OUT, REPLICA, 0, e, w)
#define T_TAKE_OVER_REF(h, v, e) TRANSITION(h, v, LOWER, REF, REPLICA, 0, e, 0)
#define T_TAKE_OVER_MOV(h, v, e) TRANSITION(h, v, LOWER, MOV, REPLICA, 0, e, 0)
#define T_COLLECT(h, v) TRANSITION(h, v, FINISHED, NONE, ZERO, 0, 0, 0)

/* ---- state ----------------------------------------------------------------------------------------------- */

#define UP 0
#define DAEMON_DOWN 1
#define HOST_DOWN 2

/* What holds of all slots, or of any; of every host, or of any. */
#if COPIES == 1
#define EVERY_SLOT(f, h) f(h, 0)
#define ANY_SLOT(f, h) f(h, 0)
#define EVERY_SLOT_OF(f, h, v) f(h, v, 0)
#else
#define EVERY_SLOT(f, h) (f(h, 0) && f(h, 1))
#define ANY_SLOT(f, h) (f(h, 0) || f(h, 1))
#define EVERY_SLOT_OF(f, h, v) (f(h, v, 0) && f(h, v, 1))
#endif
#define EVERY ((1 << COPIES) - 1)
#define BIT(mask, k) (((mask) >> (k)) & 1)
#if N == 3
#define EVERY_HOST(f, h) (f(h, 0) && f(h, 1) && f(h, 2))
#define ANY_HOST(f, h) (f(h, 0) || f(h, 1) || f(h, 2))
#define COUNT_HOSTS(f, h) (f(h, 0) + f(h, 1) + f(h, 2))
#else
#define EVERY_HOST(f, h) (f(h, 0) && f(h, 1) && f(h, 2) && f(h, 3))
#define ANY_HOST(f, h) (f(h, 0) || f(h, 1) || f(h, 2) || f(h, 3))
#define COUNT_HOSTS(f, h) (f(h, 0) + f(h, 1) + f(h, 2) + f(h, 3))
#endif

/* Of host h. A: the present backups that have this record. D: what the record's source still owes, see below. */
byte rec[N * NV], debt[N * NV], running[N * NV];
byte acked[N * NV];                         /* bit k: the backup in slot k; EVERY: all */
#define R(h, v) rec[(h) * NV + (v)]
#define D(h, v) debt[(h) * NV + (v)]
#define A(h, v) acked[(h) * NV + (v)]
#define X(h, v) running[(h) * NV + (v)]     /* token an application works with, 0: none does */

byte up[N], incarnation[N], known[N];       /* known: index of the last entry applied */
bit lost[N];                                /* for good */
bit lease[N], orphan[N];                    /* orphan: the lease page of a daemon that crashed, see crash() */
byte grantors[N];                           /* of the lease: bit b is host b */
bit draining[N], leaving[N];                /* LEAVE is proposed and has not landed */
byte syncing[N];                            /* the same of INSYNC, bit k: of the backup in slot k */

/* What b keeps of o: records and debts as they were when o last replicated them. */
byte kept[INCARNATIONS * N * N * NV], kept_debt[INCARNATIONS * N * N * NV];
#define KEPT(w, b, v) kept[((w) * N + (b)) * NV + (v)]
#define KEPT_DEBT(w, b, v) kept_debt[((w) * N + (b)) * NV + (v)]
#define SELF(h) WHO(h, (M == 24 -> 0 : incarnation[h]))

/* A debt: who offered the record and at what epoch; 0: finished, no offer of it will come any more. */
#define DEBT(c, w) ((c) * 8 + 1 + (w))
#define DEBTOR(d) (((d) & 7) - 1)
#define OFFERED(d) ((d) >> 3)

/* Messages. OFFER to incarnation 0 and 1: by whom, plus 1. OFFER_FOR: also the sender's view, and to which
 * incarnation. FIN: the highest epoch that a host has sworn never to offer again, and its view
 * when it did. */
#define EPOCHS (EE - 2) /* an offer has epoch 2 or more */
#define AT(v, c) ((v) * EPOCHS + (c) - 2)
byte offer0[NV * EPOCHS * N], offer_for[NV * EPOCHS * N], answers[NV * EPOCHS], fin[NV * INCARNATIONS * N];
#ifdef REJOIN
byte offer1[NV * EPOCHS * N];
#define OFFER1(v, c, t) offer1[AT(v, c) * N + (t)]
#else
#define OFFER1(v, c, t) 0
#endif
#define OFFER0(v, c, t) offer0[AT(v, c) * N + (t)]
#define OFFER_FOR(v, c, t) offer_for[AT(v, c) * N + (t)]
#define RETARGETED(w, i, index) (1 + (w) + 8 * (index) + 64 * (i))
#define FIN(v, w) fin[(v) * INCARNATIONS * N + (w)]
#define FIN_EPOCH(f) ((f) & 15)
#define FIN_VIEW(f) ((f) >> 4)
#define ACK 1
#define REFUSAL 2
#define ANSWERED(v, c, answer) ((answers[AT(v, c)] & (answer)) != 0)

/* The control log as the views that follow from it: view i of host x is in element i * N + x. */
byte view;                                  /* index of the last entry */
byte standing[ENTRIES * N], backups[ENTRIES * N * COPIES], assigned[N * COPIES];
byte insync[N];                             /* bit k: the backup in slot k has everything */
byte reserve[N];                            /* of an evicted host: its other backup that had everything */
bit merged[N];                              /* by its successor */
#define BACKUP_AT(i, x, k) backups[((i) * N + (x)) * COPIES + (k)]
#define FRESH 8                             /* it is given by this entry */
#define MEMBER 0
#define EVICTED 1
#define TAKEN_OVER 2
#define LEFT 3
#define BACK_TAKEN_OVER 4                      /* incarnation 1 is a member; 0 was taken over */
#define BACK_LEFT 5
#define IN_VIEW(i, x) (standing[(i) * N + (x)] & 7)
#define SUCCESSOR_IN(i, x) ((standing[(i) * N + (x)] >> 3) & 3)
#define SUCCESSOR_INCARNATION_IN(i, x) ((standing[(i) * N + (x)] >> 5) & 1)
#define STANDING(s, successor, i) ((s) + 8 * (successor) + 32 * (i))
#define TAKES_PART(s) ((s) == MEMBER || (s) >= BACK_TAKEN_OVER)
#define WAS_TAKEN_OVER(s) ((s) == TAKEN_OVER || (s) == BACK_TAKEN_OVER || (M == 17 && (s) == EVICTED))
#define HAS_LEFT(s) ((s) == LEFT || (s) == BACK_LEFT)

#define NOBODY N                            /* as backup; as speaker: who was to answer has left */
#define NOT_YET (N + 1)                     /* as speaker: only the host itself could answer */

/* Parameters, and what the properties need to remember. */
byte mutation, start_below, crashes, evictions, refusals, early, rejoins, drains, handoffs, removals;

/* A vertex that its application removes: at first by a record of which the backup may know nothing, so that a successor may yet own
 * the vertex; then the application is told that it is gone. */
byte removed[NV], remover[NV];
#define IS_THERE 0
#define IS_REMOVED 1
#define IS_GONE 2
#define M mutation
byte highest[NV], used_by[NV];                /* the highest token, and whose it is */

hidden byte made, i0, i1, i2, r0, c0, d0;   /* within one step */
hidden byte one_executor, held, executed, finished, token_grows, token_unique, transition_allowed, rank_grows;

/* ---- what a host knows ----------------------------------------------------------------------------------- */

#define STANDS(h, x) IN_VIEW(known[h], x)
#define GONE(h, w) (INCARNATION(w) == 0 && STANDS(h, HOST(w)) != MEMBER)
#define SUCCESSOR(h, x) SUCCESSOR_IN(known[h], x)
#define BACKUP(h, k) (BACKUP_AT(known[h], h, k) & 7)
#define HAS_NO_BACKUP(h, k) (BACKUP(h, k) == NOBODY)
#define ALONE(h) EVERY_SLOT(HAS_NO_BACKUP, h)
#define ALIVE(h) (up[h] == UP && (incarnation[h] == 0 -> STANDS(h, h) == MEMBER : STANDS(h, h) >= BACK_TAKEN_OVER))

/* Who answers for incarnation 0 of x, which is gone: its successor, or the successor's if that is gone too. */
#define SPEAKER(h, x) \
    (HAS_LEFT(STANDS(h, x)) -> NOBODY : (!WAS_TAKEN_OVER(STANDS(h, x)) -> NOT_YET : \
    (M == 15 || SUCCESSOR_INCARNATION_IN(known[h], x) == 1 || STANDS(h, SUCCESSOR(h, x)) == MEMBER -> SUCCESSOR(h, x) : \
    (HAS_LEFT(STANDS(h, SUCCESSOR(h, x))) -> NOBODY : (!WAS_TAKEN_OVER(STANDS(h, SUCCESSOR(h, x))) -> NOT_YET : \
    SUCCESSOR(h, SUCCESSOR(h, x)))))))
#define ANSWERS(h, w) (GONE(h, w) -> SPEAKER(h, HOST(w)) : HOST(w))

#define INHERITS(h, x) ((STANDS(h, x) == EVICTED || STANDS(h, x) == TAKEN_OVER || STANDS(h, x) == BACK_TAKEN_OVER) && \
    SUCCESSOR(h, x) == h && SUCCESSOR_INCARNATION_IN(known[h], x) == incarnation[h] && !merged[x])
#define ALL_MERGED(h) (!ANY_HOST(INHERITS, h))

/* A record counts when every backup has it. */
#define COUNTS(h, v) (A(h, v) == EVERY || (M == 37 && A(h, v) != 0))
#define FORGOTTEN(h, v, k) (BACKUP(h, k) == NOBODY || KEPT(SELF(h), BACKUP(h, k), v) == NONE)
#define IS_ACKED(h, v) (R(h, v) == NONE -> EVERY_SLOT_OF(FORGOTTEN, h, v) : COUNTS(h, v))
#define IS_ACKED_AT(h, v, k) (R(h, v) == NONE -> FORGOTTEN(h, v, k) : BIT(A(h, v), k))
#define ALL_ACKED_AT(h, k) (IS_ACKED_AT(h, 0, k) && IS_ACKED_AT(h, NV - 1, k))
#define REPLICATED(h, v, k) (M == 5 || BACKUP(h, k) == NOBODY || KEPT(SELF(h), BACKUP(h, k), v) == R(h, v))

/* A lease that x may have from h, its successor, and that is not over for certain. */
#define GRANTED(h, x) (M != 1 && lease[x] && BIT(grantors[x], h) && incarnation[x] == 0)

/* Whoever has yet to take over a host is not in sync, unless another backup of that host could do it as well. */
#define SUCCESSOR_TO_BE(h, x) (IN_VIEW(view, x) == EVICTED && SUCCESSOR_IN(view, x) == h)
#define SUCCESSOR_TO_ANY(h) ANY_HOST(SUCCESSOR_TO_BE, h)
#define NEEDED_BY(h, x) (SUCCESSOR_TO_BE(h, x) && reserve[x] == NOBODY)
#define IS_RESERVE(h, x) (IN_VIEW(view, x) == EVICTED && reserve[x] == h)

/* A backup that has all that h answers for: its copy, and there is nobody whom h alone has yet to take over. */
#define IN_SYNC_AT(h, k) (BIT(insync[h], k) && (M == 14 || !ANY_HOST(NEEDED_BY, h)))
#define IN_SYNC(h) ANY_SLOT(IN_SYNC_AT, h)

/* ---- properties ------------------------------------------------------------------------------------------ */

#define SAVED(x, b, v) HOLDS(KEPT(WHO(x, 0), b, v))
#define SAVED_BY(x, b, v) ((b) != NOBODY && !lost[b] && SAVED(x, b, v))
#define SAVED_AT(x, v, k) (IN_SYNC_AT(x, k) && SAVED_BY(x, BACKUP_IN(x, k), v))
#define HELD(x, v) \
    ((TAKES_PART(IN_VIEW(view, x)) && !lost[x] && INCARNATION_MATCHES(x) && HOLDS(R(x, v))) || \
     (IN_VIEW(view, x) == MEMBER && lost[x] && (SAVED_AT(x, v, 0) || SAVED_AT(x, v, COPIES - 1))) || \
     (IN_VIEW(view, x) == EVICTED && ((!lost[x] && HOLDS(R(x, v))) || SAVED_BY(x, SUCCESSOR_IN(view, x), v) || \
        SAVED_BY(x, reserve[x], v))) || \
     (WAS_TAKEN_OVER(IN_VIEW(view, x)) && !merged[x] && SAVED(x, SUCCESSOR_IN(view, x), v)))
#define INCARNATION_MATCHES(x) (incarnation[x] == (IN_VIEW(view, x) >= BACK_TAKEN_OVER))
#define BACKUP_IN(x, k) (BACKUP_AT(view, x, k) & 7)
#define IS_RUNNING(v, h) (X(h, v) != 0)
#define IS_HELD(v, h) HELD(h, v)

/* In every state. I1: at most one executor. I3: a live holder, or a replica that can be taken over. */
inline check()
{
    i0 = 0;
    do
    :: i0 < NV ->
        one_executor = COUNT_HOSTS(IS_RUNNING, i0) <= 1;
        assert(one_executor);
        held = COUNT_HOSTS(IS_HELD, i0) != 0;
        held = (removed[i0] == IS_THERE -> held : removed[i0] == IS_REMOVED || !held);
        assert(held);
        i0++
    :: else -> break
    od;
    i0 = 0 /* a step may not end in a loop */
}

/* L1: when nothing can happen any more, every vertex is executed, and no handoff is unfinished. */
inline check_rest()
{
    i0 = 0;
    do
    :: i0 < NV ->
        executed = ANY_HOST(IS_RUNNING, i0) || removed[i0] != IS_THERE;
        assert(executed);
        i1 = 0;
        do
        :: i1 < N ->
            finished = !ALIVE(i1) || (!IS_OUT(R(i1, i0)) && D(i1, i0) == 0);
            assert(finished);
            i1++
        :: else -> break
        od;
        i0++
    :: else -> break
    od;
    i0 = 0
}

/* ---- the control log --------------------------------------------------------------------------------------- */

inline new_entry()
{
    assert(view < ENTRIES - 1);
    i0 = 0;
    do
    :: i0 < N ->
        standing[(view + 1) * N + i0] = standing[view * N + i0];
        BACKUP_AT(view + 1, i0, 0) = BACKUP_IN(i0, 0);
        BACKUP_AT(view + 1, i0, COPIES - 1) = BACKUP_IN(i0, COPIES - 1);
        i0++
    :: else -> break
    od;
    view++
}

#define FIT(x) TAKES_PART(IN_VIEW(view, x))
#define NEXT(o) (((o) + 1) % N)
#define NEXT_BUT_ONE(o) (((o) + 2) % N)

#define NEXT_BUT_TWO(o) (((o) + N - 1) % N) /* of three hosts: the one that is NEXT_BUT_ONE */
#define OTHER_SLOT(k) (COPIES - 1 - (k))
#define MAY_BACK(o, k, b) (FIT(b) && (COPIES == 1 || BACKUP_IN(o, OTHER_SLOT(k)) != (b)))

/* A new backup for o in slot k: a new generation of its stream, and nothing of it is there. */
inline give_backup(o, k)
{
    made = (MAY_BACK(o, k, NEXT(o)) -> NEXT(o) : (MAY_BACK(o, k, NEXT_BUT_ONE(o)) -> NEXT_BUT_ONE(o) : \
        (MAY_BACK(o, k, NEXT_BUT_TWO(o)) -> NEXT_BUT_TWO(o) : NOBODY)));
    BACKUP_AT(view, o, k) = made + FRESH;
    assigned[(o) * COPIES + k] = view;
    insync[o] = insync[o] & (EVERY - (1 << k));
    syncing[o] = syncing[o] & (EVERY - (1 << k)); /* INSYNC names the generation */
    if
    :: made != NOBODY ->
        i1 = 0;
        do
        :: i1 < NV -> KEPT(SELF(o), made, i1) = NONE; KEPT_DEBT(SELF(o), made, i1) = 0; i1++
        :: else -> break
        od
    :: else
    fi
}

#if COPIES == 1
#define GIVE_BACKUPS(o) give_backup(o, 0)
#else
#define GIVE_BACKUPS(o) BACKUP_AT(view, o, 1) = NOBODY; give_backup(o, 0); give_backup(o, 1)
#endif

/* New backups for all whose backup is b: b has gone, or (NOBODY) somebody has come. */
inline give_primaries(b)
{
    i2 = 0;
    do
    :: i2 < N ->
        if
        :: FIT(i2) && BACKUP_IN(i2, 0) == b -> give_backup(i2, 0)
        :: else
        fi;
#if COPIES == 2
        if
        :: FIT(i2) && BACKUP_IN(i2, 1) == b -> give_backup(i2, 1)
        :: else
        fi;
#endif
        i2++
    :: else -> break
    od
}

/* Reach: as many hosts are lost for good at a time, and not evicted yet, as there are copies; and what they had is in
 * sync on a host that is not lost. SURVIVES: also without x. */
#define WAITS_FOR(x) (lost[x] && IN_VIEW(view, x) == MEMBER)
#define WAITS_BESIDES(x, y) (x != y && WAITS_FOR(y))
#define LOST_BESIDES(x) COUNT_HOSTS(WAITS_BESIDES, x)
#define IS_THERE_WITHOUT(x, b) ((b) != x && (b) != NOBODY && !lost[b])
#define IS_SAFE_AT(x, y, k) (IN_SYNC_AT(y, k) && IS_THERE_WITHOUT(x, BACKUP_IN(y, k)))
#define IS_SAFE(x, y) \
    (((y != x && !WAITS_FOR(y)) || IS_SAFE_AT(x, y, 0) || IS_SAFE_AT(x, y, COPIES - 1)) && \
     (COPIES == 1 || IN_VIEW(view, y) != EVICTED || IS_THERE_WITHOUT(x, SUCCESSOR_IN(view, y)) || \
        IS_THERE_WITHOUT(x, reserve[y])))
#define SURVIVES(x) EVERY_HOST(IS_SAFE, x)

/* Of slot k of x a backup may take over. */
#define MAY_SUCCEED(x, k) ((BIT(insync[x], k) || M == 39) && BACKUP_IN(x, k) != NOBODY && FIT(BACKUP_IN(x, k)))

/* Whom h was to take over, or could have: the reserve does it now, and there is none any more. */
inline pass_on(h)
{
    i1 = 0;
    do
    :: i1 < N ->
        if
        :: reserve[i1] != NOBODY && SUCCESSOR_IN(view, i1) == h &&
            (IN_VIEW(view, i1) == EVICTED || (M == 40 && IN_VIEW(view, i1) == TAKEN_OVER)) ->
            merged[i1] = 0;
            standing[view * N + i1] = STANDING(EVICTED, reserve[i1], IN_VIEW(view, reserve[i1]) >= BACK_TAKEN_OVER);
            reserve[i1] = NOBODY
        :: else
        fi;
        reserve[i1] = (reserve[i1] == h -> NOBODY : reserve[i1]);
        i1++
    :: else -> break
    od
}

/* The first backup of x that is in sync takes over; the other one, if it is too, keeps its copy until that is done. */
inline evict(x)
{
    evictions > LOST_BESIDES(x) && IN_VIEW(view, x) == MEMBER && IN_SYNC(x) && ANY_SLOT(MAY_SUCCEED, x) && SURVIVES(x) &&
        LOST_BESIDES(x) < COPIES ->
    evictions--;
    new_entry();
    if
    :: MAY_SUCCEED(x, 0) -> made = BACKUP_IN(x, 0); c0 = 1
    :: else -> made = BACKUP_IN(x, COPIES - 1); c0 = 0
    fi;
    reserve[x] = (COPIES == 2 && c0 == 1 && (MAY_SUCCEED(x, COPIES - 1) || (M == 41 && BACKUP_IN(x, COPIES - 1) != NOBODY)) ->
        BACKUP_IN(x, COPIES - 1) : NOBODY);
    standing[view * N + x] = STANDING(EVICTED, made, IN_VIEW(view, made) >= BACK_TAKEN_OVER);
    insync[x] = 0;
    syncing[x] = 0;
    BACKUP_AT(view, x, 0) = NOBODY;
    BACKUP_AT(view, x, COPIES - 1) = NOBODY;
    pass_on(x);
    give_primaries(x);
    printf("evict %d\n", x);
}

/* A host breaks for good. That must be survived if a backup has everything, and it can be evicted. */
inline lose(x)
{
    evictions > LOST_BESIDES(x) && !lost[x] && LOST_BESIDES(x) < COPIES && IN_VIEW(view, x) == MEMBER && IN_SYNC(x) &&
        SURVIVES(x) ->
    lost[x] = 1;
    up[x] = HOST_DOWN;
    stop(x);
    unack(x);
    printf("lose %d\n", x);
}

/* The successor, once no lease it granted can last: from here on the log excludes that x rejoins. Whatever the
 * successor proposed before has landed, since a host appends in order. */
inline propose_take_over(h, x)
{
    h != x && ALIVE(h) && STANDS(h, x) == EVICTED && SUCCESSOR(h, x) == h && !GRANTED(h, x) && IN_VIEW(view, x) == EVICTED &&
        SUCCESSOR_IN(view, x) == h && TAKES_PART(IN_VIEW(view, h)) && !syncing[h] && !leaving[h] ->
    new_entry();
    standing[view * N + x] = STANDING(TAKEN_OVER, SUCCESSOR_IN(view, x), SUCCESSOR_INCARNATION_IN(view, x));
    reserve[x] = (M == 40 -> reserve[x] : NOBODY);
    insync[h] = (M == 14 -> insync[h] : 0);
    printf("propose_take_over %d %d\n", h, x);
}

inline rejoin(x)
{
    rejoins > 0 && up[x] == UP && incarnation[x] == 0 && STANDS(x, x) == EVICTED &&
        (IN_VIEW(view, x) == EVICTED || (M == 18 && IN_VIEW(view, x) == TAKEN_OVER)) ->
    rejoins--;
    new_entry();
    standing[view * N + x] = MEMBER;
    reserve[x] = NOBODY;
    GIVE_BACKUPS(x);
    give_primaries(NOBODY);
    printf("rejoin %d\n", x);
}

/* Of a host that has yet to take over it counts for nothing, and taking over takes it back. */
#define INSYNC_VALID(h) TAKES_PART(IN_VIEW(view, h))

/* The backup has everything. Not before all inheritance is merged, nor while an application may still work
 * under a lease of the backup before. (Without an eviction to come nothing depends on it.) */
inline propose_insync(h, k)
{
    evictions > 0 && ALIVE(h) && !BIT(insync[h], k) && !BIT(syncing[h], k) && BACKUP(h, k) != NOBODY &&
        known[h] >= assigned[(h) * COPIES + k] && (M == 14 || ALL_MERGED(h)) && (M == 11 || ALL_ACKED_AT(h, k)) &&
        (M == 27 || !orphan[h] || BIT(grantors[h], BACKUP(h, k))) ->
#ifdef PROMPT
    insync[h] = (INSYNC_VALID(h) -> insync[h] | (1 << k) : 0);
#else
    syncing[h] = syncing[h] | (1 << k);
#endif
    printf("propose_insync %d %d\n", h, k);
}

inline land_insync(h, k)
{
    BIT(syncing[h], k) ->
    syncing[h] = syncing[h] & (EVERY - (1 << k));
    insync[h] = (INSYNC_VALID(h) -> insync[h] | (1 << k) : 0);
    printf("land_insync %d %d\n", h, k);
}

/* A drained host goes once it owns nothing. Until it knows what the log has decided it takes nothing, whatever
 * happens to it in between. (The code also waits until what it refused is finished. Nothing needs it.) */
inline propose_leave(h)
{
    ALIVE(h) && draining[h] && !leaving[h] && !HOLDS(R(h, 0)) && !HOLDS(R(h, NV - 1)) && ALL_MERGED(h) ->
    leaving[h] = 1;
    printf("propose_leave %d\n", h);
}

#define OTHER(h, x) (x != h && FIT(x) && !lost[x])
inline land_leave(h)
{
    leaving[h] && IN_VIEW(view, h) != LEFT && LOST_BESIDES(h) == 0 ->
    if
    :: IN_VIEW(view, h) == MEMBER && (M == 25 || !SUCCESSOR_TO_ANY(h)) && !ANY_HOST(IS_RESERVE, h) && ANY_HOST(OTHER, h) ->
        new_entry();
        standing[view * N + h] = LEFT;
        BACKUP_AT(view, h, 0) = NOBODY;
        BACKUP_AT(view, h, COPIES - 1) = NOBODY;
        insync[h] = 0;
        syncing[h] = 0;
        give_primaries(h)
    :: else -> leaving[h] = 0
    fi;
    printf("land_leave %d\n", h);
}

/* ---- one host ------------------------------------------------------------------------------------------------ */

inline stop(h)
{
    lease[h] = 0;
    orphan[h] = 0;
    grantors[h] = 0;
    i0 = 0;
    do
    :: i0 < NV -> X(h, i0) = 0; i0++
    :: else -> break
    od
}

inline unack(h)
{
    i0 = 0;
    do
    :: i0 < NV -> A(h, i0) = 0; i0++
    :: else -> break
    od
}

inline unack_slot(h, k)
{
    i0 = 0;
    do
    :: i0 < NV && M != 13 -> A(h, i0) = A(h, i0) & (EVERY - (1 << k)); i0++
    :: else -> break
    od
}

#define IS_FRESH(h, k) (BACKUP_AT(known[h], h, k) >= FRESH)

/* With a new backup the acknowledgements of the one before are void, and the lease; but the page of a life before stays. */
inline learn(h)
{
    up[h] == UP && known[h] < view ->
    known[h]++;
    if
    :: IS_FRESH(h, 0) -> unack_slot(h, 0)
    :: else
    fi;
#if COPIES == 2
    if
    :: IS_FRESH(h, 1) -> unack_slot(h, 1)
    :: else
    fi;
#endif
    if
    :: ANY_SLOT(IS_FRESH, h) && M != 12 && !orphan[h] -> stop(h)
    :: else
    fi;
    printf("learn %d\n", h);
}

#define KNOWS_GONE(b, h) (M != 4 && GONE(b, WHO(h, incarnation[h])))

#ifdef IDLE
#define WANTS_LEASE(h) 1
#else
#define WANTS_LEASE(h) (IS_OWN(R(h, 0)) || IS_OWN(R(h, NV - 1)))
#endif

/* Every backup grants it; who has none needs none. The mutation takes the first one that does for all. */
#define GRANTS(h, k) \
    (BACKUP(h, k) == NOBODY || (ALIVE(BACKUP(h, k)) && !GONE(BACKUP(h, k), WHO(h, incarnation[h]))))
#define GRANT_OF(h, k) (BACKUP(h, k) == NOBODY -> 0 : 1 << BACKUP(h, k))
#define GRANTS_ALL(h) (ALONE(h) -> 1 << (h) : (GRANT_OF(h, 0) | GRANT_OF(h, COPIES - 1)))
#define GRANTS_ONE(h) (GRANTS(h, 0) -> GRANT_OF(h, 0) : GRANT_OF(h, COPIES - 1))

inline renew(h)
{
    ALIVE(h) && !lease[h] && WANTS_LEASE(h) && (EVERY_SLOT(GRANTS, h) || (M == 38 && ANY_SLOT(GRANTS, h))) ->
    lease[h] = 1;
    grantors[h] = (M == 38 && !ALONE(h) -> GRANTS_ONE(h) : GRANTS_ALL(h));
    printf("renew %d\n", h);
}

#define GRANTS_NO_MORE(h, b) (BIT(grantors[h], b) && (!ALIVE(b) || GONE(b, WHO(h, incarnation[h]))))

inline expire(h)
{
    lease[h] && (!ALIVE(h) || orphan[h] || ANY_HOST(GRANTS_NO_MORE, h)) ->
    stop(h);
    printf("expire %d\n", h);
}

inline expire_early(h)
{
    early > 0 && lease[h] ->
    early--;
    stop(h);
    printf("expire_early %d\n", h);
}

/* An application that outlived its daemon is attached again, under the same backup. */
inline attach(h)
{
    ALIVE(h) && orphan[h] && !ALONE(h) && grantors[h] == GRANTS_ALL(h) && EVERY_SLOT(GRANTS, h) ->
    orphan[h] = 0;
    printf("attach %d\n", h);
}

inline crash(h)
{
    crashes > 0 && up[h] == UP ->
    crashes--;
    up[h] = DAEMON_DOWN;
    orphan[h] = lease[h];
    unack(h);
    printf("crash %d\n", h);
}

inline crash_host(h)
{
    crashes > 0 && up[h] == UP ->
    crashes--;
    up[h] = HOST_DOWN;
    stop(h);
    unack(h);
    printf("crash_host %d\n", h);
}

inline restart(h)
{
    up[h] != UP && !lost[h] ->
    up[h] = UP;
    printf("restart %d\n", h);
}

inline drain(h)
{
    drains > 0 && ALIVE(h) && incarnation[h] == 0 && !draining[h] ->
    drains--;
    draining[h] = 1;
    printf("drain %d\n", h);
}

#ifdef REJOIN
/* What the incarnation had is archived, and what it kept for others. */
inline reset(h)
{
    up[h] == UP && incarnation[h] == 0 && (STANDS(h, h) == TAKEN_OVER || STANDS(h, h) == LEFT) ->
    incarnation[h] = 1;
    draining[h] = 0;
    leaving[h] = 0;
    syncing[h] = 0;
    unack(h);
    i0 = 0;
    do
    :: i0 < NV ->
        R(h, i0) = NONE;
        D(h, i0) = 0;
        i1 = 0;
        do
        :: i1 < INCARNATIONS * N -> KEPT(i1, h, i0) = NONE; KEPT_DEBT(i1, h, i0) = 0; i1++
        :: else -> break
        od;
        i0++
    :: else -> break
    od;
    printf("reset %d\n", h);
}

inline join(h)
{
    up[h] == UP && incarnation[h] == 1 && (IN_VIEW(view, h) == TAKEN_OVER || IN_VIEW(view, h) == LEFT) ->
    new_entry();
    standing[view * N + h] =
        STANDING(IN_VIEW(view, h) + BACK_TAKEN_OVER - TAKEN_OVER, SUCCESSOR_IN(view, h), SUCCESSOR_INCARNATION_IN(view, h));
    GIVE_BACKUPS(h);
    give_primaries(NOBODY);
    printf("join %d\n", h);
}
#endif

/* The successor takes over what the evicted host had, in one transaction. */
inline merge(h, x)
{
    h != x && ALIVE(h) && INHERITS(h, x) && (STANDS(h, x) != EVICTED || M == 29) && !GRANTED(h, x) ->
    merged[x] = 1;
    i0 = 0;
    do
    :: i0 < NV ->
        r0 = KEPT(WHO(x, 0), h, i0);
        d0 = KEPT_DEBT(WHO(x, 0), h, i0);
        c0 = R(h, i0);
        if
        :: M != 10 && IS_OUT(r0) && TARGET(r0) == WHO(h, incarnation[h]) && IS_REF(c0) && EPOCH(c0) == EPOCH(r0) + 1 ->
            T_TAKE_OVER_REFUSED_HERE(h, i0, EPOCH(r0));
            D(h, i0) = d0
        :: else ->
            if
            :: r0 <= c0
            :: r0 > c0 && IS_OWN(r0) ->
                T_TAKE_OVER_OWN(h, i0, EPOCH(r0) - (M == 8));
                removed[i0] = (removed[i0] == IS_GONE -> IS_GONE : IS_THERE);
                D(h, i0) = d0
            :: r0 > c0 && IS_OUT(r0) && TARGET(r0) == WHO(h, incarnation[h]) ->
                T_TAKE_OVER_MINE(h, i0, EPOCH(r0));
                D(h, i0) = d0
            :: r0 > c0 && IS_OUT(r0) && TARGET(r0) != WHO(h, incarnation[h]) ->
                T_TAKE_OVER_OUT(h, i0, EPOCH(r0), TARGET(r0));
                D(h, i0) = d0
            :: r0 > c0 && IS_REF(r0) ->
                if
                :: M != 9 && IS_OUT(c0) && TARGET(c0) == WHO(x, 0) && EPOCH(c0) + 1 == EPOCH(r0) ->
                    T_TAKE_OVER_REFUSED_THERE(h, i0)
                :: else ->
                    T_TAKE_OVER_REF(h, i0, EPOCH(r0));
                    D(h, i0) = d0
                fi
            :: r0 > c0 && IS_MOV(r0) ->
                T_TAKE_OVER_MOV(h, i0, EPOCH(r0));
                D(h, i0) = d0
            fi
        fi;
        KEPT(WHO(x, 0), h, i0) = NONE;
        KEPT_DEBT(WHO(x, 0), h, i0) = 0;
        i0++
    :: else -> break
    od;
    printf("merge %d %d\n", h, x);
}

/* ---- one vertex ---------------------------------------------------------------------------------------------- */

/* I2: tokens of a vertex never decrease, and no two hosts use the same. */
inline acquire(h, v)
{
    ALIVE(h) && IS_OWN(R(h, v)) && COUNTS(h, v) && lease[h] && !orphan[h] && X(h, v) == 0 ->
    X(h, v) = EPOCH(R(h, v));
    token_grows = X(h, v) >= highest[v];
    assert(token_grows);
    token_unique = X(h, v) != highest[v] || used_by[v] == WHO(h, incarnation[h]);
    assert(token_unique);
    used_by[v] = WHO(h, incarnation[h]);
    highest[v] = X(h, v);
    printf("acquire %d %d\n", h, v);
}

inline replicate(h, v, k)
{
    ALIVE(h) && BACKUP(h, k) != NOBODY && KEPT(SELF(h), BACKUP(h, k), v) != R(h, v) && ALIVE(BACKUP(h, k)) &&
        !KNOWS_GONE(BACKUP(h, k), h) ->
    KEPT(SELF(h), BACKUP(h, k), v) = R(h, v);
    KEPT_DEBT(SELF(h), BACKUP(h, k), v) = D(h, v);
    printf("replicate %d %d %d\n", h, v, k);
}

inline hear_replicated(h, v, k)
{
    ALIVE(h) && !BIT(A(h, v), k) && R(h, v) != NONE && REPLICATED(h, v, k) ->
    A(h, v) = A(h, v) | (1 << k);
    printf("hear_replicated %d %d %d\n", h, v, k);
}

/* A handoff begins once nobody works on the vertex here, and the one that brought it is finished: so there is
 * never more than one that is not. */
inline release(h, v, t)
{
    handoffs > 0 && h != t && ALIVE(h) && IS_OWN(R(h, v)) && COUNTS(h, v) && EPOCH(R(h, v)) < start_below && TAKES_PART(STANDS(h, t)) &&
        (!orphan[h] || X(h, v) == 0) && (D(h, v) == 0 || M == 19) ->
    handoffs = (handoffs == 255 -> 255 : handoffs - 1);
    X(h, v) = (M == 6 -> X(h, v) : 0);
    T_RELEASE(h, v, WHO(t, STANDS(h, t) >= BACK_TAKEN_OVER));
    A(h, v) = (M == 7 -> EVERY : 0);
    printf("release %d %d %d\n", h, v, t);
}

#define ME_PLUS_1(h) (1 + WHO(h, incarnation[h]))

inline offer_to_first(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && COUNTS(h, v) && INCARNATION(TARGET(R(h, v))) == 0 && !GONE(h, TARGET(R(h, v))) &&
        OFFER0(v, EPOCH(R(h, v)) + 1, HOST(TARGET(R(h, v)))) != ME_PLUS_1(h) ->
    OFFER0(v, EPOCH(R(h, v)) + 1, HOST(TARGET(R(h, v)))) = ME_PLUS_1(h);
    printf("offer_to_first %d %d\n", h, v);
}

#ifdef REJOIN
inline offer_to_second(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && COUNTS(h, v) && INCARNATION(TARGET(R(h, v))) == 1 &&
        OFFER1(v, EPOCH(R(h, v)) + 1, HOST(TARGET(R(h, v)))) != ME_PLUS_1(h) ->
    OFFER1(v, EPOCH(R(h, v)) + 1, HOST(TARGET(R(h, v)))) = ME_PLUS_1(h);
    printf("offer_to_second %d %d\n", h, v);
}
#endif

#define TURNS_TO(h, v) (GONE(h, TARGET(R(h, v))) -> SPEAKER(h, HOST(TARGET(R(h, v)))) : NOT_YET)

inline offer_to_successor(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && COUNTS(h, v) && TURNS_TO(h, v) < N && TURNS_TO(h, v) != h &&
        (OFFER_FOR(v, EPOCH(R(h, v)) + 1, TURNS_TO(h, v)) & 7) != ME_PLUS_1(h) ->
    OFFER_FOR(v, EPOCH(R(h, v)) + 1, TURNS_TO(h, v)) =
        RETARGETED(WHO(h, incarnation[h]), STANDS(h, TURNS_TO(h, v)) >= BACK_TAKEN_OVER, known[h]);
    printf("offer_to_successor %d %d\n", h, v);
}

inline inherit(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && TURNS_TO(h, v) == h && ALL_MERGED(h) ->
    T_INHERIT(h, v);
    printf("inherit %d %d\n", h, v);
}

inline take_back(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && TURNS_TO(h, v) == NOBODY ->
    T_TAKE_BACK(h, v);
    printf("take_back %d %d\n", h, v);
}

inline hear_ack(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && ANSWERED(v, EPOCH(R(h, v)) + 1, ACK) ->
    T_MOVE(h, v);
    printf("hear_ack %d %d\n", h, v);
}

inline hear_refusal(h, v)
{
    ALIVE(h) && IS_OUT(R(h, v)) && ANSWERED(v, EPOCH(R(h, v)) + 1, REFUSAL) ->
    T_RETURN(h, v);
    printf("hear_refusal %d %d\n", h, v);
}

/* Offers of epoch c that h may read: for this incarnation, of a sender that is not known to be gone. */
#define READS(h, message) (message != 0 && (M == 30 || !GONE(h, (message & 7) - 1)))
#define OFFERED_PLAIN(h, v, c) \
    (incarnation[h] == 0 || M == 16 -> READS(h, OFFER0(v, c, h)) : READS(h, OFFER1(v, c, h)))
#define PLAIN_SENDER(h, v, c) ((incarnation[h] == 0 || M == 16 -> OFFER0(v, c, h) : OFFER1(v, c, h)) - 1)
#define OFFERED_AS_SUCCESSOR(h, v, c) \
    (READS(h, OFFER_FOR(v, c, h)) && (OFFER_FOR(v, c, h) >> 6) == incarnation[h] && \
    (M == 34 || ((OFFER_FOR(v, c, h) >> 3) & 7) <= known[h]) && (M == 2 || ALL_MERGED(h)))
/* A refusal that is unfinished is not overwritten: its source may still repeat the offer. */
#define READY_FOR(h, v, c) (ALIVE(h) && EPOCH(R(h, v)) < c && (!IS_REF(R(h, v)) || D(h, v) == 0 || M == 31))
#define SUCCESSOR_SENDER(h, v, c) ((OFFER_FOR(v, c, h) & 7) - 1)

inline accept(h, v, c)
{
    READY_FOR(h, v, c) && OFFERED_PLAIN(h, v, c) && !draining[h] ->
    T_ACCEPT(h, v, c);
    D(h, v) = DEBT(c, PLAIN_SENDER(h, v, c));
    printf("accept %d %d %d\n", h, v, c);
}

inline accept_as_successor(h, v, c)
{
    READY_FOR(h, v, c) && OFFERED_AS_SUCCESSOR(h, v, c) && (!leaving[h] || M == 26) ->
    T_ACCEPT(h, v, c);
    D(h, v) = DEBT(c, SUCCESSOR_SENDER(h, v, c));
    printf("accept_as_successor %d %d %d\n", h, v, c);
}

inline refuse(h, v, c)
{
    READY_FOR(h, v, c) && OFFERED_PLAIN(h, v, c) && (draining[h] || refusals > 0) ->
    refusals = (draining[h] -> refusals : refusals - 1);
    T_REFUSE(h, v, c);
    D(h, v) = DEBT(c, PLAIN_SENDER(h, v, c));
    printf("refuse %d %d %d\n", h, v, c);
}

/* From the record, once the backup has it. */
inline answer(h, v, c)
{
    ALIVE(h) && EPOCH(R(h, v)) >= c && (OFFERED_PLAIN(h, v, c) || OFFERED_AS_SUCCESSOR(h, v, c)) && (M == 3 || COUNTS(h, v)) &&
        answers[AT(v, c)] == 0 ->
    answers[AT(v, c)] = (R(h, v) == MAKE_REF(c, 0) -> REFUSAL : ACK);
    printf("answer %d %d %d\n", h, v, c);
}

#define ANSWER_OF(r) (IS_REF(r) -> REFUSAL : ACK)
/* Without FIN the answer is repeated, with the epoch of the record as it is now. */
inline answer_again(h, v)
{
    ALIVE(h) && D(h, v) != 0 && COUNTS(h, v) && !ANSWERED(v, EPOCH(R(h, v)), ANSWER_OF(R(h, v))) ->
    answers[AT(v, EPOCH(R(h, v)))] = answers[AT(v, EPOCH(R(h, v)))] | ANSWER_OF(R(h, v));
    printf("answer_again %d %d\n", h, v);
}

/* ---- the end of a handoff -------------------------------------------------------------------------------------- */

/* h will never again offer an epoch up to c, and neither will its successor. */
#define FINISHED(h, v, c) \
    ((M == 33 || ALL_MERGED(h)) && (M == 20 || IS_ACKED(h, v)) && (R(h, v) == NONE || IS_REF(R(h, v)) || \
    IS_MOV(R(h, v)) || EPOCH(R(h, v)) >= c))

/* ASSUMED of the network: a connection is ordered, and an old one is not read any more once a newer one has
 * delivered. So what w offered to h before it said FIN is not delivered after it. */
inline after_fin(h, v, w, c)
{
    i0 = 2;
    do
    :: i0 <= c && M != 23 ->
        OFFER0(v, i0, h) = (OFFER0(v, i0, h) == 1 + w -> 0 : OFFER0(v, i0, h));
        OFFER_FOR(v, i0, h) = ((OFFER_FOR(v, i0, h) & 7) == 1 + w -> 0 : OFFER_FOR(v, i0, h));
#ifdef REJOIN
        OFFER1(v, i0, h) = (OFFER1(v, i0, h) == 1 + w -> 0 : OFFER1(v, i0, h));
#endif
        i0++
    :: else -> break
    od;
    D(h, v) = 0
}

#ifndef PROMPT
inline say_fin(h, v, t)
{
    h != t && ALIVE(h) && ALIVE(t) && D(t, v) != 0 && ANSWERS(t, DEBTOR(D(t, v))) == h &&
        FIN_EPOCH(FIN(v, WHO(h, incarnation[h]))) < EPOCH(R(t, v)) && FINISHED(h, v, EPOCH(R(t, v))) ->
    FIN(v, WHO(h, incarnation[h])) = EPOCH(R(t, v)) + 16 * known[h];
    printf("say_fin %d %d %d\n", h, v, t);
}

/* The incarnation of whoever answers now for the debtor of d. */
#define SPEAKS_AS(h, d) \
    (GONE(h, DEBTOR(d)) -> WHO(SPEAKER(h, HOST(DEBTOR(d))), incarnation[SPEAKER(h, HOST(DEBTOR(d)))]) : DEBTOR(d))

inline hear_fin(h, v)
{
    ALIVE(h) && D(h, v) != 0 && ANSWERS(h, DEBTOR(D(h, v))) < N && ANSWERS(h, DEBTOR(D(h, v))) != h &&
        FIN(v, SPEAKS_AS(h, D(h, v))) != 0 && (M == 32 || FIN_VIEW(FIN(v, SPEAKS_AS(h, D(h, v)))) <= known[h]) &&
        (M == 21 || FIN_EPOCH(FIN(v, SPEAKS_AS(h, D(h, v)))) >= OFFERED(D(h, v))) ->
    made = SPEAKS_AS(h, D(h, v));
    c0 = FIN_EPOCH(FIN(v, made));
    after_fin(h, v, made, c0);
    printf("hear_fin %d %d\n", h, v);
}

#else
inline say_fin(h, v, t)
{
    h != t && ALIVE(h) && ALIVE(t) && D(t, v) != 0 && ANSWERS(t, DEBTOR(D(t, v))) == h && known[h] <= known[t] &&
        FINISHED(h, v, EPOCH(R(t, v))) ->
    c0 = EPOCH(R(t, v));
    made = WHO(h, incarnation[h]);
    after_fin(t, v, made, c0);
    printf("say_fin %d %d %d\n", h, v, t);
}
#endif

/* The debtor has left, or this host has inherited its offer and, by its own record, settled it. */
inline forget_debt(h, v)
{
    ALIVE(h) && D(h, v) != 0 && (ANSWERS(h, DEBTOR(D(h, v))) == NOBODY ||
        (ANSWERS(h, DEBTOR(D(h, v))) == h && ALL_MERGED(h))) ->
    D(h, v) = 0;
    printf("forget_debt %d %d\n", h, v);
}

/* The application removes a vertex that it works on; whoever offered it before will not do so again. */
inline remove(h, v)
{
    removals > 0 && removed[v] == IS_THERE && ALIVE(h) && IS_OWN(R(h, v)) && COUNTS(h, v) && X(h, v) == EPOCH(R(h, v)) &&
        !orphan[h] && (D(h, v) == 0 || M == 35) ->
    removals--;
    X(h, v) = 0;
    removed[v] = IS_REMOVED;
    remover[v] = WHO(h, incarnation[h]);
    T_REMOVE(h, v);
    printf("remove %d %d\n", h, v);
}

inline tell_removed(h, v)
{
    removed[v] == IS_REMOVED && remover[v] == WHO(h, incarnation[h]) && ALIVE(h) && IS_MOV(R(h, v)) &&
        (COUNTS(h, v) || M == 36) ->
    removed[v] = IS_GONE;
    printf("tell_removed %d %d\n", h, v);
}

/* A finished record goes. */
inline collect(h, v)
{
    ALIVE(h) && (IS_MOV(R(h, v)) || IS_REF(R(h, v))) && COUNTS(h, v) && (D(h, v) == 0 || M == 22) ->
    removed[v] = (removed[v] == IS_REMOVED && remover[v] == WHO(h, incarnation[h]) -> IS_GONE : removed[v]);
    D(h, v) = 0;
    T_COLLECT(h, v);
    printf("collect %d %d\n", h, v);
}

/* ---- processes ------------------------------------------------------------------------------------------------- */

#ifdef PROMPT
#define HEAR_FIN(h, v)
#define LAND_INSYNC(h, k)
#else
#define HEAR_FIN(h, v) :: d_step { hear_fin(h, v) }
#define LAND_INSYNC(h, k) :: d_step { land_insync(h, k) }
#endif

#define OF_EPOCH(h, v, c) \
    :: d_step { accept(h, v, c) } \
    :: d_step { accept_as_successor(h, v, c) } \
    :: d_step { refuse(h, v, c) } \
    :: d_step { answer(h, v, c) }

#define OF_COPY(h, v, k) \
    :: d_step { replicate(h, v, k) } \
    :: d_step { hear_replicated(h, v, k) }

#if COPIES == 2
#define OF_SECOND_COPY(h, v) OF_COPY(h, v, 1)
#else
#define OF_SECOND_COPY(h, v)
#endif

#if N == 3
#define OF_EACH_HOST(action, h, v) \
    :: d_step { action(h, v, 0) } \
    :: d_step { action(h, v, 1) } \
    :: d_step { action(h, v, 2) }
#else
#define OF_EACH_HOST(action, h, v) \
    :: d_step { action(h, v, 0) } \
    :: d_step { action(h, v, 1) } \
    :: d_step { action(h, v, 2) } \
    :: d_step { action(h, v, 3) }
#endif

#define OF_VERTEX(h, v) \
    :: d_step { acquire(h, v) } \
    OF_COPY(h, v, 0) \
    OF_SECOND_COPY(h, v) \
    OF_EACH_HOST(release, h, v) \
    :: d_step { offer_to_first(h, v) } \
    :: d_step { offer_to_successor(h, v) } \
    :: d_step { inherit(h, v) } \
    :: d_step { take_back(h, v) } \
    :: d_step { hear_ack(h, v) } \
    :: d_step { hear_refusal(h, v) } \
    :: d_step { answer_again(h, v) } \
    OF_EACH_HOST(say_fin, h, v) \
    HEAR_FIN(h, v) \
    :: d_step { forget_debt(h, v) } \
    :: d_step { remove(h, v) } \
    :: d_step { tell_removed(h, v) } \
    :: d_step { collect(h, v) } \
    OF_EPOCH(h, v, 2) OF_EPOCH(h, v, 3) OF_EPOCH(h, v, 4) OF_EPOCH(h, v, 5) OF_EPOCH(h, v, 6) OF_EPOCH(h, v, 7) OF_EPOCH(h, v, 8)

proctype Host(byte h)
{
end:
    do
    :: d_step { learn(h) }
    :: d_step { renew(h) }
    :: d_step { expire(h) }
    :: d_step { expire_early(h) }
    :: d_step { attach(h) }
    :: d_step { crash(h) }
    :: d_step { crash_host(h) }
    :: d_step { restart(h) }
    :: d_step { drain(h) }
    :: d_step { propose_insync(h, 0) }
    LAND_INSYNC(h, 0)
#if COPIES == 2
    :: d_step { propose_insync(h, 1) }
    LAND_INSYNC(h, 1)
#endif
    :: d_step { propose_leave(h) }
    :: d_step { land_leave(h) }
    :: d_step { rejoin(h) }
    :: d_step { propose_take_over(h, 0) }
    :: d_step { propose_take_over(h, 1) }
    :: d_step { propose_take_over(h, 2) }
    :: d_step { merge(h, 0) }
    :: d_step { merge(h, 1) }
    :: d_step { merge(h, 2) }
#if N > 3
    :: d_step { propose_take_over(h, 3) }
    :: d_step { merge(h, 3) }
#endif
    OF_VERTEX(h, 0)
#if NV > 1
    OF_VERTEX(h, 1)
#endif
#ifdef REJOIN
    :: d_step { reset(h) }
    :: d_step { join(h) }
    :: d_step { offer_to_second(h, 0) }
#if NV > 1
    :: d_step { offer_to_second(h, 1) }
#endif
#endif
    od
}

proctype Environment()
{
end:
    do
    :: d_step { evict(0) }
    :: d_step { evict(1) }
    :: d_step { evict(2) }
    :: d_step { lose(0) }
    :: d_step { lose(1) }
    :: d_step { lose(2) }
#if N > 3
    :: d_step { evict(3) }
    :: d_step { lose(3) }
#endif
    :: timeout -> d_step { check_rest() }; break
    od
}

c_decl {
\#include <stdlib.h>
static int parameter(const char *name) { const char *value = getenv(name); return value != NULL ? atoi(value) : 0; }
}

init
{
    d_step {
        c_code {
            now.mutation = parameter("M");
            now.start_below = parameter("ME");
            now.crashes = parameter("CR");
            now.evictions = parameter("EV");
            now.refusals = parameter("RF");
            now.early = parameter("LX");
            now.rejoins = parameter("RC");
            now.drains = parameter("DR");
            now.removals = parameter("RM");
            now.handoffs = getenv("HO") != NULL ? parameter("HO") : 255;
        };
        i0 = 0;
        do
        :: i0 < N ->
            BACKUP_AT(0, i0, 0) = NEXT(i0);
            BACKUP_AT(0, i0, COPIES - 1) = (COPIES == 1 -> NEXT(i0) : NEXT_BUT_ONE(i0));
            insync[i0] = EVERY;
            reserve[i0] = NOBODY;
            i0++
        :: else -> break
        od;
        i0 = 0;
        do
        :: i0 < NV ->
            T_BEGIN(i0, i0);
            KEPT(WHO(i0, 0), NEXT(i0), i0) = R(i0, i0);
            KEPT(WHO(i0, 0), BACKUP_AT(0, i0, COPIES - 1), i0) = R(i0, i0);
            i0++
        :: else -> break
        od;
        i0 = 0
    }
    atomic { run Environment(); run Host(0); run Host(1); run Host(2) }
#if N > 3
    run Host(3)
#endif
}

/* The properties of states. What a step prints is for a replay (pan -r). */
never {
    do
    :: start_below == 0 /* before the beginning */
    :: d_step { start_below != 0 -> check() }
    od
}
