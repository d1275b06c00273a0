/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl pki: certificates of operators, and the authority's key. Works in the folder of this host's identity.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/pki_key.h"
#include "client/setup.h"
#include "client/table.h"

#define USERS                                                                                                \
    "users" /* in the identity's folder: lines "NAME LEVEL UID MADE ENDS", of certificates that hold */

enum { PKI_DIR, PKI_GROUP, PKI_UID, PKI_OUTPUT, PKI_PASSPHRASE, PKI_OPTIONS };

static const struct lbm_choice pki_levels[] = {
    {"read", "look at hosts, jobs, mappings and the log"},
    {"submit", "submit jobs, and change and cancel its own"},
    {"admin", "change hosts and everybody's jobs"},
    {NULL, NULL},
};

static const struct lbm_option pki_options[PKI_OPTIONS] = {
    [PKI_DIR] = LBM_TEXT_OPTION("dir", "DIR", "the folder that lbctl init or enroll was given, if it was",
                                .letter = 'd'),
    [PKI_GROUP] = LBM_CHOICE_OPTION(
        "group", "RIGHT", pki_levels,
        "user: what may be done with the certificate; each includes those before:", .fallback = "submit"),
    [PKI_UID] =
        LBM_INTEGER_OPTION("uid", "N", 0, UINT32_MAX - 1,
                           "user: number of the user that owns its jobs; that of NAME on this machine "
                           "if absent"),
    [PKI_OUTPUT] = LBM_TEXT_OPTION("output", "FOLDER", "user: write it there; a folder NAME here if absent",
                                   .letter = 'o'),
    [PKI_PASSPHRASE] = LBM_TEXT_OPTION(
        "passphrase-file", "FILE",
        "export, import: the passphrase is the first line of that file; it is asked for if absent"),
};

static const struct lbm_choice pki_actions[] = {
    {"user", "make a certificate for an operator, who may then ask from other machines"},
    {"show", "list the authority, this host's certificate, and the users' that were made here"},
    {"export", "write the authority's key to FILE, encrypted"},
    {"import", "let this host enrol others: take the authority's key from FILE"},
    {NULL, NULL},
};

static const struct lbm_operand pki_operands[] = {
    {.name = "ACTION", .choices = pki_actions, .text = "what to do:"},
    {.name = "NAME|FILE", .optional = 1, .text = "user: who it is; export, import: the file"},
};

/* ---- the list of users ----------------------------------------------------------------------------------
 */

struct user {
    char name[LBM_NAME_MAX + 1], level[8];
    uint32_t uid;
    int64_t made_s, ends_s;
};

/* The next line of the list. Value: 0 at the end. */
static int
next_user(char **rest, struct user *user)
{
    char *line;
    _Static_assert(LBM_NAME_MAX == 63, "sscanf below reads names of 63 characters");
    while ((line = strsep(rest, "\n")) != NULL)
        if (sscanf(line, "%63s %7s %" SCNu32 " %" SCNd64 " %" SCNd64, user->name, user->level, &user->uid,
                   &user->made_s, &user->ends_s) == 5)
            return 1;
    return 0;
}

/* Errors: those of lbm_identity_write. */
static enum lbm_err
note_user(const char *identity, const struct lbm_pki_subject *subject, X509 *certificate,
          struct lbm_diag *diag)
{
    char *text, *rest;
    struct lbm_buf out = {0};
    struct user user;
    enum lbm_err err = lbm_identity_read_text(identity, USERS, &text, diag);
    if (err != LBM_OK)
        return err;
    for (rest = text; next_user(&rest, &user);)
        if (user.ends_s > (int64_t)time(NULL))
            lbm_buf_printf(&out, "%s %s %" PRIu32 " %" PRId64 " %" PRId64 "\n", user.name, user.level,
                           user.uid, user.made_s, user.ends_s);
    lbm_buf_printf(&out, "%s %s %" PRIu32 " %" PRId64 " %" PRId64 "\n", subject->user,
                   lbm_pki_level_name(subject->level), subject->uid, (int64_t)lbm_pki_made(certificate),
                   (int64_t)lbm_pki_ends(certificate));
    err = out.failed ? lbm_diag_set(diag, LBM_E_NOMEM, USERS, 0, "out of memory")
                     : lbm_identity_write(identity, USERS, out.at, out.len, diag);
    lbm_buf_free(&out);
    free(text);
    return err;
}

/* ---- user -----------------------------------------------------------------------------------------------
 */

