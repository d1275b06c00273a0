/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs as the field writes them: Slurm's topologies, hostfiles, hwloc's machines. Every file is judged
 * by a matrix of distances that was made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/host/distance_check.h"

/* ---- Slurm --------------------------------------------------------------------------------------------- */

static void
slurm_trees_forests_and_fabrics(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"two leaves below a root; blanks, quotes and continued lines",
         "# cluster\nSwitchName = core Switches = leaf[1-2]\n  switchname=leaf1 NODES=\"a1,a2\"  "
         "LinkSpeed=100\n"
         "SwitchName=leaf2 \\\n  Nodes=b[1-2]   # two\n",
         4,
         "a1 a2 b1 b2",
         {2, 4, 4, 4, 4, 2},
         {0}},
        {"hostlists: several brackets, leading zeros, lists within",
         "SwitchName=s Nodes=r[1-2,5]c[08-09]\n",
         6,
         "r1c08 r1c09 r2c08 r2c09 r5c08 r5c09",
         {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
         {0}},
        {"three trees without a common root: the islands cost twice the depth of the deepest host",
         "SwitchName=A Switches=a1,a2\nSwitchName=a1 Nodes=n1\nSwitchName=a2 Nodes=n2\n"
         "SwitchName=B Switches=b1\nSwitchName=b1 Nodes=n[3-4]\nSwitchName=C Nodes=n5\n",
         5,
         "n1 n2 n3 n4 n5",
         {4, 8, 8, 8, 8, 2, 7, 7, 7, 7},
         {0}},
        {"the same with a cost of 100 between islands",
         "SwitchName=A Switches=a1,a2\nSwitchName=a1 Nodes=n1\nSwitchName=a2 Nodes=n2\n"
         "SwitchName=B Switches=b1\nSwitchName=b1 Nodes=n[3-4]\nSwitchName=C Nodes=n5\n",
         5,
         "n1 n2 n3 n4 n5",
         {4, 104, 104, 104, 104, 2, 103, 103, 103, 103},
         {.island_cost = 100}},
        {"every leaf below each of two spines",
         "SwitchName=s0 Nodes=t[0-1]\nSwitchName=s1 Nodes=t[2-3]\nSwitchName=s2 Nodes=t4\n"
         "SwitchName=s3 Switches=s[0-2]\nSwitchName=s4 Switches=s[0-2]\n",
         5,
         "t0 t1 t2 t3 t4",
         {2, 4, 4, 4, 4, 2, 4, 4, 4, 4},
         {0}},
        {"a host with two rails is near to both switches",
         "SwitchName=l Nodes=x,both\nSwitchName=r Nodes=both,y\nSwitchName=top Switches=l,r\n",
         3,
         "x both y",
         {2, 4, 2},
         {0}},
        {"two fabrics with two spines each are islands",
         "SwitchName=a Nodes=a1\nSwitchName=b Nodes=b1\nSwitchName=c Nodes=c1\n"
         "SwitchName=p Switches=a,b\nSwitchName=q Switches=a,b\nSwitchName=o Switches=c\n",
         3,
         "a1 b1 c1",
         {4, 14, 14},
         {.island_cost = 10}},
        {"unequal depths, and a switch below which nobody is wanted",
         "SwitchName=top Switches=mid,flat,idle\nSwitchName=mid Switches=low\nSwitchName=flat Nodes=a\n"
         "SwitchName=low Nodes=b,c,d\nSwitchName=idle Nodes=z[1-9999]\n",
         3,
         "b d a",
         {2, 5, 5},
         {.nodes = "a,d,b"}},
    };
    JUDGE_EXAMPLES(examples);
}

