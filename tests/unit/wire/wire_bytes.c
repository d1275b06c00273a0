/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire_bytes: every kind of message with a sample in every field, packed: a line each, in hexadecimal. Two builds
 * that print the same write the same bytes; names are not on the wire, so they are not printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/wire/wire_sample.h"

static int
print_message(unsigned root, const struct lbm_wire_table *table, unsigned body)
{
    ProtobufCMessage *message = sample_new(table, 3, body, 1);
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL)
        return 1;
    protobuf_c_message_pack(message, bytes);
    printf("%u %u ", root, body);
    for (size_t i = 0; i < len; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
    free(bytes);
    protobuf_c_message_free_unpacked(message, NULL);
    return 0;
}

int
main(void)
{
    const struct lbm_wire_table *const tables[] = {&lbm_wire_peer_table, &lbm_wire_command_table,
                                                   &lbm_wire_request_table, &lbm_wire_response_table,
                                                   &lbm_wire_snapshot_table};
    for (unsigned root = 0; root < sizeof tables / sizeof *tables; root++) {
        unsigned bodies = sample_bodies(tables[root]);
        for (unsigned body = 0; body == 0 || body < bodies; body++)
            if (print_message(root, tables[root], body) != 0)
                return 1;
    }
    return 0;
}