static enum lbm_err
who(const struct lbm_cli *client, struct lbm_pki_subject *subject, struct lbm_diag *diag)
{
    const char *name = client->operand[1];
    subject->kind = LBM_PKI_USER;
    if (!lbm_pki_name_valid(name))
        return lbm_diag_set(diag, LBM_E_RANGE, "NAME", 0,
                            "a name is 1 to %d letters, digits, '.', '_' or '-'", LBM_NAME_MAX);
    snprintf(subject->user, sizeof subject->user, "%s", name);
    enum lbm_err err = lbm_pki_level_parse(client->value[PKI_GROUP].text, &subject->level);
    const struct passwd *account = client->value[PKI_UID].given ? NULL : getpwnam(name);
    if (err == LBM_OK && !client->value[PKI_UID].given && account == NULL)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, name, 0,
                            "is no user of this machine: say with --uid whose its jobs are on the hosts");
    subject->uid = account != NULL ? account->pw_uid : (uint32_t)client->value[PKI_UID].integer;
    if (err == LBM_OK && subject->uid == 0 && subject->level != LBM_PKI_ADMIN)
        return lbm_diag_set(diag, LBM_E_RANGE, "--uid", 0, "root administers: say --group admin");
    return err;
}

static enum lbm_err
write_folder(const char *dir, X509 *ca, X509 *certificate, EVP_PKEY *key, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    if (access(lbm_identity_path(dir, LBM_IDENTITY_CA, path), F_OK) == 0)
        return lbm_diag_set(diag, LBM_E_EXISTS, dir, 0,
                            "has an identity already; choose another folder with -o");
    enum lbm_err err = lbm_identity_folder(dir, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(dir, LBM_IDENTITY_USER_KEY, key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(dir, LBM_IDENTITY_USER_CERT, certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(dir, LBM_IDENTITY_CA, ca, diag);
    return err;
}

static enum lbm_status
pki_user(const struct lbm_cli *client, const char *identity)
{
    const char *dir = client->value[PKI_OUTPUT].given ? client->value[PKI_OUTPUT].text : client->operand[1];
    struct lbm_identity host = {0};
    struct lbm_pki_subject subject;
    struct lbm_diag diag;
    EVP_PKEY *key = NULL;
    X509 *certificate = NULL;
    enum lbm_err err = lbm_identity_read(identity, &host, &diag);
    if (err == LBM_OK && host.ca_key == NULL)
        err = lbm_diag_set(&diag, LBM_E_NOTFOUND, identity, 0,
                           "certificates are made on a host that has the key of the cluster's authority");
    subject = host.subject;
    if (err == LBM_OK)
        err = who(client, &subject, &diag);
    if (err == LBM_OK)
        err = lbm_pki_key_new(&key, &diag);
    if (err == LBM_OK)
        err = lbm_pki_sign(host.ca, host.ca_key, key, &subject, LBM_PKI_CERTIFICATE_S, &certificate, &diag);
    if (err == LBM_OK)
        err = write_folder(dir, host.ca, certificate, key, &diag);
    if (err == LBM_OK)
        err = note_user(identity, &subject, certificate, &diag);
    EVP_PKEY_free(key);
    X509_free(certificate);
    lbm_identity_free(&host);
    if (err != LBM_OK)
        return err == LBM_E_RANGE || err == LBM_E_EXISTS ? lbm_cli_refuse(client, &diag)
                                                         : lbm_cli_fail(client, &diag);
    lbm_cli_remark(
        client,
        "folder %s is user %s for %d days: whoever has it may %s; carry it to that person's machine, as "
        "~/.config/lbmap/identity",
        dir, subject.user, LBM_PKI_CERTIFICATE_S / 86400, lbm_pki_level_name(subject.level));
    return LBM_STATUS_DONE;
}

/* ---- show -----------------------------------------------------------------------------------------------
 */

static const struct lbm_column show_columns[] = {
    {"kind", "certificate of", LBM_COLUMN_TEXT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"may", "may", LBM_COLUMN_TEXT, 0},
    {"uid", "uid", LBM_COLUMN_COUNT, 0},
    {"seconds", "ends in s", LBM_COLUMN_COUNT, 0},
};

static void
add_row(json_t *rows, const char *kind, const char *name, const char *may, int64_t ends_s)
{
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:I}", "kind", kind, "name", name, "may", may,
                                          "seconds", (json_int_t)(ends_s - (int64_t)time(NULL))));
}