static void
slurm_blocks_are_joined_as_their_sizes_tell(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"four blocks, pairs of them, all",
         "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockName=b3 Nodes=n4\nBlockName=b4 Nodes=n5\n"
         "BlockSizes=1,2,4,8\n",
         5,
         "n1 n2 n3 n4 n5",
         {2, 4, 4, 6, 6, 6, 6, 6, 6, 4},
         {0}},
        {"three blocks, the third without a partner",
         "BlockSizes=2,4\nBlockName=x Nodes=a\nblockname=y nodes=b\nBlockName=z Nodes=c,d\n",
         4,
         "a b c d",
         {4, 6, 6, 6, 6, 2},
         {0}},
        {"without sizes all blocks are equally far",
         "BlockName=x Nodes=a,b\nBlockName=y Nodes=c\n",
         3,
         "a b c",
         {2, 4, 4},
         {0}},
        {"one block", "BlockName=x Nodes=a,b\nBlockSizes=30,120\n", 2, "a b", {2}, {0}},
        {"the nodes of a job",
         "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockName=b3 Nodes=n4\nBlockName=b4 Nodes=n5\n"
         "BlockSizes=1,2,4\n",
         3,
         "n2 n4 n5",
         {6, 6, 4},
         {.nodes = "n[4-5],n2"}},
    };
    JUDGE_EXAMPLES(examples);
}

static const char several[] = "# two clusters\n"
                              "- topology: old\n"
                              "  tree:\n"
                              "    switches:\n"
                              "      - switch: root\n"
                              "        children: leaf[1-2]\n"
                              "      - switch: leaf1\n"
                              "        nodes: a[1-2]\n"
                              "      - {switch: leaf2, nodes: 'b1'}\n"
                              "- topology: new\n"
                              "  cluster_default: true\n"
                              "  block:\n"
                              "    block_sizes: [1, 2]\n"
                              "    blocks:\n"
                              "      - block: x\n"
                              "        nodes: n1\n"
                              "      - block: y\n"
                              "        nodes: n2\n"
                              "      - block: z\n"
                              "        nodes: n3\n"
                              "- topology: tpu\n"
                              "  torus3d:\n"
                              "    toruses:\n"
                              "      - name: pod\n"
                              "        dims: {x: 5, y: 2, z: 1}\n"
                              "        placements: [{dims: {x: 1, y: 1, z: 1}}]\n"
                              "        regions:\n"
                              "          - anchor: {x: 4, y: 0, z: 0}\n"
                              "            dims: {x: 1, y: 2, z: 1}\n"
                              "            nodes: t[1-2]\n"
                              "          - anchor: {x: 0, y: 1, z: 0}\n"
                              "            dims: {x: 3, y: 1, z: 1}\n"
                              "            nodes: t[3-5]\n"
                              "- topology: plain\n"
                              "  flat: true\n";

static void
slurm_yaml_has_several_topologies(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"the cluster's own", several, 3, "n1 n2 n3", {4, 6, 6}, {0}},
        {"the tree", several, 3, "a1 a2 b1", {2, 4, 4}, {.topology = "old"}},
        {"two of the tree", several, 2, "a2 b1", {4}, {.topology = "old", .nodes = "a2,b1"}},
        {"regions of a torus of 5 x 2; places without a host are passed through",
         several,
         5,
         "t1 t2 t3 t4 t5",
         /* at (4,0) (4,1) (0,1) (1,1) (2,1) */
         {1, 2, 1, 3, 2, 1, 3, 2, 2, 1},
         {.topology = "tpu"}},
        {"a document mark, islands, JSON is YAML too",
         "---\n[{\"topology\": \"t\", \"tree\": {\"switches\": [{\"switch\": \"p\", \"nodes\": \"a\"},"
         "{\"switch\": \"q\", \"nodes\": \"b,c\"}]}}]\n",
         3,
         "a b c",
         {4, 4, 2},
         {0}},
        {"two rings of topology.conf",
         "RingName=r0 Nodes=n[0-5]\nRingName=r1 Nodes=m[0-1]\n",
         8,
         "n0 n1 n2 n3 n4 n5 m0 m1",
         {1, 2, 1, 3, 2, 1, 2, 3, 2, 1, 1, 2, 3, 2, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1},
         {0}},
        {"a ring of topology.yaml, of which a job has some hosts",
         "- topology: r\n  ring:\n    rings:\n    - ring: r0\n      nodes: n[0-7]\n",
         3,
         "n0 n3 n7",
         {3, 1, 4},
         {.nodes = "n7,n3,n0"}},
    };
    JUDGE_EXAMPLES(examples);
}

