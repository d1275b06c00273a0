/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mapping without a coordinator: coordinates from sums and waves, levels of clusters, regions, then records
 * (docs/architecture.md, "Diffusion").
 *
 * Owns: what a host remembers of a job's diffusion.  Never: makes a plan, or knows the guest of others. */
#ifndef LBM_NODE_MAPPING_DIFFUSE_H
#define LBM_NODE_MAPPING_DIFFUSE_H

#include <stdint.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "space/space.h"

enum {
    DIFFUSE_ROTATIONS = 6,
    LBM_STAGE_LAP = 32,    /* stages of a lap: the hosts that take part are the same in all of them */
    LBM_STAGE_GATHER = 3,  /* of a lap: the first regions */
    LBM_STAGE_REMAP = 2048 /* of a job that runs: the first time; numbers below are those of laps */
};
_Static_assert(LBM_STAGE_REMAP % LBM_STAGE_LAP == 0, "laps end where the stages of a job that runs begin");

struct lbm_node;
struct job;

/* What one host has added to the sum of a stage. */
struct sums_row {
    uint32_t host, stage;
    uint64_t stamp, hosts; /* hash of the hosts that numbers were of; 0: not known */
    uint32_t n, n_sample;
    double *value;         /* [n], owned */
    double *sample;        /* [n_sample * m], owned */
    uint32_t *sample_work; /* [n_sample], owned */
};

/* Distances of this host's vertices and their neighbours elsewhere to the pivots. */
struct waves {
    uint16_t *hops;          /* [(rows + ghosts) * LBM_PIVOTS] of the patch */
    uint64_t *offset;        /* [ghosts + 1] rows next to each ghost: */
    uint32_t *row;           /* [offset[ghosts]] */
    uint8_t *is_queued;      /* [rows + ghosts] */
    uint8_t *is_news;        /* [rows] neighbours' hosts have yet to hear */
    LBM_VEC(uint32_t) queue; /* rows and ghosts from which distances are carried on, from `head` on */
    size_t head;
    uint32_t n, n_ghosts; /* of the patch that this was made for, */
    uint64_t version;     /* and how often that was built; void while hops is NULL */
    int64_t changed_us;   /* when a distance last fell */
    int has_news;
};

/* The patch and what it was coarsened to, inside this host. */
struct diffuse_levels {
    uint32_t n;              /* levels above the patch */
    struct lbm_graph *graph; /* [n] rows: clusters; targets behind them are the patch's ghosts */
    uint32_t **parent;       /* [n] cluster of each row of the level below */
    double **x;              /* [n][(rows + ghosts) * m] */
    uint32_t **pin;          /* [n] of clusters; NULL in it: none of that level has one */
    uint64_t version;        /* shard.built */
    uint32_t level;          /* sweeps go on there: n is the coarsest, 0 the patch */
    uint32_t sweeps;         /* left on it */
};

/* A host that has told this one what work is to go to it. */
struct label_asker {
    uint32_t host;
    double work;
};

/* Labels: the hosts, by number, that clusters are to go to, annealed level by level. */
struct labels {
    uint32_t *label;  /* [rows of the level + ghosts] */
    uint32_t *first;  /* [rows of the patch + ghosts] what they were to begin with */
    uint32_t *pin;    /* [rows of the patch] host that it must be on, or LBM_NONE */
    uint32_t n_hosts; /* that they are numbers of */
    double *own;      /* [n_hosts] work of this host by label, */
    double *before;   /* the same at the last exchange */
    double *heard;    /* [n_hosts * n_hosts] of others, by their number; */
    double *others;   /* [n_hosts] its sum without this host */
    double *holders;  /* [n_hosts] how many hosts have any of a label */
    /* In a large cluster heard is NULL, and others and holders are asked of the host itself: */
    double *limit;                     /* [n_hosts] */
    uint8_t *is_known;                 /* [n_hosts] it has answered */
    uint8_t *is_wanted;                /* [n_hosts] it is to be asked */
    double *asked;                     /* [n_hosts] work it has been told of */
    LBM_VEC(struct label_asker) asker; /* hosts that have work for this one, by number */
    int is_news;                       /* they have yet to hear what others have */
    double price;                      /* hop-bytes that moving a unit of work away from this host costs */
    uint32_t *told;                    /* [rows of the patch] label that was told last */
    uint32_t n_top;                    /* clusters on the coarsest level */
    uint32_t round, rounds;            /* done on this level, and to do */
    uint32_t ticks;                    /* since it began, or since the last round */
    uint32_t *heard_tick;              /* [n_hosts] ticks of this host when each was last heard */
    int64_t ticked_us;                 /* the last of them */
    uint32_t behind;                   /* ticks that have passed since the last one; 0 counts as one */
    int is_over;                       /* all rounds are done */
    uint64_t stamp;
};