static enum lbm_err
add_users(json_t *rows, const char *identity, struct lbm_diag *diag)
{
    char *text, *rest;
    struct user user;
    enum lbm_err err = lbm_identity_read_text(identity, USERS, &text, diag);
    if (err != LBM_OK)
        return err;
    for (rest = text; next_user(&rest, &user);)
        if (user.ends_s > (int64_t)time(NULL)) {
            add_row(rows, "user", user.name, user.level, user.ends_s);
            json_object_set_new(json_array_get(rows, json_array_size(rows) - 1), "uid",
                                json_integer((json_int_t)user.uid));
        }
    free(text);
    return LBM_OK;
}

static enum lbm_status
pki_show(const struct lbm_cli *client, const char *identity)
{
    struct lbm_identity host = {0};
    struct lbm_diag diag;
    char authority[LBM_TOKEN_TEXT + 1], id[16];
    json_t *rows = json_array();
    enum lbm_err err = lbm_identity_read(identity, &host, &diag);
    if (err == LBM_OK)
        err = lbm_token_print_authority(host.ca, authority);
    if (err == LBM_OK) {
        snprintf(id, sizeof id, "%" PRIu32, host.subject.host);
        add_row(rows, "authority", authority, host.ca_key != NULL ? "sign here" : "sign elsewhere",
                lbm_pki_ends(host.ca));
        add_row(rows, "host", id, "be this host", lbm_pki_ends(host.certificate));
        err = add_users(rows, identity, &diag);
    }
    lbm_identity_free(&host);
    if (err == LBM_OK)
        err = lbm_table_print(stdout, show_columns, sizeof show_columns / sizeof *show_columns, rows,
                              client->global[LBM_GLOBAL_JSON].given);
    json_decref(rows);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(client, &diag);
}

/* ---- the authority's key ---------------------------------------------------------------------------------
 */

static enum lbm_status
carry_key(const struct lbm_cli *client, const char *identity, int is_export)
{
    const char *file = client->value[PKI_PASSPHRASE].given ? client->value[PKI_PASSPHRASE].text : NULL;
    char passphrase[LBM_PASSPHRASE_MAX + 1];
    struct lbm_diag diag;
    enum lbm_err err = lbm_passphrase_read(file, is_export, passphrase, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    err = is_export ? lbm_pki_key_export(identity, client->operand[1], passphrase, &diag)
                    : lbm_pki_key_import(identity, client->operand[1], passphrase, &diag);
    OPENSSL_cleanse(passphrase, sizeof passphrase);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(client, &diag);
}

static enum lbm_status
pki_export(const struct lbm_cli *client, const char *identity)
{
    return carry_key(client, identity, 1);
}

static enum lbm_status
pki_import(const struct lbm_cli *client, const char *identity)
{
    return carry_key(client, identity, 0);
}

static enum lbm_status
run_pki(const struct lbm_cli *client)
{
    static const struct {
        const char *name;
        int takes_operand;
        enum lbm_status (*run)(const struct lbm_cli *client, const char *identity);
    } runs[] = {
        {"user", 1, pki_user}, {"show", 0, pki_show}, {"export", 1, pki_export}, {"import", 1, pki_import}};
    char identity[PATH_MAX];
    struct lbm_diag diag;
    lbm_setup_identity(&client->value[PKI_DIR], identity);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (strcmp(client->operand[0], runs[i].name) != 0)
            continue;
        if (client->n_operands < 2 && runs[i].takes_operand) {
            lbm_diag_set(&diag, LBM_E_SYNTAX, "NAME|FILE", 0, "%s needs one", runs[i].name);
            return lbm_cli_refuse(client, &diag);
        }
        return runs[i].run(client, identity);
    }
    lbm_diag_set(&diag, LBM_E_SYNTAX, client->operand[0], 0, "is not user, show, export or import");
    return lbm_cli_refuse(client, &diag);
}

const struct lbm_command lbm_command_pki = {
    .name = "pki",
    .text = "certificates of operators, and the key of the cluster's authority",
    .help = "Works with the folder of this host's identity, which only its owner may read. A certificate of "
            "a user lets "
            "lbctl ask the daemons of all hosts from any machine (-s ADDRESS:PORT), with the rights that it "
            "names; lbctl "
            "revoke --user takes them away. A host that has the authority's key enrols others and renews "
            "certificates: give it to a second host, so that the first one may be lost.",
    .options = pki_options,
    .n_options = PKI_OPTIONS,
    .operands = pki_operands,
    .n_operands = sizeof pki_operands / sizeof *pki_operands,
    .run = run_pki,
};