static void
wrong_slurm_yaml_is_refused(void **state)
{
    (void)state;
    judge_refused_with(several, &(struct lbm_hosts_reading){.topology = "none"}, LBM_E_RANGE, 2,
                       "no such topology");
    judge_refused_with(several, &(struct lbm_hosts_reading){.topology = "plain"}, LBM_E_SYNTAX, 35,
                       "lists no nodes");
    judge_refused("---\n", LBM_E_SYNTAX, 2, "list");
    judge_refused("--- {a: b}\n", LBM_E_SYNTAX, 1, "list");
    judge_refused("---\n- topology: t\n  tree: {switches: [\n", LBM_E_SYNTAX, 4, "not YAML");
    judge_refused("- topology: t\n", LBM_E_SYNTAX, 1, "one of tree, block");
    judge_refused("- tree: {switches: []}\n", LBM_E_SYNTAX, 1, "a name first");
    judge_refused("- topology: t\n  colour: red\n  flat: true\n", LBM_E_SYNTAX, 2, "colour");
    judge_refused("- topology: t\n  flat: true\n  tree: {switches: []}\n", LBM_E_SYNTAX, 1,
                  "one of tree, block");
    judge_refused("- topology: t\n  tree: {switches: []}\n", LBM_E_SYNTAX, 1, "empty");
    judge_refused("- topology: t\n  tree: x\n", LBM_E_SYNTAX, 2, "members");
    judge_refused("- topology: t\n  tree:\n    switches: x\n", LBM_E_SYNTAX, 3, "a list is expected");
    judge_refused("- topology: t\n  tree:\n    switches:\n    - switch: s\n", LBM_E_SYNTAX, 4,
                  "either nodes or");
    judge_refused("- topology: t\n  tree:\n    switches:\n    - nodes: s\n", LBM_E_SYNTAX, 4,
                  "a name is missing");
    judge_refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: [a, b]}\n", LBM_E_SYNTAX,
                  4, "one word");
    judge_refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, children: u}\n", LBM_E_SYNTAX, 4,
                  "\"u\"");
    judge_refused("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: 'n[1-'}\n", LBM_E_SYNTAX,
                  4, "not closed");
    judge_refused(
        "- topology: t\n  block:\n    block_sizes: [4, 12]\n    blocks:\n    - {block: b, nodes: a}\n",
        LBM_E_RANGE, 3, "power of two");
    judge_refused(
        "- topology: t\n  block:\n    block_sizes: [many]\n    blocks:\n    - {block: b, nodes: a}\n",
        LBM_E_SYNTAX, 3, "number");
    static const char torus[] =
        "- topology: t\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 2, y: 1, z: 1}\n";
    struct lbm_buf text = {0};
    lbm_buf_printf(&text, "%s      nodes: a[1-3]\n", torus);
    lbm_buf_put(&text, "", 1);
    judge_refused(text.at, LBM_E_RANGE, 4, "3 nodes for 2 places");
    text.len = 0;
    lbm_buf_printf(
        &text, "%s      regions:\n      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: a}\n",
        torus);
    lbm_buf_put(&text, "", 1);
    judge_refused(text.at, LBM_E_SYNTAX, 7, "does not fit");
    text.len = 0;
    lbm_buf_printf(
        &text,
        "%s      regions:\n      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: a}\n"
        "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: b}\n",
        torus);
    lbm_buf_put(&text, "", 1);
    judge_refused(text.at, LBM_E_SYNTAX, 8, "has this place already: \"b\"");
    lbm_buf_free(&text);
}