/* What has to go over links so that the loads of all hosts are even. */
struct label_flow {
    uint32_t n;        /* hosts */
    uint64_t topology; /* of the view whose links these are */
    double *gives;     /* [directions of links] work from the one host to the other, 0 or more */
    double *load;      /* [n] work, before */
    double *in;        /* [n] work that comes, */
    double *out;       /* [n] and that goes, over all links */
};

struct diffuse {
    uint32_t stage;  /* from 1; 0: not begun */
    uint32_t heard;  /* the highest that others have told of */
    int has_begun;   /* the stage */
    int is_told;     /* what this host adds to the stage's sum */
    int64_t told_us; /* again then */
    uint64_t stamp;
    uint64_t hosts;                /* hash of the ids that numbers of hosts stand for */
    LBM_VEC(struct sums_row) rows; /* by host, then stage */
    /* In a large cluster sums go along a tree; rows are of this host, and of others with all below them: */
    int is_tree;
    int has_pushed;   /* what is below this host has been told, in this stage */
    int64_t since_us; /* when the stage began */
    int64_t tree_us;  /* when hosts above and below are told again */
    void (*complete)(struct lbm_node *node, struct job *job, struct sums_row *sum); /* what all told */
    struct sums_row total;  /* what has last come of all; stage 0: nothing yet */
    struct lbm_cuts cuts;   /* of sites; n 0: none yet. Where places are cut: weight */
    uint64_t topology;      /* of the view that `hosts` is of */
    struct label_flow flow; /* in a large cluster; n 0: not known */
    struct waves waves;
    struct diffuse_levels levels;
    struct labels labels;
    struct lbm_affine whitened;        /* raw coordinates to Omega, before a rotation */
    int is_whitened;                   /* nonzero: there is one */
    double *weight[DIFFUSE_ROTATIONS]; /* [hosts] of regions, owned */
    uint32_t n_weights;                /* hosts of them */
    double cost;                       /* of label */
    uint32_t *label;                   /* [rows] host of each, owned; NULL: none, */
    uint64_t label_version;            /* shard.built */
    int rotation;                      /* of the regions that were drawn last */
    int moves;                         /* records follow regions in the stage that begins */
    int has_moved;
    int was_alone;    /* one host held all when labels were last annealed */
    uint32_t tries;   /* of annealing, by a host whose neighbours are all here */
    uint32_t *origin; /* [rows] labels that they begin with, owned; NULL: none yet */
    uint32_t *best;   /* [rows] the best of them so far, owned; NULL: none yet, */
    double best_cost; /* and its cost */
    int is_halving;   /* this host holds all, and has asked for that to be halved */
    uint32_t *halved; /* [n_halved] host by vertex, owned; NULL: not known */
    uint32_t n_halved;
    uint64_t halved_hosts; /* hash of the hosts among whom; 0: nothing was asked for */
    int is_placed;         /* label is that of the last regions */
    uint32_t resume;       /* stage that another lap goes on with, by what this host knows; 0: the first */
};

#endif