static void
wrong_slurm_files_are_refused(void **state)
{
    (void)state;
    static const char tree[] = "SwitchName=a Nodes=x[1-9000]\nSwitchName=b Nodes=y[1-2]\n";
    judge_refused(tree, LBM_E_LIMIT, 0,
                  "9002 hosts, at most 8192 are possible; choose those of a job with @nodes");
    judge_refused_with(tree, &(struct lbm_hosts_reading){.nodes = "x1,z3"}, LBM_E_RANGE, 0, "no host \"z3\"");
    judge_refused_with(tree, &(struct lbm_hosts_reading){.nodes = "x[1-"}, LBM_E_SYNTAX, 0, "not closed");
    judge_refused_with(tree, &(struct lbm_hosts_reading){.topology = "t"}, LBM_E_UNSUPPORTED, 0, "@topology");
    judge_refused("BlockName=a Nodes=x\nSwitchName=b Nodes=y\n", LBM_E_SYNTAX, 2, "not as the others");
    judge_refused("BlockName=a Nodes=x Switches=y\n", LBM_E_SYNTAX, 1, "no Switches");
    judge_refused("BlockName=a SwitchName=b Nodes=x\n", LBM_E_SYNTAX, 1, "two names");
    judge_refused("BlockName=a Nodes=x\nBlockName=a Nodes=y\n", LBM_E_SYNTAX, 2,
                  "this block has a line already");
    judge_refused("BlockName=a Nodes=x\nBlockName=b Nodes=x\n", LBM_E_SYNTAX, 2, "in another block");
    judge_refused("BlockName=a Nodes=x\n\nBlockSizes=4,12\n", LBM_E_RANGE, 3, "power of two");
    judge_refused("BlockName=a Nodes=x\nBlockSizes=4,4\n", LBM_E_RANGE, 2, "power of two");
    judge_refused("BlockName=a Nodes=x\nBlockSizes=4,x\n", LBM_E_SYNTAX, 2, "4,16");
    judge_refused("BlockName=a Nodes=x\nBlockSizes=0\n", LBM_E_SYNTAX, 2, "4,16");
    judge_refused("BlockName=a Nodes=x\nBlockSizes=1,\n", LBM_E_SYNTAX, 2, "4,16");
    judge_refused("BlockSizes=4\n", LBM_E_SYNTAX, 2, "no line with");
    judge_refused("BlockName=a\n", LBM_E_RANGE, 0, "no hosts");
    judge_refused("SwitchName=a Nodes=\"x\n", LBM_E_SYNTAX, 1, "not understood");
    judge_refused("SwitchName=a Nodes\n", LBM_E_SYNTAX, 1, "not understood");
    judge_refused("SwitchName=a Nodes=x[0-999999]\nSwitchName=b Nodes=y[0-999999]\n", LBM_E_LIMIT, 2,
                  "too many names");
    judge_refused_with("2 1\n2\n1\n", &(struct lbm_hosts_reading){.nodes = "x"}, LBM_E_UNSUPPORTED, 0,
                       "METIS");
}

/* ---- hostfiles ----------------------------------------------------------------------------------------- */

static void
slots_are(const struct lbm_hosts *h, const uint32_t *slots)
{
    for (uint32_t p = 0; p < h->n; p++) {
        assert_non_null(h->slots);
        assert_int_equal(h->slots[p], slots[p]);
        assert_true(h->capacity[p] == slots[p]);
    }
}

static void
hostfiles_tell_names_and_slots(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"Open MPI: slots, limits, a user, comments",
         "# two racks\nnode1 slots=4 max_slots=8\n\nroot@node2.site slots=2 # old\nnode3 max-slots=3 "
         "slots=1\n",
         3,
         "node1 node2.site node3",
         {1, 1, 1},
         {0}},
        {"MPICH", "a-1:2\nb_2:16 binding=user:0,1\n", 2, "a-1 b_2", {1}, {0}},
        {"names alone",
         "login\n10.0.0.7\nnode[01-02]\n",
         4,
         "login 10.0.0.7 node01 node02",
         {1, 1, 1, 1, 1, 1},
         {0}},
        {"those of a job", "n1 slots=2\nn2 slots=2\nn3 slots=4", 2, "n1 n3", {1}, {.nodes = "n[1,3]"}},
    };
    JUDGE_EXAMPLES(examples);
    struct lbm_hosts h = judge_hosts(examples[0].text);
    slots_are(&h, (const uint32_t[]){4, 2, 1});
    lbm_hosts_free(&h);
    h = judge_hosts(examples[1].text);
    slots_are(&h, (const uint32_t[]){2, 16});
    lbm_hosts_free(&h);
    h = judge_hosts(examples[2].text);
    assert_null(h.slots);
    lbm_hosts_free(&h);
    h = judge_hosts(
        "x\ny slots=3\nx\nx slots=2\n"); /* lines of one name add up, one slot each if none is said */
    assert_int_equal(h.n, 2);
    slots_are(&h, (const uint32_t[]){4, 3});
    uint8_t gone[] = {1, 0};
    uint32_t number[2];
    struct lbm_hosts left;
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, NULL), LBM_OK);
    slots_are(&left, (const uint32_t[]){3});
    lbm_hosts_free(&left);
    lbm_hosts_free(&h);
}

static void
wrong_hostfiles_are_refused(void **state)
{
    (void)state;
    judge_refused("node1 slots=0\n", LBM_E_SYNTAX, 1, "from 1 on");
    judge_refused("node1\nnode2 slots=x\n", LBM_E_SYNTAX, 2, "not \"x\"");
    judge_refused("node1 slots=99999999999\n", LBM_E_SYNTAX, 1, "slots");
    judge_refused("node1:\n", LBM_E_SYNTAX, 1, "slots");
    judge_refused("node1 speed=4\n", LBM_E_SYNTAX, 1, "\"speed=4\" is not understood");
    judge_refused("dear sir or madam\n", LBM_E_SYNTAX, 1, "METIS, GraphML");
    judge_refused("node1\n+n0\n", LBM_E_SYNTAX, 2, "no name of a host");
    judge_refused("node1\n^node2\n", LBM_E_SYNTAX, 2, "no name of a host");
    judge_refused("node[1-\n", LBM_E_SYNTAX, 1, "not closed");
    judge_refused("node1 slots=2\nnode2\n", LBM_E_SYNTAX, 0, "node2 has no slots");
    judge_refused("node[1-9000]\n", LBM_E_LIMIT, 0, "9000 hosts");
    judge_refused_with("node1\n", &(struct lbm_hosts_reading){.nodes = "node2"}, LBM_E_RANGE, 0, "node2");
    judge_refused_with("node1\n", &(struct lbm_hosts_reading){.leaf = "core"}, LBM_E_UNSUPPORTED, 0, "@leaf");
}

/* ---- hwloc --------------------------------------------------------------------------------------------- */

#define PU "<object type=\"PU\" os_index=\"0\"/>"
#define CORE "<object type=\"Core\">" PU PU "</object>"

static const char two_packages[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
    "version=\"2.0\">\n"
    "<object type=\"Machine\" os_index=\"0\"><info name=\"HostName\" value=\"big\"/>\n"
    "<object type=\"Package\"><info name=\"CPUModel\" value=\"a &amp; b\"/><object "
    "type=\"NUMANode\"><page_type size=\"1\"/></object>"
    "<object type=\"L3Cache\"><object type=\"L2Cache\">" CORE CORE "</object><object type=\"L2Cache\">" CORE
    "</object></object>"
    "</object>\n<object type=\"Package\"><object type=\"NUMANode\"/><object type=\"Die\">" CORE
    "</object>" CORE "</object>"
    "<object type=\"Bridge\"><object type=\"PCIDev\"><object type=\"OSDev\"/></object></object></object>\n"
    "<support name=\"x\"/></topology>\n";

static const char old_version[] =
    "<topology>\n<object type=\"Machine\"><object type=\"NUMANode\"><object type=\"Socket\"><object "
    "type=\"Cache\" depth=\"3\">" PU PU
    "</object></object></object><object type=\"NUMANode\"><object type=\"Socket\">" PU
    "</object></object></object></topology>";

static const char two_machines[] =
    "<topology><object type=\"System\"><object type=\"Machine\"><info name=\"HostName\" value=\"m1\"/>" CORE
        CORE "</object>"
    "<object type=\"Machine\"><info name=\"HostName\" value=\"m2\"/>" CORE "</object></object></topology>";

static void
parts_of_machines_are_hosts(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"cores: 2 in a cache, 3 in the next, 8 in a package, 20 in the machine",
         two_packages,
         5,
         "core0 core1 core2 core3 core4",
         {2, 3, 3, 20, 20, 20, 20, 20, 20, 8},
         {0}},
        {"packages", two_packages, 2, "package0 package1", {20}, {.leaf = "package"}},
        {"one cache in a machine", two_packages, 1, "l30", {0}, {.leaf = "l3"}},
        {"version 1, without cores; a socket costs no more than the memory around it",
         old_version,
         3,
         "pu0 pu1 pu2",
         {3, 20, 20},
         {0}},
        {"its sockets", old_version, 2, "package0 package1", {20}, {.leaf = "package"}},
        {"two machines", two_machines, 3, "m1.core0 m1.core1 m2.core0", {20, 100, 100}, {0}},
        {"processing units of a core",
         two_machines,
         6,
         "m1.pu0 m1.pu1 m1.pu2 m1.pu3 m2.pu0 m2.pu1",
         {1, 20, 20, 20, 20, 1, 100, 100, 100, 100, 100, 100, 100, 100, 1},
         {.leaf = "pu"}},
    };
    JUDGE_EXAMPLES(examples);
    struct lbm_hosts h = judge_read(two_packages, &(struct lbm_hosts_reading){.leaf = "package"});
    slots_are(&h, (const uint32_t[]){3, 2});
    assert_true(h.core[0] == 0 && h.core[1] == 3);
    assert_string_equal(h.machine[1], "big");
    lbm_hosts_free(&h);
    h = judge_hosts(two_machines);
    slots_are(&h, (const uint32_t[]){1, 1, 1});
    assert_true(h.core[0] == 0 && h.core[1] == 1 && h.core[2] == 0);
    assert_string_equal(h.machine[2], "m2");
    lbm_hosts_free(&h);
}

static void
wrong_machines_are_refused(void **state)
{
    (void)state;
    static const struct lbm_hosts_reading die = {.leaf = "die"}, socket = {.leaf = "socket"};
    judge_refused("<topology/>", LBM_E_RANGE, 0, "no object of the type \"pu\"");
    judge_refused_with(two_machines, &die, LBM_E_RANGE, 0, "no object of the type \"die\"");
    judge_refused_with(two_machines, &socket, LBM_E_SYNTAX, 0, "\"socket\" is none of pu, core");
    judge_refused_with(two_machines, &(struct lbm_hosts_reading){.nodes = "m1.core0"}, LBM_E_UNSUPPORTED, 0,
                       "@nodes");
    judge_refused("<topology>\n<object type=\"Machine\">\n", LBM_E_SYNTAX, 3, "not well-formed");
    judge_refused("<?xml version=\"1.0\"?>\n<machine><topology/></machine>\n", LBM_E_SYNTAX, 2,
                  "must be topology");
    judge_refused("<!DOCTYPE x [<!ENTITY a \"b\">]>\n<topology/>\n", LBM_E_UNSUPPORTED, 1, "entity");
    judge_refused("<topology>" PU PU "</topology>", LBM_E_SYNTAX, 1, "two outermost");
    judge_refused(
        "<topology><object type=\"Machine\"><info name=\"HostName\" value=\"a b\"/></object></topology>",
        LBM_E_SYNTAX, 1, "HostName");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurm_trees_forests_and_fabrics),
        cmocka_unit_test(slurm_blocks_are_joined_as_their_sizes_tell),
        cmocka_unit_test(wrong_slurm_files_are_refused),
        cmocka_unit_test(slurm_yaml_has_several_topologies),
        cmocka_unit_test(wrong_slurm_yaml_is_refused),
        cmocka_unit_test(hostfiles_tell_names_and_slots),
        cmocka_unit_test(wrong_hostfiles_are_refused),
        cmocka_unit_test(parts_of_machines_are_hosts),
        cmocka_unit_test(wrong_machines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
